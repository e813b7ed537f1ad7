// Any bytes as a .npy file, as whatever type the last byte says is expected.
#include <cstring>
#include <memory>
#include <string>

#include "fuzz.h"
#include "lppool/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const DataType expected = size > 0 ? static_cast<DataType>(data[size - 1] % (kLastDataType + 1)) : DataType::kUndefined;
    const auto kept = std::make_shared<const std::string>(fuzz::view(data, size));
    const Tensor t = parse_npy(*kept, kept, "fuzz", {expected});
    const NpyParts parts = npy_parts(t, NpyForm::kVoid);
    const std::string bytes =
        parts.header + std::string(reinterpret_cast<const char*>(parts.elements.raw()), parts.elements.bytes());
    const Tensor again = parse_npy(bytes, nullptr, "fuzz", {t.dtype()});
    FUZZ_CHECK(again.dtype() == t.dtype() && again.shape() == t.shape());
    if (t.size() > 0) FUZZ_CHECK(std::memcmp(again.raw(), t.raw(), t.bytes()) == 0);
  });
  return 0;
}
