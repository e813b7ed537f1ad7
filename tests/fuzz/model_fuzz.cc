// Any bytes as a model: parsed or refused; what was parsed can be annotated, written and read again.
#include "fuzz.h"
#include "lppool/onnx/model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    ModelFile file = ModelFile::parse(fuzz::view(data, size), "/nonexistent");
    const Model& model = file.model();
    if (model.graph) {
      for (const ValueInfo& output : model.graph->outputs) file.annotate(output.name, output.type);
      file.annotate("fuzz", {});
    }
    const ModelFile again = ModelFile::parse(file.serialize(), "/nonexistent");
    FUZZ_CHECK(again.model().graph.has_value() == model.graph.has_value());
    FUZZ_CHECK(again.model().functions.size() == model.functions.size());
    if (model.graph) {
      FUZZ_CHECK(again.model().graph->nodes.size() == model.graph->nodes.size());
      // A new file from the parts, unless a stored tensor is faulty.
      const ModelFile made = ModelFile::from(model);
      const ModelFile reread = ModelFile::parse(made.serialize(), "/nonexistent");
      FUZZ_CHECK(reread.model().graph->nodes.size() == model.graph->nodes.size());
    }
  });
  return 0;
}
