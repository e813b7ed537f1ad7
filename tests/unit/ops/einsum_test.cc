#include <catch2/catch.hpp>
#include <map>

#include "lppool/ops/einsum_equation.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

Tensor numbers(const Shape& shape, std::int64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 5) % 11) - 4;
  return Tensor::of<float>(shape, values);
}

// One loop over every label there is, as the definition says.
std::vector<double> naive(const EinsumTerms& terms, const std::vector<Tensor>& inputs) {
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t axis = 0; axis < inputs[i].rank(); ++axis) {
      auto& size = sizes[terms.inputs[i][axis]];
      size = std::max(size, inputs[i].shape()[axis]);
    }
  }
  std::vector<std::pair<char, std::int64_t>> labels;
  std::int64_t total = 1, out_size = 1;
  for (const char c : terms.output) labels.emplace_back(c, sizes[c]), out_size *= sizes[c];
  for (const auto& [c, size] : sizes) {
    if (terms.output.find(c) == std::string::npos) labels.emplace_back(c, size);
  }
  for (const auto& [c, size] : labels) total *= size;
  std::vector<double> result(static_cast<std::size_t>(out_size));
  for (std::int64_t at = 0; at < total; ++at) {
    std::map<char, std::int64_t> place;
    std::int64_t rest = at;
    for (std::size_t i = labels.size(); i-- > 0; rest /= labels[i].second)
      place[labels[i].first] = rest % labels[i].second;
    double product = 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < inputs[i].rank(); ++axis) {
        const std::int64_t dim = inputs[i].shape()[axis];
        offset = offset * dim + (dim == 1 ? 0 : place[terms.inputs[i][axis]]);
      }
      product *= static_cast<double>(inputs[i].data<float>()[static_cast<std::size_t>(offset)]);
    }
    result[static_cast<std::size_t>(at / (total / out_size))] += product;
  }
  return result;
}

}  // namespace

TEST_CASE("Einsum sums products as the one loop over all dimensions does", "[ops][Einsum]") {
  struct Case {
    const char* equation;
    std::vector<Shape> shapes;
    const char* output;  // its shape
  };
  const Case c = GENERATE(
      Case{"ij->ji", {{2, 3}}, "3x2"}, Case{"ij", {{2, 3}}, "2x3"}, Case{"ba", {{2, 3}}, "3x2"},
      Case{"ij->", {{2, 3}}, "scalar"}, Case{"ii->i", {{3, 3}}, "3"}, Case{"ii", {{3, 3}}, "scalar"},
      Case{"...ii->...i", {{2, 4, 3, 3}}, "2x4x3"}, Case{"ij,jk->ik", {{2, 3}, {3, 4}}, "2x4"},
      Case{"ij,jk", {{2, 3}, {3, 4}}, "2x4"}, Case{"i,i", {{5}, {5}}, "scalar"},
      Case{"bij,bjk->bik", {{3, 2, 4}, {3, 4, 5}}, "3x2x5"},
      Case{"bhid,bhjd->bhij", {{2, 3, 4, 5}, {2, 3, 6, 5}}, "2x3x4x6"},
      Case{"kji,kjl->li", {{3, 2, 4}, {3, 2, 5}}, "5x4"}, Case{"i,j->ij", {{3}, {4}}, "3x4"},
      Case{"ij,ij->i", {{3, 4}, {3, 4}}, "3"}, Case{"...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}, "2x5x3x2"},
      Case{"a...,b...->ab...", {{2, 3}, {4, 3}}, "2x4x3"}, Case{"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}, "2x5"},
      Case{"ijk,j,k->i", {{2, 3, 4}, {3}, {4}}, "2"}, Case{"ij,jk->k", {{2, 3}, {3, 4}}, "4"},
      Case{"ij,ij->", {{1, 4}, {3, 4}}, "scalar"}, Case{"iij,j->i", {{3, 3, 4}, {4}}, "3"},
      Case{" i j , j k -> i k ", {{2, 3}, {3, 4}}, "2x4"}, Case{"Ab,bA", {{2, 3}, {3, 2}}, "scalar"},
      Case{"aB", {{2, 3}}, "3x2"}, Case{",ij->ij", {{}, {2, 3}}, "2x3"}, Case{"...,...", {{2, 3}, {3}}, "2x3"});
  CAPTURE(c.equation);
  OpCall call{.op_type = "Einsum", .opset = 12};
  std::vector<Tensor> inputs;
  std::vector<ValueType> types;
  std::vector<std::size_t> ranks;
  for (const Shape& shape : c.shapes) {
    inputs.push_back(numbers(shape, static_cast<std::int64_t>(inputs.size())));
    call.inputs.push_back(inputs.back());
    ranks.push_back(shape.rank());
    types.push_back(ValueType::tensor(DataType::kFloat32, std::vector<Dim>(shape.begin(), shape.end())));
  }
  call.attributes = {attr_s("equation", c.equation)};
  const Tensor y = run_op1(call);
  CHECK(to_string(y.shape()) == c.output);
  CHECK(to_doubles(y) == naive(parse_einsum(c.equation, ranks), inputs));
  CHECK(to_string(*infer_op(call, types)[0].shape) == c.output);
}

TEST_CASE("Einsum of integers wraps", "[ops][Einsum]") {
  OpCall call{.op_type = "Einsum", .opset = 12};
  call.inputs = {Tensor::of<std::int8_t>({3}, {100, -3, 7}), Tensor::of<std::int8_t>({3}, {2, 5, 1})};
  call.attributes = {attr_s("equation", "i,i->")};
  CHECK(run_op1(call).data<std::int8_t>()[0] == static_cast<std::int8_t>(200 - 15 + 7));
}

TEST_CASE("Einsum refuses equations that do not fit", "[ops][Einsum]") {
  CHECK_THROWS_WITH(parse_einsum("ij,jk", {2}), Catch::Contains("has 2 operands, the node 1"));
  CHECK_THROWS_WITH(parse_einsum("ij->ik", {2}), Catch::Contains("'k' in its output only"));
  CHECK_THROWS_WITH(parse_einsum("ij->ii", {2}), Catch::Contains("'i' twice in its output"));
  CHECK_THROWS_WITH(parse_einsum("ijk", {2}), Catch::Contains("has rank 2"));
  CHECK_THROWS_WITH(parse_einsum("i.j", {2}), Catch::Contains("stray '.'"));
  CHECK_THROWS_WITH(parse_einsum("i1", {2}), Catch::Contains("has '1'"));
}
