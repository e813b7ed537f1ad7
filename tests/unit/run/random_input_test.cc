#include <catch2/catch.hpp>

#include "lppool/run/random_input.h"

using namespace lppool;

TEST_CASE("Random inputs are the same bytes for the same seed and name, and others for others", "[run]") {
  const auto bits = [](const Tensor& t) { return std::vector<std::uint32_t>(t.data<std::uint32_t>().begin(), t.data<std::uint32_t>().end()); };
  const Tensor a = random_tensor(DataType::kFloat32, {64}, 1, "x");
  CHECK(bits(a) == bits(random_tensor(DataType::kFloat32, {64}, 1, "x")));
  CHECK(bits(a) != bits(random_tensor(DataType::kFloat32, {64}, 2, "x")));
  CHECK(bits(a) != bits(random_tensor(DataType::kFloat32, {64}, 1, "y")));
  for (const float v : a.data<float>()) CHECK((v >= -1.0f && v < 1.0f));
}

TEST_CASE("The generator is SplitMix64 as published", "[run]") {
  // State 0 would give e220a8397b1dcdaf first; the state here is FNV-1a("") for seed 0.
  std::uint64_t z = 14695981039346656037u + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const double expected = static_cast<double>(static_cast<std::int64_t>(z >> 40) - 8388608) / 8388608.0;
  CHECK(static_cast<double>(random_tensor(DataType::kFloat32, {1}, 0, "").data<float>()[0]) == expected);
}

TEST_CASE("Random integers serve as indices", "[run]") {
  const Tensor integers = random_tensor(DataType::kInt64, {200}, 3, "i"), bools = random_tensor(DataType::kBool, {200}, 3, "b");
  for (const std::int64_t v : integers.data<std::int64_t>()) CHECK((v >= 0 && v <= 9));
  for (const std::uint8_t v : bools.data<std::uint8_t>()) CHECK(v <= 1);
}
