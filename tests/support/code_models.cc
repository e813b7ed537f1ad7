#include "support/code_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "lppool/onnx/model_file.h"
#include "support/code_models_parts.h"
#include "support/model_builder.h"

namespace lppool::test {

std::string serialized(const Model& model) {
  return ModelFile::from(model).serialize();
}

std::vector<CodeModel> code_models() {
  std::vector<CodeModel> all;
  for (auto part : {model_code_models, graph_code_models, node_code_models, data_code_models, pool_code_models}) {
    auto models = part();
    std::ranges::move(models, std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &CodeModel::code);
  return all;
}

}  // namespace lppool::test
