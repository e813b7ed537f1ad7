// Any bytes as a model: parsed or refused; what was parsed can be annotated, written and read again, with the bytes kept
// or not.
#include "fuzz.h"
#include "lppool/onnx/model_file.h"

namespace {

void annotate(lppool::ModelFile& file) {
  using namespace lppool;
  if (!file.model().graph) return;
  const Graph& graph = *file.model().graph;
  for (const ValueInfo& output : graph.outputs) file.annotate(output.name, output.type);
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype_number = 1;
  type.shape = {{7, ""}, {}};
  for (const ValueInfo& info : graph.value_infos) file.annotate(info.name, type);
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) file.annotate(output, type);
  }
  file.annotate("fuzz", {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    ModelFile file = ModelFile::parse(fuzz::view(data, size), "/nonexistent");
    const Model& model = file.model();
    annotate(file);
    const std::string written = file.serialize();
    const ModelFile again = ModelFile::parse(written, "/nonexistent");
    FUZZ_CHECK(again.model().graph.has_value() == model.graph.has_value());
    FUZZ_CHECK(again.model().functions.size() == model.functions.size());
    LoadOptions keep;
    keep.keep_bytes = true;
    ModelFile kept = ModelFile::parse(fuzz::view(data, size), "/nonexistent", keep);
    FUZZ_CHECK(kept.serialize() == fuzz::view(data, size));
    annotate(kept);
    FUZZ_CHECK(ModelFile::parse(kept.serialize(), "/nonexistent").serialize() == written);
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
