#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lppool/base/error.h"
#include "lppool/tensor/memory.h"

// Fuzz entry points: one file each, for libFuzzer (preset fuzz) or, in normal builds, for the replay of saved inputs
// (testdata/corpus/<name>/), which ctest runs. A target fails by crashing, hanging, taking too much memory, an exception that
// is no lppool::Error, or a FUZZ_CHECK.
#define FUZZ_CHECK(condition) \
  do {                        \
    if (!(condition)) std::abort(); \
  } while (false)

namespace fuzz {

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs `body` with little memory allowed. An Error is an answer; a defect is not.
template <typename F>
void guarded(F&& body) {
  lppool::memory::set_limit(std::size_t{256} << 20);
  try {
    body();
  } catch (const lppool::Error& error) {
    FUZZ_CHECK(error.kind() != lppool::ErrorKind::kDefect);
    FUZZ_CHECK(std::string_view(error.what()).size() > 0);
  }
}

}  // namespace fuzz
