#pragma once

#include "lppool/graph/model.h"
#include "support/code_models.h"

// The pieces of code_models(), split as the tables in src/lppool/check are.
namespace lppool::test {

std::string serialized(const Model& model);

std::vector<CodeModel> model_code_models();
std::vector<CodeModel> graph_code_models();
std::vector<CodeModel> node_code_models();
std::vector<CodeModel> data_code_models();
std::vector<CodeModel> pool_code_models();

}  // namespace lppool::test
