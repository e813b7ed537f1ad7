// TD, EX, TY004 and SH004: stored tensors and declared types.
#include <fmt/format.h>

#include "lppool/base/checked.h"
#include "lppool/check/rules.h"

namespace lppool {
namespace {

// What is wrong with the indices of a sparse tensor whose parts are well formed; empty where nothing is.
std::string index_problem(const StoredSparseTensor& sparse, std::int64_t count) {
  const auto indices = sparse.indices.value.data<std::int64_t>();
  const auto rank = static_cast<std::int64_t>(sparse.dims.size());
  const bool linear = sparse.indices.dims.size() == 1;
  const auto elements = checked_elements(sparse.dims);
  if (!elements) return "its dims multiply beyond 64 bits";
  std::int64_t previous = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t position = 0;
    if (linear) {
      position = indices[static_cast<std::size_t>(i)];
      if (position < 0 || position >= *elements)
        return fmt::format("index {} is {}, expected 0 to {}", i, position, *elements - 1);
    } else {
      for (std::int64_t d = 0; d < rank; ++d) {
        const std::int64_t part = indices[static_cast<std::size_t>(i * rank + d)];
        const std::int64_t size = sparse.dims[static_cast<std::size_t>(d)];
        if (part < 0 || part >= size)
          return fmt::format("index {} is {} on axis {}, expected 0 to {}", i, part, d, size - 1);
        position = position * size + part;
      }
    }
    if (position <= previous) return fmt::format("index {} is not above the one before it", i);
    previous = position;
  }
  return "";
}

std::string sparse_problem(const StoredSparseTensor& sparse) {
  if (sparse.dims.empty()) return "it has no dims, expected one at least";
  for (const std::int64_t dim : sparse.dims) {
    if (dim <= 0) return fmt::format("its dims contain {}, expected numbers above 0", dim);
  }
  if (sparse.values.dims.size() != 1)
    return fmt::format("its values have rank {}, expected 1", sparse.values.dims.size());
  const std::int64_t count = sparse.values.dims[0];
  const auto& dims = sparse.indices.dims;
  if (dims.empty() && count == 0) return "";
  if (sparse.indices.dtype() != DataType::kInt64) return "its indices are not int64";
  const bool linear = dims.size() == 1;
  const bool pairs = dims.size() == 2 && dims[1] == static_cast<std::int64_t>(sparse.dims.size());
  if ((!linear && !pairs) || dims[0] != count) {
    return fmt::format("its indices have shape [{}], expected [{}] or [{}, {}]", fmt::join(dims, ", "), count, count,
                       sparse.dims.size());
  }
  return sparse.indices.value.defined() ? index_problem(sparse, count) : "";
}

}  // namespace

void check_tensor(CheckState& state, const Place& place, const StoredTensor& tensor) {
  if (!tensor.problem) return;
  Diagnostic& finding = state.findings.adopt(place, *tensor.problem);
  if (finding.tensor.empty()) finding.tensor = tensor.name;
}

void check_sparse_tensor(CheckState& state, const Place& place, const StoredSparseTensor& tensor) {
  check_tensor(state, place, tensor.values);
  check_tensor(state, place, tensor.indices);
  if (tensor.values.problem || tensor.indices.problem) return;
  if (const std::string problem = sparse_problem(tensor); !problem.empty()) {
    state.findings.add(place, "TD011", fmt::format("sparse tensor {}: {}", quoted(tensor.values.name), problem))
        .tensor = tensor.values.name;
  }
}

void check_type(CheckState& state, const Place& place, const std::string& value, const Type& type) {
  const Type* t = &type;
  for (std::size_t depth = 0; t != nullptr && depth < kMaxNesting; ++depth, t = t->element.get()) {
    if (t->dtype_number != 0 && !is_known(t->dtype_number)) {
      state.findings
          .add(place, "TY004",
               fmt::format("{} is declared with element type {}, expected 1 to {}", quoted(value), t->dtype_number,
                           kLastDataType))
          .tensor = value;
    }
    if (!t->shape) continue;
    for (std::size_t i = 0; i < t->shape->size(); ++i) {
      const auto size = (*t->shape)[i].value;
      if (!size || *size >= 0) continue;
      state.findings
          .add(place, "SH004",
               fmt::format("{} is declared with size {} along axis {}, expected 0 or more", quoted(value), *size, i),
               "leave an unknown size out, or give it a symbol")
          .tensor = value;
    }
  }
}

}  // namespace lppool
