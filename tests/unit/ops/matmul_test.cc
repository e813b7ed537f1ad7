#include <catch2/catch.hpp>
#include <cmath>

#include "lppool/base/error.h"
#include "support/naive_conv.h"
#include "support/random.h"
#include "lppool/tensor/convert.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// y = a * b for one pair of matrices.
std::vector<double> naive_product(const double* a, const double* b, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> y(at(m * n), 0.0);
  for (std::int64_t r = 0; r < m; ++r) {
    for (std::int64_t c = 0; c < n; ++c) {
      for (std::int64_t i = 0; i < k; ++i) y[at(r * n + c)] += a[r * k + i] * b[i * n + c];
    }
  }
  return y;
}

std::vector<double> transposed(const std::vector<double>& x, std::int64_t rows, std::int64_t columns) {
  std::vector<double> y(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) y[at(c * rows + r)] = x[at(r * columns + c)];
  }
  return y;
}

Tensor matmul(const Tensor& a, const Tensor& b, int threads = 1) {
  return run_op1({.op_type = "MatMul", .opset = 13, .inputs = {a, b}, .threads = threads});
}

}  // namespace

TEST_CASE("MatMul agrees with its definition for all sizes", "[ops][MatMul]") {
  const std::int64_t sizes[][3] = {{1, 1, 1},  {1, 5, 3},   {4, 4, 4},    {5, 7, 3},     {2, 33, 9},   {1, 100, 70},
                                   {3, 8, 64}, {17, 19, 1}, {70, 65, 37}, {9, 600, 300}, {130, 3, 77}, {64, 64, 513}};
  for (const auto& [m, n, k] : sizes) {
    DYNAMIC_SECTION(m << "x" << k << " by " << k << "x" << n) {
      const Tensor a = varied_tensor(DataType::kFloat32, {m, k}, 1), b = varied_tensor(DataType::kFloat32, {k, n}, 2);
      const auto expected = naive_product(to_doubles(a).data(), to_doubles(b).data(), m, n, k);
      for (const int threads : {1, 3}) require_close(matmul(a, b, threads), expected, 1e-4);
      const Tensor wide_a = varied_tensor(DataType::kFloat64, {m, k}, 1), wide_b = varied_tensor(DataType::kFloat64, {k, n}, 2);
      require_close(matmul(wide_a, wide_b, 2), expected, 1e-12);
    }
  }
}

