#include <algorithm>
#include <map>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/einsum_equation.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"
#include "lppool/ops/product.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {12, "Inputs*:T", "Output:T", "equation!:string", "T=num11"},
};

void infer(InferContext& ctx) {
  const DataType dtype = ctx.input(0).dtype;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) {
    if (ctx.shape(i) == nullptr) return ctx.set_output(0, dtype, std::nullopt);
    ranks.push_back(ctx.shape(i)->size());
  }
  const EinsumTerms terms = parse_einsum(ctx.attributes.s("equation"), ranks);
  std::map<char, Dim> sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const char label = terms.inputs[i][axis];
      const Dim& dim = (*ctx.shape(i))[axis];
      const auto known = sizes.find(label);
      if (known == sizes.end() || known->second.is(1)) {
        sizes[label] = dim;
        continue;
      }
      if (dim.is(1) || same(dim, known->second)) continue;
      if (dim.value() && known->second.value()) {
        fail(ErrorKind::kRuntime, "dimension '{}' is {} in operand {}, expected {}", label, *dim.value(), i,
             *known->second.value());
      }
      // A number other than 1 settles it; of two symbols either may be 1.
      if (dim.value())
        known->second = dim;
      else if (!known->second.value())
        known->second = Dim();
    }
  }
  std::vector<Dim> out;
  for (const char label : terms.output) out.push_back(sizes[label]);
  ctx.set_output(0, dtype, out);
}

using Sizes = std::map<char, std::int64_t>;

// A tensor whose dimensions have names.
struct Operand {
  std::string labels;
  Tensor tensor;
};

// `from` brought to the layout `labels`, contiguous: dimensions it lacks (or has with size 1) are repeated to their
// size, repeated ones are read along the diagonal, the ones not in `labels` are summed. T wraps where it is unsigned.
template <typename T>
Tensor arranged(const Operand& from, const std::string& labels, const Sizes& sizes) {
  struct Loop {
    std::int64_t size, stride;
  };
  const auto own = from.tensor.shape().strides();
  const auto stride_of = [&](char label) {
    std::int64_t stride = 0;
    for (std::size_t axis = 0; axis < from.labels.size(); ++axis) {
      if (from.labels[axis] == label && from.tensor.shape()[axis] != 1) stride += own[axis];
    }
    return stride;
  };
  Shape shape;
  std::vector<Loop> kept, summed;
  for (const char label : labels) {
    shape.push_back(sizes.at(label));
    kept.push_back({sizes.at(label), stride_of(label)});
  }
  std::string seen;
  for (const char label : from.labels) {
    if (labels.find(label) != std::string::npos || seen.find(label) != std::string::npos) continue;
    seen += label;
    // Its own size: one that only other operands have is not this one's to sum over.
    std::int64_t size = 1;
    for (std::size_t axis = 0; axis < from.labels.size(); ++axis) {
      if (from.labels[axis] == label && from.tensor.shape()[axis] != 1) size = from.tensor.shape()[axis];
    }
    summed.push_back({size, stride_of(label)});
  }
  if (labels == from.labels && shape == from.tensor.shape()) return from.tensor;
  Tensor result = Tensor::allocate(type_of<T>(), shape);
  if (result.size() == 0) return result;

  // Odometers over the kept and the summed dimensions; the offset follows them. The last kept one is a plain loop.
  const Loop last = kept.empty() ? Loop{1, 0} : kept.back();
  if (!kept.empty()) kept.pop_back();
  const auto advance = [](const std::vector<Loop>& loops, std::vector<std::int64_t>& at, std::int64_t& offset) {
    for (std::size_t axis = loops.size(); axis-- > 0;) {
      offset += loops[axis].stride;
      if (++at[axis] < loops[axis].size) return true;
      offset -= loops[axis].stride * loops[axis].size;
      at[axis] = 0;
    }
    return false;
  };
  const bool nothing = std::ranges::any_of(summed, [](const Loop& loop) { return loop.size == 0; });
  const T* in = from.tensor.data<T>().data();
  T* out = result.mutable_data<T>().data();
  std::fill_n(out, result.size(), T{0});
  std::vector<std::int64_t> at(kept.size()), inner_at(summed.size());
  std::int64_t offset = 0;
  bool more = !nothing;
  while (more) {
    std::int64_t inner = 0;
    do {
      const T* source = in + offset + inner;
      for (std::int64_t i = 0; i < last.size; ++i) out[i] += source[i * last.stride];
    } while (advance(summed, inner_at, inner));
    out += last.size;
    more = advance(kept, at, offset);
  }
  return result;
}

