#include "lppool/tensor/value_bytes.h"

#include <catch2/catch.hpp>

using namespace lppool;

TEST_CASE("a value holds the bytes of its tensor, a sequence those of all its members", "[tensor]") {
  const Value three(Tensor::of<float>(Shape({3}), {1, 2, 3}));
  const Value two(Tensor::of<double>(Shape({2}), {1, 2}));
  CHECK(bytes_of(Value()) == 0);
  CHECK(bytes_of(three) == 12);
  CHECK(bytes_of(two) == 16);
  CHECK(bytes_of(Value(std::make_shared<const Sequence>(Sequence{DataType::kUndefined, {three, two, three}}))) == 40);
}
