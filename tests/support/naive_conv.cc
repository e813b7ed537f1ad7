#include "support/naive_conv.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "lppool/ops/numbers.h"
#include "support/random.h"
#include "support/run_op.h"

namespace lppool::test {
namespace {

// Calls body(index of each axis) for all index vectors below the sizes, last axis fastest.
template <typename Body>
void for_all(const std::vector<std::int64_t>& sizes, Body&& body) {
  for (const std::int64_t size : sizes) {
    if (size == 0) return;
  }
  std::vector<std::int64_t> at(sizes.size(), 0);
  while (true) {
    body(at);
    std::size_t axis = sizes.size();
    while (axis > 0 && ++at[axis - 1] == sizes[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

std::vector<std::int64_t> sizes_of(const std::vector<NaiveAxis>& axes, std::int64_t NaiveAxis::*size) {
  std::vector<std::int64_t> sizes;
  for (const NaiveAxis& axis : axes) sizes.push_back(axis.*size);
  return sizes;
}

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result *= size;
  return result;
}

std::int64_t flat(const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& sizes) {
  std::int64_t index = 0;
  for (std::size_t a = 0; a < at.size(); ++a) index = index * sizes[a] + at[a];
  return index;
}

// Flat input position of window element `tap` of output `at`, -1 outside.
std::int64_t position(const std::vector<NaiveAxis>& axes, const std::vector<std::int64_t>& at,
                      const std::vector<std::int64_t>& tap) {
  std::int64_t index = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::int64_t p = at[a] * axes[a].stride - axes[a].pad_begin + tap[a] * axes[a].dilation;
    if (p < 0 || p >= axes[a].in) return -1;
    index = index * axes[a].in + p;
  }
  return index;
}

}  // namespace

std::vector<double> varied_numbers(std::int64_t count, std::uint64_t stream) {
  testing::Random random(stream);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(random.between(-63, 63) / 32.0);
  return values;
}

Tensor varied_tensor(DataType dtype, Shape shape, std::uint64_t stream) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  const std::vector<double> values = varied_numbers(tensor.size(), stream);
  store(std::span<const double>(values), tensor);
  return tensor;
}

std::vector<double> naive_conv(const std::vector<double>& x, const std::vector<double>& w, const std::vector<double>& bias,
                               std::int64_t batch, std::int64_t groups, std::int64_t in_channels,
                               std::int64_t out_channels, const std::vector<NaiveAxis>& axes) {
  const auto out = sizes_of(axes, &NaiveAxis::out), kernel = sizes_of(axes, &NaiveAxis::kernel);
  const std::int64_t in_size = product(sizes_of(axes, &NaiveAxis::in)), kernel_size = product(kernel);
  std::vector<double> y;
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t m = 0; m < groups * out_channels; ++m) {
      const std::int64_t group = m / out_channels;
      for_all(out, [&](const std::vector<std::int64_t>& at) {
        double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(m)];
        for (std::int64_t c = 0; c < in_channels; ++c) {
          for_all(kernel, [&](const std::vector<std::int64_t>& tap) {
            const std::int64_t p = position(axes, at, tap);
            if (p < 0) return;
            const std::int64_t plane = (n * groups + group) * in_channels + c;
            sum += w[static_cast<std::size_t>((m * in_channels + c) * kernel_size + flat(tap, kernel))] *
                   x[static_cast<std::size_t>(plane * in_size + p)];
          });
        }
        y.push_back(sum);
      });
    }
  }
  return y;
}

std::vector<double> naive_conv_transpose(const std::vector<double>& x, const std::vector<double>& w,
                                         const std::vector<double>& bias, std::int64_t batch, std::int64_t groups,
                                         std::int64_t in_channels, std::int64_t out_channels,
                                         const std::vector<NaiveAxis>& axes) {
  const auto out = sizes_of(axes, &NaiveAxis::out), kernel = sizes_of(axes, &NaiveAxis::kernel);
  const std::int64_t y_size = product(sizes_of(axes, &NaiveAxis::in)), kernel_size = product(kernel);
  const std::int64_t x_size = product(out);
  std::vector<double> y(static_cast<std::size_t>(batch * groups * out_channels * y_size), 0.0);
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t m = 0; m < out_channels; ++m) {
        const std::int64_t base = ((n * groups + g) * out_channels + m) * y_size;
        for (std::int64_t i = 0; i < y_size; ++i) {
          y[static_cast<std::size_t>(base + i)] = bias.empty() ? 0 : bias[static_cast<std::size_t>(g * out_channels + m)];
        }
        for (std::int64_t c = 0; c < in_channels; ++c) {
          const std::int64_t channel = g * in_channels + c;
          for_all(out, [&](const std::vector<std::int64_t>& at) {
            const double value = x[static_cast<std::size_t>((n * groups * in_channels + channel) * x_size + flat(at, out))];
            for_all(kernel, [&](const std::vector<std::int64_t>& tap) {
              const std::int64_t p = position(axes, at, tap);
              if (p < 0) return;
              y[static_cast<std::size_t>(base + p)] +=
                  value * w[static_cast<std::size_t>((channel * out_channels + m) * kernel_size + flat(tap, kernel))];
            });
          });
        }
      }
    }
  }
  return y;
}

void require_close(const Tensor& actual, const std::vector<double>& expected, double relative) {
  const std::vector<double> values = to_doubles(actual);
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i, values[i], expected[i], relative);
    if (std::isnan(expected[i])) {
      REQUIRE(std::isnan(values[i]));
    } else if (std::isinf(expected[i])) {
      REQUIRE(values[i] == expected[i]);
    } else if (!(std::abs(values[i] - expected[i]) <= relative * std::max(1.0, std::abs(expected[i])))) {
      FAIL("numbers differ");
    }
  }
}

}  // namespace lppool::test