std::int64_t product(const std::string& labels, const Sizes& sizes) {
  Shape shape;
  for (const char label : labels) shape.push_back(sizes.at(label));
  return shape.elements();
}

// Joins two operands into one that keeps the labels of `wanted`: a batch of matrix products.
template <typename T>
Operand contract(KernelContext& ctx, const Operand& a, const Operand& b, const std::string& wanted,
                 const Sizes& sizes) {
  const auto has = [](const std::string& labels, char c) { return labels.find(c) != std::string::npos; };
  // A dimension of size 1 that is larger in the other operand is no dimension of this one.
  const auto own = [&](const Operand& operand) {
    std::string labels;
    for (std::size_t axis = 0; axis < operand.labels.size(); ++axis) {
      const char c = operand.labels[axis];
      if (!has(labels, c) && (operand.tensor.shape()[axis] != 1 || sizes.at(c) == 1)) labels += c;
    }
    return labels;
  };
  const std::string in_a = own(a), in_b = own(b);
  std::string batch, rows, columns, summed;
  for (const char c : in_a) (has(in_b, c) ? (has(wanted, c) ? batch : summed) : rows) += c;
  for (const char c : in_b) {
    if (!has(in_a, c)) columns += c;
  }
  const auto drop = [&](std::string& labels) { std::erase_if(labels, [&](char c) { return !has(wanted, c); }); };
  drop(rows);
  drop(columns);
  // Either operand may come transposed, which saves moving it.
  const bool left_turned = a.labels == batch + summed + rows, right_turned = b.labels == batch + columns + summed;
  const Tensor left = arranged<T>(a, left_turned ? batch + summed + rows : batch + rows + summed, sizes);
  const Tensor right = arranged<T>(b, right_turned ? batch + columns + summed : batch + summed + columns, sizes);
  const std::int64_t batches = product(batch, sizes), m = product(rows, sizes), n = product(columns, sizes),
                     k = product(summed, sizes);

  Operand result{batch + rows + columns, {}};
  Shape shape;
  for (const char c : result.labels) shape.push_back(sizes.at(c));
  result.tensor = Tensor::zeros(type_of<T>(), shape);
  const T *x = left.data<T>().data(), *w = right.data<T>().data();
  T* y = result.tensor.template mutable_data<T>().data();
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, m * n * k));
  if (m == 1 && n == 1) {
    ctx.threads().parallel_for(batches, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t p = 0; p < k; ++p) y[i] += x[i * k + p] * w[i * k + p];
      }
    });
    return result;
  }
  for (std::int64_t i = 0; i < batches; ++i) {
    const kernels::MatrixView<T> lhs{x + i * m * k, left_turned ? 1 : k, left_turned ? m : 1};
    const kernels::MatrixView<T> rhs{w + i * k * n, right_turned ? 1 : n, right_turned ? k : 1};
    multiply_matrices<T>(m, n, k, lhs, rhs, y + i * m * n, n, ctx.threads());
  }
  return result;
}

template <typename T>
Tensor evaluate(KernelContext& ctx, const EinsumTerms& terms, const Sizes& sizes, std::vector<Tensor> inputs) {
  Operand result{terms.inputs[0], std::move(inputs[0])};
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    std::string wanted = terms.output;
    for (std::size_t later = i + 1; later < inputs.size(); ++later) wanted += terms.inputs[later];
    result = contract<T>(ctx, result, {terms.inputs[i], std::move(inputs[i])}, wanted, sizes);
  }
  return arranged<T>(result, terms.output, sizes);
}

