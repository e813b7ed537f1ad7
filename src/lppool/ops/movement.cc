#include "lppool/ops/movement.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lppool {
namespace {

// Below this many elements one thread is faster than waking others.
constexpr std::int64_t kSerial = 32 * 1024;
// A tile of a transposition: its rows and columns fit the first-level cache together.
constexpr std::int64_t kTile = 16;

// Drops axes of size 1 and joins neighbours that are one run on both sides.
void simplify(Box& box) {
  Box result;
  result.in_offset = box.in_offset;
  result.out_offset = box.out_offset;
  for (std::size_t k = 0; k < box.sizes.size(); ++k) {
    if (box.sizes[k] == 1) continue;
    const bool joins = !result.sizes.empty() && result.in_strides.back() == box.in_strides[k] * box.sizes[k] &&
                       result.out_strides.back() == box.out_strides[k] * box.sizes[k];
    if (joins) {
      result.sizes.back() *= box.sizes[k];
      result.in_strides.back() = box.in_strides[k];
      result.out_strides.back() = box.out_strides[k];
    } else {
      result.sizes.push_back(box.sizes[k]);
      result.in_strides.push_back(box.in_strides[k]);
      result.out_strides.push_back(box.out_strides[k]);
    }
  }
  box = std::move(result);
}

// Walks the outer axes [0, axes) of a box in order, from any start.
class Walker {
 public:
  Walker(const Box& box, std::size_t axes, std::int64_t start) : box_(&box), index_(axes, 0) {
    in = box.in_offset;
    out = box.out_offset;
    for (std::size_t k = axes; k-- > 0;) {
      index_[k] = start % box.sizes[k];
      start /= box.sizes[k];
      in += index_[k] * box.in_strides[k];
      out += index_[k] * box.out_strides[k];
    }
  }
  void next() {
    for (std::size_t k = index_.size(); k-- > 0;) {
      in += box_->in_strides[k];
      out += box_->out_strides[k];
      if (++index_[k] < box_->sizes[k]) return;
      index_[k] = 0;
      in -= box_->sizes[k] * box_->in_strides[k];
      out -= box_->sizes[k] * box_->out_strides[k];
    }
  }
  std::int64_t in = 0, out = 0;

 private:
  const Box* box_;
  std::vector<std::int64_t> index_;
};

template <typename T>
void copy_line(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride, std::int64_t n) {
  if (out_stride == 1 && in_stride == 1) {
    std::copy_n(in, n, out);
  } else if (out_stride == 1 && in_stride == 0) {
    std::fill_n(out, n, *in);
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

// rows x columns elements, written along columns (out stride 1) and read along rows (in stride 1).
template <typename T>
void transpose_tile(const T* in, std::int64_t in_column_stride, T* out, std::int64_t out_row_stride, std::int64_t rows,
                    std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[r * out_row_stride + c] = in[c * in_column_stride + r];
  }
}

// A box whose last axis (columns) is a run of the output, while axis `row_axis` is a run of the input: tiles keep both
// sides in cache. The work is cut into bands of rows, higher ones where the columns are few.
template <typename T>
void copy_transposed(const T* in, T* out, const Box& box, std::size_t row_axis, std::int64_t total, ThreadPool& threads) {
  const std::size_t last = box.sizes.size() - 1;
  const std::int64_t rows = box.sizes[row_axis], columns = box.sizes[last];
  const std::int64_t band = std::max(kTile, 4096 / columns);
  const std::int64_t bands = (rows + band - 1) / band;
  Box outer = box;
  outer.sizes.erase(outer.sizes.begin() + static_cast<std::ptrdiff_t>(last));
  outer.in_strides.erase(outer.in_strides.begin() + static_cast<std::ptrdiff_t>(last));
  outer.out_strides.erase(outer.out_strides.begin() + static_cast<std::ptrdiff_t>(last));
  outer.sizes[row_axis] = bands;
  outer.in_strides[row_axis] *= band;
  outer.out_strides[row_axis] *= band;
  std::int64_t items = 1;
  for (const std::int64_t size : outer.sizes) items *= size;
  const std::int64_t row_stride = box.out_strides[row_axis], column_stride = box.in_strides[last];

  const auto work = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      std::int64_t rest = item, from = box.in_offset, to = box.out_offset, first_row = 0;
      for (std::size_t k = outer.sizes.size(); k-- > 0;) {
        const std::int64_t index = rest % outer.sizes[k];
        rest /= outer.sizes[k];
        from += index * outer.in_strides[k];
        to += index * outer.out_strides[k];
        if (k == row_axis) first_row = index * band;
      }
      const std::int64_t height = std::min(band, rows - first_row);
      for (std::int64_t c = 0; c < columns; c += kTile) {
        transpose_tile(in + from + c * column_stride, column_stride, out + to + c, row_stride, height,
                       std::min(kTile, columns - c));
      }
    }
  };
  if (total < kSerial) work(0, items);
  else threads.parallel_for(items, std::max<std::int64_t>(1, kSerial / (band * columns)), work);
}

