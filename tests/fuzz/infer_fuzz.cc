// Any bytes as a model: one that the checker has no errors for is bound and inferred, with formulas and contents kept, its
// shapes are solved for, and it is inferred the same again.
#include <vector>

#include "fuzz.h"
#include "lppool/check/check.h"
#include "lppool/infer/infer.h"
#include "lppool/infer/solve.h"
#include "lppool/onnx/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const ModelFile file = ModelFile::parse(fuzz::view(data, size), "/nonexistent");
    CheckOptions structure;
    structure.infer = false;
    if (!is_valid(check_model(file.model(), structure))) return;
    const BoundGraph graph = bind_model(file.model(), {.max_depth = 100, .max_nodes = 10'000});
    InferOptions options;
    options.explain = options.inner = true;
    const InferResult result = infer_shapes(graph, options);
    for (const TensorInfo& info : result.tensors) {
      FUZZ_CHECK(result.find(info.name) != nullptr);
      if (!info.type.shape) continue;
      for (std::size_t axis = 0; axis < info.formulas.size(); ++axis) FUZZ_CHECK(!explained_size(info, axis).empty());
      solve_shape(*info.type.shape, std::vector<std::int64_t>(info.type.shape->size(), 2), 8);
    }
    // Keeping formulas changes nothing.
    const InferResult again = infer_shapes(graph);
    FUZZ_CHECK(again.tensors.size() == result.tensors.size() && again.ok() == result.ok());
    for (std::size_t i = 0; i < again.tensors.size(); ++i) {
      FUZZ_CHECK(to_string(again.tensors[i].type) == to_string(result.tensors[i].type));
    }
  });
  return 0;
}