// Integers are computed modulo 2^64, which is right modulo any narrower width, too.
Tensor widened_bits(const Tensor& tensor) {
  Tensor result = Tensor::allocate(DataType::kUInt64, tensor.shape());
  const auto to = result.mutable_data<std::uint64_t>();
  const auto copy = [&](auto from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint64_t>(from[i]);
  };
  switch (tensor.dtype()) {
    case DataType::kInt8:
      copy(tensor.data<std::int8_t>());
      break;
    case DataType::kInt16:
      copy(tensor.data<std::int16_t>());
      break;
    case DataType::kInt32:
      copy(tensor.data<std::int32_t>());
      break;
    case DataType::kUInt8:
      copy(tensor.data<std::uint8_t>());
      break;
    case DataType::kUInt16:
      copy(tensor.data<std::uint16_t>());
      break;
    case DataType::kUInt32:
      copy(tensor.data<std::uint32_t>());
      break;
    case DataType::kInt64:
    case DataType::kUInt64:
      copy(tensor.data<std::uint64_t>());
      break;
    default:
      fail(ErrorKind::kUnsupported, "Einsum of {} elements", name(tensor.dtype()));
  }
  return result;
}

Tensor narrowed_bits(const Tensor& wide, DataType dtype) {
  Tensor result = Tensor::allocate(dtype, wide.shape());
  const auto from = wide.data<std::uint64_t>();
  const auto copy = [&](auto to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<std::remove_cvref_t<decltype(to[0])>>(from[i]);
  };
  switch (element_size(dtype)) {
    case 1:
      copy(result.mutable_data<std::uint8_t>());
      break;
    case 2:
      copy(result.mutable_data<std::uint16_t>());
      break;
    case 4:
      copy(result.mutable_data<std::uint32_t>());
      break;
    default:
      copy(result.mutable_data<std::uint64_t>());
      break;
  }
  return result;
}

void run(KernelContext& ctx) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ctx.input_count(); ++i) ranks.push_back(ctx.input(i).rank());
  const EinsumTerms terms = parse_einsum(ctx.attributes.s("equation"), ranks);
  Sizes sizes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
      const std::int64_t dim = ctx.input(i).shape()[axis];
      std::int64_t& size = sizes.try_emplace(terms.inputs[i][axis], 1).first->second;
      if (size != 1 && dim != 1 && size != dim) {
        fail(ErrorKind::kRuntime, "dimension '{}' is {} in operand {}, expected {}", terms.inputs[i][axis], dim, i,
             size);
      }
      if (dim != 1) size = dim;
    }
  }
  const DataType dtype = ctx.input(0).dtype();
  const auto each = [&](Tensor (*convert)(const Tensor&)) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < ranks.size(); ++i) inputs.push_back(convert(ctx.input(i)));
    return inputs;
  };
  if (dtype == DataType::kFloat32) return ctx.set_output(0, evaluate<float>(ctx, terms, sizes, each(as_float32)));
  if (dtype == DataType::kFloat64) return ctx.set_output(0, evaluate<double>(ctx, terms, sizes, each(as_float64)));
  if (is_float(dtype)) {
    const Tensor result = evaluate<float>(ctx, terms, sizes, each(as_float32));
    store(std::span<const float>(result.data<float>()), ctx.output(0, dtype, result.shape()));
    return;
  }
  ctx.set_output(0, narrowed_bits(evaluate<std::uint64_t>(ctx, terms, sizes, each(widened_bits)), dtype));
}

}  // namespace

extern const OpDef kEinsum;
const OpDef kEinsum = {
    .domain = "",
    .type = "Einsum",
    .summary = "Sums of products over named dimensions, as Einstein's convention writes them.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
};

}  // namespace lppool