template <typename T>
void copy_lines(const T* in, T* out, const Box& box, std::int64_t total, ThreadPool& threads) {
  const std::size_t last = box.sizes.size() - 1;
  const std::int64_t n = box.sizes[last], in_stride = box.in_strides[last], out_stride = box.out_strides[last];
  const std::int64_t lines = total / n;
  // Long lines are cut, so that one big copy is shared out, too.
  const std::int64_t piece = std::min(n, kSerial);
  const std::int64_t pieces = (n + piece - 1) / piece;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    Walker walker(box, last, begin / pieces);
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t first = item % pieces * piece;
      copy_line(in + walker.in + first * in_stride, in_stride, out + walker.out + first * out_stride, out_stride,
                std::min(piece, n - first));
      if (first + piece >= n) walker.next();
    }
  };
  if (total < kSerial) work(0, lines * pieces);
  else threads.parallel_for(lines * pieces, std::max<std::int64_t>(1, kSerial / piece), work);
}

void charge_box(const Tensor& in, Tensor& out, const Box& box, std::int64_t total) {
  const auto source = in.strings();
  std::size_t characters = 0;
  Walker walker(box, box.sizes.size(), 0);
  for (std::int64_t i = 0; i < total; ++i, walker.next()) {
    characters += source[static_cast<std::size_t>(walker.in)].size();
    if (characters > memory::limit()) break;
  }
  out.charge_characters(characters);
}

}  // namespace

Box whole_box(const Shape& sizes) {
  Box box;
  box.sizes = sizes.dims();
  box.in_strides = sizes.strides();
  box.out_strides = box.in_strides;
  return box;
}

void copy_box(const Tensor& in, Tensor& out, Box box, ThreadPool& threads) {
  std::int64_t total = 1;
  for (const std::int64_t size : box.sizes) total *= size;
  if (total == 0) return;
  simplify(box);
  if (box.sizes.empty()) {
    box.sizes = {1};
    box.in_strides = box.out_strides = {1};
  }
  if (in.dtype() == DataType::kString) charge_box(in, out, box, total);
  const std::size_t last = box.sizes.size() - 1;
  // A run of the input along another axis than the last makes this a transposition.
  std::size_t row_axis = last;
  if (box.out_strides[last] == 1 && std::abs(box.in_strides[last]) > 1 && box.sizes[last] > 1) {
    for (std::size_t k = 0; k < last; ++k) {
      if (box.in_strides[k] == 1 && box.sizes[k] > 1) row_axis = k;
    }
  }
  visit_storage(in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = stored<T>(in).data();
    T* to = mutable_stored<T>(out).data();
    if (row_axis != last) copy_transposed(from, to, box, row_axis, total, threads);
    else copy_lines(from, to, box, total, threads);
  });
}

void copy_run(const Tensor& in, std::int64_t in_begin, Tensor& out, std::int64_t out_begin, std::int64_t count) {
  assert(in_begin >= 0 && out_begin >= 0 && in_begin + count <= in.size() && out_begin + count <= out.size());
  visit_storage(in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::copy_n(stored<T>(in).data() + in_begin, count, mutable_stored<T>(out).data() + out_begin);
  });
}

void charge_runs(const Tensor& in, Tensor& out, std::span<const std::int64_t> begins, std::int64_t count) {
  if (in.dtype() != DataType::kString) return;
  std::size_t characters = 0;
  for (const std::int64_t begin : begins) {
    for (const std::string& text : in.strings().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count))) {
      characters += text.size();
    }
    if (characters > memory::limit()) break;
  }
  out.charge_characters(characters);
}

void fill(Tensor& out, const Tensor& value, std::int64_t index, ThreadPool& threads) {
  Box box;
  box.sizes = {out.size()};
  box.in_strides = {0};
  box.out_strides = {1};
  box.in_offset = index;
  copy_box(value, out, std::move(box), threads);
}