TEST_CASE("MatMul broadcasts stacks and takes vectors as numpy does", "[ops][MatMul]") {
  struct Case {
    Shape a, b, y;
    std::int64_t m, n, k;
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  };
  const Case cases[] = {
      {{3}, {3}, {}, 1, 1, 3, {{0, 0}}},
      {{3}, {3, 2}, {2}, 1, 2, 3, {{0, 0}}},
      {{4, 3}, {3}, {4}, 4, 1, 3, {{0, 0}}},
      {{3}, {2, 3, 4}, {2, 4}, 1, 4, 3, {{0, 0}, {0, 1}}},
      {{2, 5, 3}, {3}, {2, 5}, 5, 1, 3, {{0, 0}, {1, 0}}},
      {{2, 5, 3}, {3, 4}, {2, 5, 4}, 5, 4, 3, {{0, 0}, {1, 0}}},
      {{2, 5, 3}, {1, 3, 4}, {2, 5, 4}, 5, 4, 3, {{0, 0}, {1, 0}}},
      {{5, 3}, {2, 3, 4}, {2, 5, 4}, 5, 4, 3, {{0, 0}, {0, 1}}},
      {{2, 1, 2, 3}, {3, 3, 1}, {2, 3, 2, 1}, 2, 1, 3, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}},
      {{1, 2, 2, 3}, {2, 1, 3, 2}, {2, 2, 2, 2}, 2, 2, 3, {{0, 0}, {1, 0}, {0, 1}, {1, 1}}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(to_string(c.a) << " by " << to_string(c.b)) {
      const Tensor a = varied_tensor(DataType::kFloat32, c.a, 1), b = varied_tensor(DataType::kFloat32, c.b, 2);
      const auto left = to_doubles(a), right = to_doubles(b);
      std::vector<double> expected;
      for (const auto& [i, j] : c.pairs) {
        const auto part = naive_product(left.data() + i * c.m * c.k, right.data() + j * c.k * c.n, c.m, c.n, c.k);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const Tensor y = matmul(a, b);
      CHECK(y.shape() == c.y);
      require_close(y, expected, 1e-6);
    }
  }
}

TEST_CASE("MatMul treats empty matrices as sums over nothing", "[ops][MatMul]") {
  const auto y = matmul(Tensor::zeros(DataType::kFloat32, {2, 0}), Tensor::zeros(DataType::kFloat32, {0, 3}));
  CHECK(to_doubles(y) == std::vector<double>(6, 0.0));
  CHECK(matmul(Tensor::zeros(DataType::kFloat32, {0, 2}), Tensor::zeros(DataType::kFloat32, {2, 3})).shape() == Shape{0, 3});
  CHECK(matmul(Tensor::zeros(DataType::kFloat32, {0, 4, 2}), Tensor::zeros(DataType::kFloat32, {1, 2, 3})).shape() ==
        Shape{0, 4, 3});
}

TEST_CASE("MatMul of integers wraps", "[ops][MatMul]") {
  const auto i32 = [](std::vector<std::int32_t> v, Shape s) { return Tensor::of<std::int32_t>(std::move(s), v); };
  CHECK(to_doubles(matmul(i32({1, -2, 3, 4}, {2, 2}), i32({5, 6, -7, 8}, {2, 2}))) == std::vector<double>{19, -10, -13, 50});
  CHECK(to_doubles(matmul(i32({65536, 1}, {1, 2}), i32({65536, -1}, {2, 1}))) == std::vector<double>{-1});
  const Tensor a = Tensor::of<std::int64_t>({1, 2}, {3000000000, -1}), b = Tensor::of<std::int64_t>({2, 1}, {2, 5});
  CHECK(matmul(a, b).data<std::int64_t>()[0] == 5999999995);
  const Tensor u = Tensor::of<std::uint32_t>({1, 1}, {4000000000u});
  CHECK(matmul(u, Tensor::of<std::uint32_t>({1, 1}, {2})).data<std::uint32_t>()[0] == 3705032704u);
}

TEST_CASE("MatMul rounds 16-bit results once", "[ops][MatMul]") {
  const auto half = [](float v) { return Float16(v); };
  const Tensor a = Tensor::of<Float16>({1, 3}, {half(2048), half(1), half(1)});
  const Tensor b = Tensor::of<Float16>({3, 1}, {half(1), half(1), half(1)});
  CHECK(to_doubles(matmul(a, b)) == std::vector<double>{2050});
}

TEST_CASE("MatMul refuses and infers shapes", "[ops][MatMul]") {
  CHECK_THROWS_AS(matmul(Tensor::zeros(DataType::kFloat32, {2, 3}), Tensor::zeros(DataType::kFloat32, {2, 3})), Error);
  CHECK_THROWS_AS(matmul(Tensor::zeros(DataType::kFloat32, {}), Tensor::zeros(DataType::kFloat32, {2, 3})), Error);
  CHECK_THROWS_AS(matmul(Tensor::zeros(DataType::kFloat32, {2, 1, 1}), Tensor::zeros(DataType::kFloat32, {3, 1, 1})), Error);
  const auto infer = [](std::vector<Dim> a, std::vector<Dim> b) {
    return to_string(infer_op({.op_type = "MatMul", .opset = 13}, {ValueType::tensor(DataType::kFloat32, std::move(a)),
                                                                   ValueType::tensor(DataType::kFloat32, std::move(b))})
                         .at(0));
  };
  const Dim n = Dim::symbol("N"), k = Dim::symbol("K");
  CHECK(infer({n, 5, k}, {k, 4}) == "float32 Nx5x4");
  CHECK(infer({k}, {3, k, n}) == "float32 3xN");
  CHECK(infer({n, 1, 2, 3}, {7, 3, 5}) == "float32 Nx7x2x5");
  CHECK(infer({n, 2, 3}, {k, 3, 5}) == "float32 ?x2x5");
  CHECK(infer({k}, {k}) == "float32 scalar");
  CHECK_THROWS_AS(infer({2, 3}, {2, 3}), Error);
}

namespace {

struct GemmCase {
  std::int64_t m, n, k;
  bool trans_a, trans_b;
  float alpha, beta;
  std::optional<Shape> c;
};

void run_gemm(const GemmCase& g, DataType dtype, double tolerance, int threads) {
  const Tensor a = varied_tensor(dtype, g.trans_a ? Shape{g.k, g.m} : Shape{g.m, g.k}, 1);
  const Tensor b = varied_tensor(dtype, g.trans_b ? Shape{g.n, g.k} : Shape{g.k, g.n}, 2);
  OpCall call{.op_type = "Gemm", .opset = 13, .inputs = {a, b}, .threads = threads};
  call.attributes = {attr_f("alpha", g.alpha), attr_f("beta", g.beta), attr_i("transA", g.trans_a),
                     attr_i("transB", g.trans_b)};
  const auto left = g.trans_a ? transposed(to_doubles(a), g.k, g.m) : to_doubles(a);
  const auto right = g.trans_b ? transposed(to_doubles(b), g.n, g.k) : to_doubles(b);
  auto expected = naive_product(left.data(), right.data(), g.m, g.n, g.k);
  for (double& value : expected) value *= static_cast<double>(g.alpha);
  if (g.c) {
    const Tensor c = varied_tensor(dtype, *g.c, 3);
    call.inputs.emplace_back(c);
    const auto terms = to_doubles(c);
    const std::int64_t rows = g.c->rank() == 2 ? (*g.c)[0] : 1;
    const std::int64_t columns = g.c->rank() == 0 ? 1 : (*g.c)[g.c->rank() - 1];
    for (std::int64_t r = 0; r < g.m; ++r) {
      for (std::int64_t i = 0; i < g.n; ++i) {
        expected[at(r * g.n + i)] +=
            static_cast<double>(g.beta) * terms[at((rows == 1 ? 0 : r) * columns + (columns == 1 ? 0 : i))];
      }
    }
  }
  require_close(run_op1(call), expected, tolerance);
}

}  // namespace

TEST_CASE("Gemm agrees with its definition", "[ops][Gemm]") {
  const GemmCase cases[] = {
      {3, 4, 5, false, false, 1, 1, Shape{3, 4}},  {3, 4, 5, true, false, 0.5f, 2, Shape{4}},
      {3, 4, 5, false, true, 2, 0.25f, Shape{}},   {3, 4, 5, true, true, -1, 1, Shape{1, 4}},
      {3, 4, 5, false, false, 1, 1, Shape{3, 1}},  {3, 4, 5, false, true, 1, 1, std::nullopt},
      {1, 40, 70, false, true, 1, 1, Shape{40}},   {1, 40, 70, true, false, 1, 1, Shape{1}},
      {33, 70, 300, true, true, 1, 0, Shape{70}},  {2, 9, 33, true, true, 1, 1, Shape{9}},
      {50, 1, 20, false, false, 1, 1, Shape{1, 1}},
  };
  for (const GemmCase& g : cases) {
    DYNAMIC_SECTION(g.m << " " << g.n << " " << g.k << " " << g.trans_a << g.trans_b) {
      run_gemm(g, DataType::kFloat32, 1e-5, 1);
      run_gemm(g, DataType::kFloat32, 1e-5, 2);
      run_gemm(g, DataType::kFloat64, 1e-13, 1);
    }
  }
}

TEST_CASE("Gemm leaves C out where beta is 0", "[ops][Gemm]") {
  const Tensor one = Tensor::of<float>({1, 1}, {3});
  const Tensor c = Tensor::of<float>({1, 1}, {std::nanf("")});
  CHECK(to_doubles(run_op1({.op_type = "Gemm", .opset = 13, .inputs = {one, one, c}, .attributes = {attr_f("beta", 0)}})) ==
        std::vector<double>{9});
}

TEST_CASE("Gemm before opset 7 broadcasts C only where told to", "[ops][Gemm]") {
  const Tensor a = Tensor::of<float>({2, 1}, {1, 2}), b = Tensor::of<float>({1, 2}, {10, 100});
  const Tensor c = Tensor::of<float>({2}, {1, 2});
  for (const std::int64_t opset : {1, 6}) {
    CHECK_THROWS_AS(run_op1({.op_type = "Gemm", .opset = opset, .inputs = {a, b, c}}), Error);
    CHECK(to_doubles(run_op1({.op_type = "Gemm", .opset = opset, .inputs = {a, b, c}, .attributes = {attr_i("broadcast", 1)}})) ==
          std::vector<double>{11, 102, 21, 202});
  }
  CHECK(to_doubles(run_op1({.op_type = "Gemm", .opset = 7, .inputs = {a, b, c}})) == std::vector<double>{11, 102, 21, 202});
}

TEST_CASE("Gemm of integers wraps and takes whole factors only", "[ops][Gemm]") {
  const Tensor a = Tensor::of<std::int32_t>({1, 1}, {1 << 20}), b = Tensor::of<std::int32_t>({1, 1}, {4097});
  const Tensor c = Tensor::of<std::int32_t>({1}, {-5});
  OpCall call{.op_type = "Gemm", .opset = 11, .inputs = {a, b, c}, .attributes = {attr_f("beta", 3), attr_f("alpha", -1)}};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{-1048576 - 15});
  call.attributes = {attr_f("alpha", 0.5f)};
  CHECK_THROWS_AS(run_op1(call), Error);
}

