// Any bytes as a tensor in text: what is accepted is written as text that means the same.
#include <cstring>

#include "fuzz.h"
#include "lppool/io/text_tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const NamedTensor t = parse_text_tensor(fuzz::view(data, size), "fuzz");
    const NamedTensor again = parse_text_tensor(to_text(t.name, t.tensor), "fuzz");
    FUZZ_CHECK(again.name == t.name && again.tensor.dtype() == t.tensor.dtype() && again.tensor.shape() == t.tensor.shape());
    if (t.tensor.dtype() != DataType::kString && t.tensor.size() > 0) {
      FUZZ_CHECK(std::memcmp(again.tensor.raw(), t.tensor.raw(), t.tensor.bytes()) == 0);
    }
  });
  return 0;
}
