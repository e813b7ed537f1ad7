#include "lppool/ops/onednn.h"

#if LPPOOL_HAVE_ONEDNN

#include <dlfcn.h>

#include <algorithm>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

#include "lppool/base/error.h"
#include "lppool/tensor/memory.h"

namespace lppool::onednn {
namespace {

using dnnl::memory;
using Desc = memory::desc;
using Tag = memory::format_tag;
constexpr auto kFloat = memory::data_type::f32;

// Sets the number of OpenMP threads of the calling thread, in whichever OpenMP runtime the library was linked with. It has
// no interface of its own for that, and linking a second runtime would be worse.
void set_threads(int threads) {
  using Setter = void (*)(int);
  static const auto setter = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (setter != nullptr) setter(threads);
}

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream own(engine());
  return own;
}

// A buffer from the program's own pool, so that it is counted and limited with the tensors.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(const Desc& desc) : storage_(lppool::memory::allocate(desc.get_size())) {}
  void* data() const { return storage_.get(); }
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  std::shared_ptr<std::byte> storage_;
};

// The descriptor of a plain row-major tensor of any rank the library knows.
Desc plain(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return {dims, kFloat, strides};
}

// The library never writes to its inputs, but its interface takes them as mutable.
memory wrap(const Desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

void rearrange(const Desc& from_desc, const void* from, const Desc& to_desc, void* to) {
  memory source = wrap(from_desc, from), target = wrap(to_desc, to);
  dnnl::reorder(source, target).execute(stream(), source, target);
}

struct ConvDims {
  memory::dims x, w, bias, y, strides, dilations, pads_begin, pads_end;
};

ConvDims dims_of(const kernels::ConvGeometry& g, const std::vector<std::int64_t>& pads_end) {
  ConvDims d;
  d.x = {g.batch, g.groups * g.in_channels};
  d.w = {g.out_channels, g.in_channels};
  if (g.groups > 1) d.w.insert(d.w.begin(), g.groups);
  d.bias = {g.groups * g.out_channels};
  d.y = {g.batch, g.groups * g.out_channels};
  for (const kernels::PoolAxis& axis : g.axes) {
    d.x.push_back(axis.in);
    d.w.push_back(axis.kernel);
    d.y.push_back(axis.out);
    d.strides.push_back(axis.stride);
    d.dilations.push_back(axis.dilation - 1);
    d.pads_begin.push_back(axis.pad_begin);
  }
  d.pads_end.assign(pads_end.begin(), pads_end.end());
  return d;
}

// The descriptor of a tensor of these sizes in blocks of channels; plain for block 0.
Desc blocked(const memory::dims& dims, std::int64_t block) {
  if (block == 0) return plain(dims);
  static constexpr Tag kTags[2][3] = {{Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c}, {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c}};
  return {dims, kFloat, kTags[block == 16 ? 1 : 0][dims.size() - 3]};
}

// The block of channels that the descriptor has, where it is a layout of tensor/packed.h; else 0.
std::int64_t block_of(const Desc& desc) {
  const memory::dims dims = desc.dims();
  for (const std::int64_t block : {16, 8}) {
    if (dims[1] % block == 0 && desc == blocked(dims, block)) return block;
  }
  return 0;
}

// The layout that a convolution gets or gives: blocks as long as a vector where the channels make whole ones, else what the
// library likes best (which for whole blocks is slower, measured on nine image networks).
Desc preferred(const memory::dims& dims) {
  static const std::int64_t block = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8;
  if (dims[1] % block == 0) return blocked(dims, block);
  return {dims, kFloat, Tag::any};
}

class CompiledConvolution final : public Convolution {
 public:
  CompiledConvolution(const kernels::ConvGeometry& g, const std::vector<std::int64_t>& pads_end, bool has_bias, int threads)
      : threads_(threads) {
    set_threads(threads);
    const ConvDims d = dims_of(g, pads_end);
    x_ = plain(d.x);
    w_ = plain(d.w);
    y_ = plain(d.y);
    bias_ = has_bias ? plain(d.bias) : Desc();
    // Layouts follow from the geometry alone: the order of the sums may go with them.
    const Desc any_x(d.x, kFloat, Tag::any), any_y(d.y, kFloat, Tag::any);
    const bool depthwise = g.groups > 1 && g.in_channels == 1 && g.out_channels == 1 && g.groups % 16 == 0;
    if (g.groups == 1 || depthwise || (g.in_channels % 16 == 0 && g.out_channels % 16 == 0)) {
      choose(d, preferred(d.x), preferred(d.y));
    }
    if (!usable() && !depthwise) choose(d, any_x, any_y);
    if (usable()) primitive_ = dnnl::convolution_forward(chosen_);
  }

  // False where the library has nothing but its reference code, which is slower than any other.
  bool usable() const { return chosen_ && !std::string_view(chosen_.impl_info_str()).starts_with("ref"); }

  std::int64_t output_block() const override { return block_of(chosen_.dst_desc()); }

  void run(const float* x, std::int64_t x_block, const float* w, bool constant_weights, const float* bias, float* y,
           std::int64_t y_block) override {
    set_threads(threads_);
    const Desc x_given = blocked(x_.dims(), x_block), y_given = blocked(y_.dims(), y_block);
    const Desc x_desc = chosen_.src_desc(), w_desc = chosen_.weights_desc(), y_desc = chosen_.dst_desc();
    const Desc scratch_desc = chosen_.scratchpad_desc();
    Buffer x_buffer, y_buffer, scratch;
    if (x_desc != x_given) {
      x_buffer = Buffer(x_desc);
      rearrange(x_given, x, x_desc, x_buffer.data());
    }
    if (y_desc != y_given) y_buffer = Buffer(y_desc);
    if (scratch_desc.get_size() > 0) scratch = Buffer(scratch_desc);
    Buffer weights = packed_;
    if (!weights && w_desc != w_) {
      weights = Buffer(w_desc);
      rearrange(w_, w, w_desc, weights.data());
      if (constant_weights) packed_ = weights;
    }
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, wrap(x_desc, x_buffer ? x_buffer.data() : x)},
        {DNNL_ARG_WEIGHTS, wrap(w_desc, weights ? weights.data() : w)},
        {DNNL_ARG_DST, wrap(y_desc, y_buffer ? y_buffer.data() : y)},
        {DNNL_ARG_SCRATCHPAD, wrap(scratch_desc, scratch.data())},
    };
    if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, wrap(bias_, bias));
    primitive_.execute(stream(), arguments);
    if (y_buffer) rearrange(y_desc, y_buffer.data(), y_given, y);
    stream().wait();
  }

 private:
  void choose(const ConvDims& d, const Desc& x, const Desc& y) {
    const Desc w(d.w, kFloat, Tag::any);
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const auto description =
        !bias_.is_zero() ? dnnl::convolution_forward::desc(kind, algorithm, x, w, bias_, y, d.strides, d.dilations, d.pads_begin, d.pads_end)
              : dnnl::convolution_forward::desc(kind, algorithm, x, w, y, d.strides, d.dilations, d.pads_begin, d.pads_end);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    try {
      chosen_ = dnnl::convolution_forward::primitive_desc(description, attributes, engine());
    } catch (const dnnl::error&) {
      chosen_ = {};
    }
  }

  int threads_;
  Desc x_, w_, bias_, y_;  // as the tensors are
  dnnl::convolution_forward::primitive_desc chosen_;
  dnnl::convolution_forward primitive_;
  Buffer packed_;
};

}  // namespace