TEST_CASE("Gemm refuses and infers shapes", "[ops][Gemm]") {
  const auto zeros = [](Shape s) { return Tensor::zeros(DataType::kFloat32, std::move(s)); };
  CHECK_THROWS_AS(run_op1({.op_type = "Gemm", .opset = 13, .inputs = {zeros({2, 3}), zeros({2, 3})}}), Error);
  CHECK_THROWS_AS(run_op1({.op_type = "Gemm", .opset = 13, .inputs = {zeros({2, 3, 1}), zeros({3, 3})}}), Error);
  CHECK_THROWS_AS(run_op1({.op_type = "Gemm", .opset = 13, .inputs = {zeros({2, 3}), zeros({3, 4}), zeros({2})}}), Error);
  CHECK_THROWS_AS(run_op1({.op_type = "Gemm", .opset = 13, .inputs = {zeros({2, 3}), zeros({3, 4}), zeros({1, 2, 4})}}), Error);
  const Dim n = Dim::symbol("N");
  const auto types = infer_op({.op_type = "Gemm", .opset = 13, .attributes = {attr_i("transA", 1), attr_i("transB", 1)}},
                              {ValueType::tensor(DataType::kFloat32, std::vector<Dim>{3, n}),
                               ValueType::tensor(DataType::kFloat32, std::vector<Dim>{5, 3})});
  CHECK(to_string(types.at(0)) == "float32 Nx5");
}

