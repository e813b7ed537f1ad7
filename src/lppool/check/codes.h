#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lppool/base/diagnostic.h"

// The codes of findings. A code is stable for ever once released: its meaning never changes and it is never used again.
// The two letters are the area:
//   IR file and IR version    OP operator sets        GR graph and names    AT attributes        SC inputs and outputs
//   TY types                  SH shapes               FN functions          TD tensor data       EX external data
//   LP LpPool, GlobalLpPool   PO other engines
namespace lppool {

struct CodeInfo {
  std::string_view code;
  Severity severity;
  std::string_view title;        // what is wrong, in a few words
  std::string_view explanation;  // why it is wrong, and whose rule that is
  std::string_view bad;          // an example that raises it
  std::string_view good;         // the same mended
};

// Every code, sorted.
std::span<const CodeInfo> all_codes();

// nullptr for a code that does not exist. Case matters.
const CodeInfo* find_code(std::string_view code);

std::string_view name(Severity severity);  // "error", "warning", "note"

// The page of one code as `check --explain` prints it.
std::string explain_code(const CodeInfo& info);

// All pages as one Markdown document, which is kept as check/CODES.md.
std::string codes_markdown();

}  // namespace lppool