bool multiply(std::int64_t m, std::int64_t n, std::int64_t k, kernels::MatrixView<float> a, kernels::MatrixView<float> b,
              float* y, std::int64_t y_stride, int threads) {
  const auto fits = [](const kernels::MatrixView<float>& v) { return v.column_stride == 1 || v.row_stride == 1; };
  if (!fits(a) || !fits(b) || m == 0 || n == 0 || k == 0) return false;
  set_threads(threads);
  // A leading dimension has to be at least the length of a line, also where there is only one.
  const auto leading = [](const kernels::MatrixView<float>& v, bool transposed, std::int64_t rows, std::int64_t columns) {
    return std::max(transposed ? v.column_stride : v.row_stride, transposed ? rows : columns);
  };
  const bool a_transposed = a.column_stride != 1, b_transposed = b.column_stride != 1;
  return dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1.0f, a.data, leading(a, a_transposed, m, k),
                    b.data, leading(b, b_transposed, k, n), 0.0f, y, y_stride) == dnnl_success;
}

std::unique_ptr<Convolution> Convolution::make(const kernels::ConvGeometry& geometry, const std::vector<std::int64_t>& pads_end,
                                               bool has_bias, int threads) {
  if (geometry.axes.size() > 3) return nullptr;
  try {
    auto compiled = std::make_unique<CompiledConvolution>(geometry, pads_end, has_bias, threads);
    if (!compiled->usable()) return nullptr;
    return compiled;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace lppool::onednn

#else

namespace lppool::onednn {

bool multiply(std::int64_t, std::int64_t, std::int64_t, kernels::MatrixView<float>, kernels::MatrixView<float>, float*,
              std::int64_t, int) {
  return false;
}

std::unique_ptr<Convolution> Convolution::make(const kernels::ConvGeometry&, const std::vector<std::int64_t>&, bool, int) {
  return nullptr;
}

}  // namespace lppool::onednn

#endif
