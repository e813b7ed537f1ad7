#include <catch2/catch.hpp>

#include "lppool/base/error.h"
#include "lppool/tensor/memory.h"
#include "lppool/tensor/tensor.h"

using namespace lppool;

TEST_CASE("characters of strings count against the memory limit while the tensor lives", "[tensor]") {
  const std::size_t before = memory::in_use();
  {
    Tensor text = Tensor::allocate(DataType::kString, Shape{2});
    CHECK(memory::in_use() == before + 2 * sizeof(std::string));
    text.charge_characters(1000);
    CHECK(memory::in_use() == before + 2 * sizeof(std::string) + 1000);
    CHECK_THROWS_AS(text.charge_characters(memory::limit()), Error);
    CHECK(memory::in_use() == before + 2 * sizeof(std::string) + 1000);
  }
  CHECK(memory::in_use() == before);
}