TEST_CASE("MatMulInteger subtracts zero points and sums in 32 bits", "[ops][MatMulInteger]") {
  const Tensor a = Tensor::of<std::uint8_t>({2, 3}, {11, 7, 3, 10, 6, 2}), b = Tensor::of<std::uint8_t>({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor a_zero = Tensor::of<std::uint8_t>({1}, {12}), b_zero = Tensor::scalar<std::uint8_t>(1);
  // a - 12 = {-1 -5 -9; -2 -6 -10}, b - 1 = {0 3; 1 4; 2 5}
  CHECK(to_doubles(run_op1({.op_type = "MatMulInteger", .opset = 10, .inputs = {a, b, a_zero, b_zero}})) ==
        std::vector<double>{-23, -68, -26, -80});
  CHECK(to_doubles(run_op1({.op_type = "MatMulInteger", .opset = 10, .inputs = {a, b}})) == std::vector<double>{34, 97, 28, 82});
  // Per row of a and per column of b.
  const Tensor rows = Tensor::of<std::uint8_t>({2}, {11, 10}), columns = Tensor::of<std::uint8_t>({2}, {1, 4});
  CHECK(to_doubles(run_op1({.op_type = "MatMulInteger", .opset = 10, .inputs = {a, b, rows, columns}})) ==
        std::vector<double>{-20, -20, -20, -20});
}

TEST_CASE("QLinearMatMul rounds half to even and saturates", "[ops][QLinearMatMul]") {
  const auto u8 = [](Shape s, std::vector<std::uint8_t> v) { return Tensor::of<std::uint8_t>(std::move(s), v); };
  const auto run = [&](std::vector<std::uint8_t> a, float scale, std::uint8_t zero) {
    const auto n = static_cast<std::int64_t>(a.size());
    return to_doubles(run_op1({.op_type = "QLinearMatMul", .opset = 10,
                               .inputs = {u8({n, 1}, a), Tensor::scalar<float>(0.5f), Tensor::scalar<std::uint8_t>(0),
                                          u8({1, 1}, {1}), Tensor::scalar<float>(1.0f), Tensor::scalar<std::uint8_t>(0),
                                          Tensor::scalar<float>(scale), Tensor::scalar<std::uint8_t>(zero)}}));
  };
  CHECK(run({1, 3, 5, 255}, 1.0f, 1) == std::vector<double>{1, 3, 3, 129});  // 0.5, 1.5, 2.5, 127.5 and 1 each
  CHECK(run({255, 2}, 0.25f, 0) == std::vector<double>{255, 4});
}

TEST_CASE("QLinearMatMul takes float8, alone and beside integers", "[ops][QLinearMatMul]") {
  const auto e4m3 = [](Shape shape, std::vector<double> values) {
    const auto rank_one = Tensor::of<double>(std::move(shape), values);
    return convert(rank_one, DataType::kFloat8E4M3FN);
  };
  const auto scale = [](float value) { return Tensor::scalar<float>(value); };
  const Tensor a = e4m3({2, 2}, {1.5, -2, 448, 448}), b = e4m3({2, 1}, {4, 0.5});
  const Tensor zero = convert(Tensor::scalar<double>(0), DataType::kFloat8E4M3FN);
  OpCall call{.op_type = "QLinearMatMul", .opset = 21};
  call.inputs = {a, scale(0.5f), zero, b, scale(1), zero, scale(0.25f), zero};
  // (6 - 1) * 0.5 / 0.25 = 10; 2016 * 2 is beyond the largest, 448.
  const Tensor y = run_op1(call);
  CHECK(y.dtype() == DataType::kFloat8E4M3FN);
  CHECK(to_doubles(convert(y, DataType::kFloat64)) == std::vector<double>{10, 448});
  // 11 * 3 = 33 lies between 32 and 36: ties are not met, 32 is nearer.
  call.inputs = {Tensor::of<std::int8_t>({1, 1}, {12}), scale(1), Tensor::scalar<std::int8_t>(1),
                 e4m3({1, 1}, {3}), scale(1), zero, scale(1), zero};
  CHECK(to_doubles(convert(run_op1(call), DataType::kFloat64)) == std::vector<double>{32});
  // To integers: 5 / 2 rounds to 2, plus the zero point.
  call.inputs = {a, scale(1), zero, b, scale(1), zero, scale(2), Tensor::scalar<std::uint8_t>(100)};
  CHECK(to_doubles(run_op1(call)) == std::vector<double>{102, 255});
}
