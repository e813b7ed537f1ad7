// Any bytes as a .npz archive: every member is read or refused.
#include <memory>

#include "fuzz.h"
#include "lppool/npy/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lppool;
  fuzz::guarded([&] {
    const NpzReader reader(FileBytes::of(std::string(fuzz::view(data, size))), "fuzz");
    for (const std::string& name : reader.names()) fuzz::guarded([&] { reader.read(name); });
  });
  return 0;
}
