// Any bytes as a TensorProto: what is accepted comes back the same after writing.
#include <cstring>

#include "fuzz.h"
#include "lppool/onnx/tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const NamedTensor t = parse_tensor(fuzz::view(data, size), "", "fuzz");
    const NamedTensor again = parse_tensor(serialize_tensor(t.name, t.tensor), "", "fuzz");
    FUZZ_CHECK(again.tensor.dtype() == t.tensor.dtype() && again.tensor.shape() == t.tensor.shape());
    if (t.tensor.dtype() != DataType::kString && t.tensor.size() > 0) {
      FUZZ_CHECK(std::memcmp(again.tensor.raw(), t.tensor.raw(), t.tensor.bytes()) == 0);
    }
  });
  return 0;
}
