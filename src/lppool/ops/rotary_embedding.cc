#include <algorithm>

#include "lppool/base/thread_pool.h"
#include "lppool/ops/numbers.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {23, "X:T cos_cache:T sin_cache:T position_ids?:M", "Y:T",
     "interleaved:int=0 num_heads:int rotary_embedding_dim:int=0", "T=float32|float16|bfloat16; M=int64"},
};

void infer(InferContext& ctx) {
  const auto* shape = ctx.shape(0);
  if (shape != nullptr && shape->size() != 3 && shape->size() != 4) {
    fail(ErrorKind::kRuntime, "input X has rank {}, expected 3 or 4", shape->size());
  }
  ctx.set_output(0, ctx.input(0));
}

// The row of a cache for (batch, place): row position_ids[b, s] of a table, or row (b, s) where there are no ids.
class Cache {
 public:
  Cache(const Tensor& tensor, const std::vector<std::int64_t>* ids, std::int64_t batch, std::int64_t length,
        std::int64_t half, std::string_view name)
      : values_(as_float32(tensor)), ids_(ids), half_(half) {
    const Shape& s = tensor.shape();
    const bool fits = ids != nullptr ? s.rank() == 2 && s[1] == half : s == Shape{batch, length, half};
    if (!fits) {
      fail(ErrorKind::kRuntime, "input {} has shape {}, expected {}", name, to_string(s),
           ids != nullptr ? fmt::format("(positions) x {}", half) : to_string(Shape{batch, length, half}));
    }
    for (std::size_t i = 0; ids != nullptr && i < ids->size(); ++i) {
      if ((*ids)[i] < 0 || (*ids)[i] >= s[0]) {
        fail(ErrorKind::kRuntime, "position_ids has {}, expected 0 to {}", (*ids)[i], s[0] - 1);
      }
    }
  }
  const float* row(std::int64_t i) const {
    return values_.data<float>().data() + (ids_ != nullptr ? (*ids_)[static_cast<std::size_t>(i)] : i) * half_;
  }

 private:
  Tensor values_;
  const std::vector<std::int64_t>* ids_;
  std::int64_t half_;
};

void run(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Shape& shape = x.shape();
  const bool packed = shape.rank() == 3;
  if (!packed && shape.rank() != 4)
    fail(ErrorKind::kRuntime, "input X has shape {}, expected rank 3 or 4", to_string(shape));
  const std::int64_t batch = shape[0], length = shape[packed ? 1 : 2];
  const std::int64_t heads = packed ? ctx.attributes.i("num_heads", 0) : shape[1];
  if (packed && (heads < 1 || shape[2] % heads != 0)) {
    fail(ErrorKind::kRuntime, "attribute 'num_heads' is {}, expected a divisor of {}", heads, shape[2]);
  }
  const std::int64_t size = packed ? shape[2] / heads : shape[3];
  const std::int64_t given = ctx.attributes.i("rotary_embedding_dim");
  const std::int64_t rotated = given == 0 ? size : given;
  if (rotated < 0 || rotated > size || rotated % 2 != 0) {
    fail(ErrorKind::kRuntime,
         "{} numbers of a head of size {} are to be rotated, expected an even number up to its size", rotated, size);
  }
  const std::int64_t half = rotated / 2;
  std::vector<std::int64_t> ids;
  if (const Tensor* positions = ctx.optional_input(3)) {
    if (positions->shape() != Shape{batch, length}) {
      fail(ErrorKind::kRuntime, "input position_ids has shape {}, expected {}x{}", to_string(positions->shape()), batch,
           length);
    }
    ids = read_integers(*positions, "input position_ids");
  }
  const auto* id_list = ctx.has_input(3) ? &ids : nullptr;
  const Cache cosines(ctx.input(1), id_list, batch, length, half, "cos_cache");
  const Cache sines(ctx.input(2), id_list, batch, length, half, "sin_cache");

  const Tensor values = as_float32(x);
  Tensor result = Tensor::allocate(DataType::kFloat32, shape);
  const bool interleaved = ctx.attributes.i("interleaved") != 0;
  const float* from = values.data<float>().data();
  float* to = result.mutable_data<float>().data();
  const std::int64_t rows = batch * heads * length,
                     grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, size));
  ctx.threads().parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      // Rank 3 has its heads inside a place, rank 4 the other way round.
      const std::int64_t b = row / (heads * length), s = packed ? row / heads % length : row % length;
      const float *in = from + row * size, *c = cosines.row(b * length + s), *d = sines.row(b * length + s);
      float* out = to + row * size;
      for (std::int64_t k = 0; k < half; ++k) {
        const std::int64_t first = interleaved ? 2 * k : k, second = interleaved ? 2 * k + 1 : half + k;
        out[first] = c[k] * in[first] - d[k] * in[second];
        out[second] = d[k] * in[first] + c[k] * in[second];
      }
      std::copy(in + rotated, in + size, out + rotated);
    }
  });
  if (x.dtype() == DataType::kFloat32) return ctx.set_output(0, std::move(result));
  store(std::span<const float>(result.data<float>()), ctx.output(0, x.dtype(), shape));
}

}  // namespace

extern const OpDef kRotaryEmbedding;
const OpDef kRotaryEmbedding = {
    .domain = "",
    .type = "RotaryEmbedding",
    .summary = "Rotates pairs of numbers of each head by an angle that stands for the token's position.",
    .versions = kVersions,
    .infer = infer,
    .run = run,
    .facts = {.function = true},
};

}  // namespace lppool
