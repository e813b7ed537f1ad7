#include "lppool/ops/movement.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace lppool;

namespace {

Tensor counted(DataType dtype, Shape shape) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  visit_storage(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto out = mutable_stored<T>(tensor);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, std::string>) out[i] = std::to_string(i);
      else if constexpr (std::is_same_v<T, Bytes16>) out[i] = {i, ~i};
      else out[i] = static_cast<T>(i * 2654435761u);
    }
  });
  return tensor;
}

// One element at a time, exactly as Box is defined.
template <typename T>
void literal_copy(std::span<const T> in, std::span<T> out, const Box& box) {
  std::int64_t total = 1;
  for (const std::int64_t size : box.sizes) total *= size;
  for (std::int64_t i = 0; i < total; ++i) {
    std::int64_t rest = i, from = box.in_offset, to = box.out_offset;
    for (std::size_t k = box.sizes.size(); k-- > 0;) {
      from += rest % box.sizes[k] * box.in_strides[k];
      to += rest % box.sizes[k] * box.out_strides[k];
      rest /= box.sizes[k];
    }
    out[static_cast<std::size_t>(to)] = in[static_cast<std::size_t>(from)];
  }
}

void compare(const Tensor& in, const Shape& out_shape, const Box& box, ThreadPool& pool) {
  Tensor expected = Tensor::zeros(in.dtype(), out_shape), actual = Tensor::zeros(in.dtype(), out_shape);
  copy_box(in, actual, box, pool);
  visit_storage(in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    literal_copy<T>(stored<T>(in), mutable_stored<T>(expected), box);
    CHECK(std::ranges::equal(stored<T>(expected), stored<T>(actual)));
  });
}

const DataType kOneOfEachSize[] = {DataType::kBool,    DataType::kBFloat16,   DataType::kFloat32,
                                   DataType::kFloat64, DataType::kComplex128, DataType::kString};

}  // namespace

TEST_CASE("a box is copied as its strides say, in every permutation of axes and every element size", "[ops]") {
  ThreadPool pool(2);
  const Shape shape{3, 1, 4, 5};
  for (const DataType dtype : kOneOfEachSize) {
    const Tensor in = counted(dtype, shape);
    std::vector<std::size_t> order = {0, 1, 2, 3};
    do {
      Box box;
      Shape out;
      for (const std::size_t axis : order) {
        out.push_back(shape[axis]);
        box.in_strides.push_back(shape.strides()[axis]);
      }
      box.sizes = out.dims();
      box.out_strides = out.strides();
      CAPTURE(dtype, order);
      compare(in, out, box, pool);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST_CASE("large boxes are shared out among threads without losing an element", "[ops]") {
  ThreadPool pool(3);
  struct Case {
    Shape shape;
    std::vector<std::size_t> order;
  };
  const Case cases[] = {
      {{70, 1000, 3}, {0, 2, 1}}, {{2, 3, 300, 301}, {0, 2, 3, 1}}, {{400, 401}, {1, 0}},     {{33, 17, 41, 13}, {3, 1, 0, 2}},
      {{100001}, {0}},            {{2, 70000}, {0, 1}},             {{64, 50, 64}, {1, 0, 2}},
  };
  for (const Case& c : cases) {
    const Tensor in = counted(DataType::kFloat32, c.shape);
    Box box;
    Shape out;
    for (const std::size_t axis : c.order) {
      out.push_back(c.shape[axis]);
      box.in_strides.push_back(c.shape.strides()[axis]);
    }
    box.sizes = out.dims();
    box.out_strides = out.strides();
    CAPTURE(to_string(c.shape), c.order);
    compare(in, out, box, pool);
  }
}

TEST_CASE("random boxes with offsets, zero and negative strides are copied as their strides say", "[ops]") {
  ThreadPool pool(2);
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 300; ++round) {
    const std::size_t rank = static_cast<std::size_t>(draw(0, 4));
    Shape in_shape, out_shape;
    Box box;
    std::vector<std::int64_t> first_in, first_out;
    for (std::size_t k = 0; k < rank; ++k) {
      const int size = draw(1, 6), step = draw(-2, 2), margin = draw(0, 2);
      box.sizes.push_back(size);
      const int reach = (size - 1) * std::abs(step);
      in_shape.push_back(reach + 1 + margin);
      first_in.push_back(step < 0 ? reach : margin);
      box.in_strides.push_back(step);
      out_shape.push_back(size + margin);
      first_out.push_back(margin);
    }
    for (std::size_t k = 0; k < rank; ++k) {
      box.in_offset += first_in[k] * in_shape.strides()[k];
      box.in_strides[k] *= in_shape.strides()[k];
      box.out_offset += first_out[k] * out_shape.strides()[k];
    }
    box.out_strides = out_shape.strides();
    const Tensor in = counted(kOneOfEachSize[round % 6], in_shape);
    CAPTURE(round, to_string(in_shape), to_string(out_shape), box.sizes, box.in_strides);
    compare(in, out_shape, box, pool);
  }
}

TEST_CASE("an empty box copies nothing", "[ops]") {
  ThreadPool pool(1);
  const Tensor in = counted(DataType::kFloat32, {2, 3});
  Tensor out = counted(DataType::kFloat32, {2, 3});
  Box box = whole_box({2, 0});
  box.in_offset = 100;  // never looked at
  copy_box(in, out, box, pool);
  CHECK(std::ranges::equal(in.data<float>(), out.data<float>()));
}

TEST_CASE("copies of long strings count against the memory limit", "[ops]") {
  ThreadPool pool(1);
  const Tensor in = Tensor::of<std::string>({1}, {std::string(1000, 'x')});
  Tensor out = Tensor::allocate(DataType::kString, Shape{50});
  const std::size_t before = memory::in_use();
  fill(out, in, 0, pool);
  CHECK(memory::in_use() == before + 50 * 1000);
  CHECK(out.strings()[49] == in.strings()[0]);
}

TEST_CASE("mapped copies read each axis through its table", "[ops]") {
  ThreadPool pool(2);
  const Tensor in = counted(DataType::kInt32, {3, 4});
  Tensor out = Tensor::allocate(DataType::kInt32, {4, 6});
  const std::vector<std::vector<std::int64_t>> maps = {{2, 0, 0, 1}, {3, 0, 1, 2, 3, 0}};
  copy_mapped(in, out, maps, pool);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 6; ++c) {
      CHECK(out.data<std::int32_t>()[r * 6 + c] == in.data<std::int32_t>()[static_cast<std::size_t>(maps[0][r] * 4 + maps[1][c])]);
    }
  }
}

TEST_CASE("lists of whole numbers in a float tensor are read exactly or refused", "[ops]") {
  CHECK(whole_values(Tensor::of<float>({2}, {3, -1}), "x") == std::vector<std::int64_t>{3, -1});
  CHECK(whole_values(Tensor::of<Float16>({1}, {Float16(7.0f)}), "x") == std::vector<std::int64_t>{7});
  CHECK_THROWS_AS(whole_values(Tensor::of<float>({1}, {0.5f}), "x"), Error);
  CHECK_THROWS_AS(whole_values(Tensor::of<float>({1}, {std::numeric_limits<float>::quiet_NaN()}), "x"), Error);
  CHECK_THROWS_AS(whole_values(Tensor::of<float>({1}, {std::numeric_limits<float>::infinity()}), "x"), Error);
}
