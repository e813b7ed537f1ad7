#pragma once

#include <span>

#include "lppool/check/codes.h"

// The pieces of the table of codes, one file a group of areas.
namespace lppool {

std::span<const CodeInfo> model_codes();  // IR, OP, FN
std::span<const CodeInfo> graph_codes();  // GR
std::span<const CodeInfo> node_codes();   // AT, SC, TY, SH
std::span<const CodeInfo> data_codes();   // TD, EX
std::span<const CodeInfo> pool_codes();   // LP, PO, WI

}  // namespace lppool