Tensor clone(const Tensor& tensor, ThreadPool& threads) {
  Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape());
  copy_box(tensor, copy, whole_box(tensor.shape()), threads);
  return copy;
}

void copy_mapped(const Tensor& in, Tensor& out, std::span<const std::vector<std::int64_t>> maps, ThreadPool& threads) {
  if (out.size() == 0) return;
  const std::size_t rank = maps.size();
  if (rank == 0) return copy_run(in, 0, out, 0, 1);
  const auto strides = in.shape().strides();
  const std::vector<std::int64_t>& last = maps[rank - 1];
  const auto width = static_cast<std::int64_t>(last.size());
  // The longest part of the last axis that is a plain run: copied as one.
  std::int64_t run_begin = 0, run_end = 1;
  for (std::int64_t begin = 0; begin < width;) {
    std::int64_t end = begin + 1;
    while (end < width && last[static_cast<std::size_t>(end)] == last[static_cast<std::size_t>(end) - 1] + 1) ++end;
    if (end - begin > run_end - run_begin) run_begin = begin, run_end = end;
    begin = end;
  }
  const auto line_offset = [&](std::int64_t line) {
    std::int64_t offset = 0;
    for (std::size_t k = rank - 1; k-- > 0;) {
      const auto size = static_cast<std::int64_t>(maps[k].size());
      offset += maps[k][static_cast<std::size_t>(line % size)] * strides[k];
      line /= size;
    }
    return offset;
  };
  const std::int64_t lines = out.size() / width;
  if (in.dtype() == DataType::kString) {
    std::size_t characters = 0;
    for (std::int64_t line = 0; line < lines && characters <= memory::limit(); ++line) {
      const std::int64_t offset = line_offset(line);
      for (const std::int64_t i : last) characters += in.strings()[static_cast<std::size_t>(offset + i)].size();
    }
    out.charge_characters(characters);
  }
  visit_storage(in.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = stored<T>(in).data();
    T* to = mutable_stored<T>(out).data();
    const auto work = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        const T* source = from + line_offset(line);
        T* target = to + line * width;
        for (std::int64_t i = 0; i < run_begin; ++i) target[i] = source[last[static_cast<std::size_t>(i)]];
        std::copy_n(source + last[static_cast<std::size_t>(run_begin)], run_end - run_begin, target + run_begin);
        for (std::int64_t i = run_end; i < width; ++i) target[i] = source[last[static_cast<std::size_t>(i)]];
      }
    };
    if (out.size() < kSerial) work(0, lines);
    else threads.parallel_for(lines, std::max<std::int64_t>(1, kSerial / width), work);
  });
}

std::vector<std::int64_t> int_values(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() == DataType::kInt64) {
    const auto values = tensor.data<std::int64_t>();
    return {values.begin(), values.end()};
  }
  if (tensor.dtype() == DataType::kInt32) {
    const auto values = tensor.data<std::int32_t>();
    return {values.begin(), values.end()};
  }
  fail(ErrorKind::kRuntime, "{} is {}, expected int64 or int32", what, name(tensor.dtype()));
}

std::vector<std::int64_t> whole_values(const Tensor& tensor, std::string_view what) {
  std::vector<std::int64_t> result;
  const auto take = [&](auto values) {
    for (const auto v : values) {
      const auto number = static_cast<double>(v);
      if (!(std::abs(number) < 0x1p53) || number != std::floor(number)) {
        fail(ErrorKind::kRuntime, "{} holds {}, expected a whole number", what, number);
      }
      result.push_back(static_cast<std::int64_t>(number));
    }
  };
  switch (tensor.dtype()) {
    case DataType::kFloat16: take(tensor.data<Float16>()); break;
    case DataType::kFloat32: take(tensor.data<float>()); break;
    case DataType::kFloat64: take(tensor.data<double>()); break;
    default: return int_values(tensor, what);
  }
  return result;
}

std::int64_t int_value(const Tensor& tensor, std::string_view what) {
  if (tensor.size() != 1) fail(ErrorKind::kRuntime, "{} has shape {}, expected one element", what, to_string(tensor.shape()));
  return int_values(tensor, what)[0];
}

std::vector<std::size_t> normalize_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<std::size_t> result;
  std::vector<bool> seen(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t normal = normalize_axis(axis, rank);
    if (seen[normal]) fail(ErrorKind::kRuntime, "axis {} is given twice", axis);
    seen[normal] = true;
    result.push_back(normal);
  }
  return result;
}

}  // namespace lppool
