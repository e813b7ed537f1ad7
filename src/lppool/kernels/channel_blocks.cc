#include "lppool/kernels/channel_blocks.h"

#include <algorithm>

#include "lppool/kernels/isa.h"
#include "lppool/kernels/window.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lppool/kernels/channel_blocks.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef LPPOOL_KERNELS_CHANNEL_BLOCKS_JOB
#define LPPOOL_KERNELS_CHANNEL_BLOCKS_JOB
namespace lppool::kernels {

// One output row of one group: for each place the input rows' places `taps`, combined down the rows first, then along
// them.
struct BlockRow {
  const float* const* rows;
  std::size_t row_count;
  const Taps* taps;      // of each place
  const double* counts;  // divisors of each place; averages only
  std::int64_t places, block;
  float* y;
};

struct BlockScale {
  const float* x;
  float* y;
  std::int64_t places, block;
  const float *mean, *factor, *term;
};

}  // namespace lppool::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace lppool::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Blocks are multiples of 8, so that vectors of up to 8 always fit and longer ones do where the block is long enough.
using Float = hn::CappedTag<float, 8>;
using Double = hn::CappedTag<double, 8>;
using Narrow = hn::Rebind<float, Double>;

template <typename V>
HWY_INLINE V larger(V a, V b) {
  return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);  // as Max::combine of pool.cc
}

template <typename D>
HWY_INLINE void max_row(const BlockRow& job) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t o = 0; o < job.places; ++o) {
    const Taps taps = job.taps[o];
    for (std::int64_t lane = 0; lane < job.block; lane += lanes) {
      auto value = hn::Zero(d);
      for (std::int64_t i = 0; i < taps.count; ++i) {
        const std::int64_t at = (taps.first + i * taps.step) * job.block + lane;
        auto column = hn::LoadU(d, job.rows[0] + at);
        for (std::size_t r = 1; r < job.row_count; ++r) column = larger(column, hn::LoadU(d, job.rows[r] + at));
        value = i == 0 ? column : larger(value, column);
      }
      hn::StoreU(value, d, job.y + o * job.block + lane);
    }
  }
}

void max_pool_block_row(const BlockRow& job) {
  const hn::CappedTag<float, 16> wide;
  if (job.block % static_cast<std::int64_t>(hn::Lanes(wide)) == 0) {
    max_row<hn::CappedTag<float, 16>>(job);
  } else {
    max_row<Float>(job);
  }
}

void average_pool_block_row(const BlockRow& job) {
  const Double d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto wide = [&](const float* from) { return hn::PromoteTo(d, hn::LoadU(Narrow(), from)); };
  for (std::int64_t o = 0; o < job.places; ++o) {
    const Taps taps = job.taps[o];
    for (std::int64_t lane = 0; lane < job.block; lane += lanes) {
      auto value = hn::Zero(d);
      for (std::int64_t i = 0; i < taps.count && job.row_count > 0; ++i) {
        const std::int64_t at = (taps.first + i * taps.step) * job.block + lane;
        auto column = wide(job.rows[0] + at);
        for (std::size_t r = 1; r < job.row_count; ++r) column = hn::Add(column, wide(job.rows[r] + at));
        value = i == 0 ? column : hn::Add(value, column);
      }
      value = hn::Div(value, hn::Set(d, job.counts[o]));
      float* y = job.y + o * job.block + lane;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
      double parts[hn::MaxLanes(Double())];  // Highway's own narrowing saturates there
      hn::StoreU(value, d, parts);
      for (std::int64_t k = 0; k < lanes; ++k) y[k] = static_cast<float>(parts[k]);
#else
      hn::StoreU(hn::DemoteTo(Narrow(), value), Narrow(), y);
#endif
    }
  }
}

void scale_block(const BlockScale& job) {
  const Float d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < job.block; lane += lanes) {
    const auto mean = hn::LoadU(d, job.mean + lane), factor = hn::LoadU(d, job.factor + lane),
               term = hn::LoadU(d, job.term + lane);
    for (std::int64_t i = 0; i < job.places; ++i) {
      const std::int64_t at = i * job.block + lane;
      hn::StoreU(hn::Add(hn::Mul(hn::Sub(hn::LoadU(d, job.x + at), mean), factor), term), d, job.y + at);
    }
  }
}

}  // namespace lppool::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lppool::kernels {

HWY_EXPORT(max_pool_block_row);
HWY_EXPORT(average_pool_block_row);
HWY_EXPORT(scale_block);

namespace {

std::size_t chosen_index() {
  hwy::ChosenTarget chosen;
  chosen.Update(allowed_targets());
  return chosen.GetIndex();
}

// The windows along one axis.
std::vector<Taps> windows_of(const PoolAxis& axis) {
  std::vector<Taps> taps;
  for (std::int64_t o = 0; o < axis.out; ++o) taps.push_back(clip_window(axis, o));
  return taps;
}

// Calls row(job, output row index) for every output row of every group, with the job's rows filled in.
template <typename Row>
void for_each_row(const float* x, float* y, const BlockGeometry& geometry, ThreadPool& pool, Row&& row) {
  const PoolAxis& last = geometry.axes.back();
  const std::size_t outer = geometry.axes.size() - 1;
  const std::vector<Taps> line = windows_of(last);
  std::vector<std::vector<Taps>> taps;
  std::int64_t in_rows = 1, out_rows = 1;
  for (std::size_t a = 0; a < outer; ++a) {
    taps.push_back(windows_of(geometry.axes[a]));
    in_rows *= geometry.axes[a].in;
    out_rows *= geometry.axes[a].out;
  }
  const std::int64_t in_row = last.in * geometry.block, out_row = last.out * geometry.block;
  pool.parallel_for(geometry.groups * out_rows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<const float*> rows;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t group = r / out_rows;
      // Row numbers within the group: every axis multiplies what the axes before it have found.
      std::vector<std::int64_t> numbers(1, 0);
      std::int64_t rest = r % out_rows, after = out_rows;
      for (std::size_t a = 0; a < outer; ++a) {
        after /= geometry.axes[a].out;
        const Taps& window = taps[a][static_cast<std::size_t>(rest / after)];
        rest %= after;
        std::vector<std::int64_t> next;
        for (const std::int64_t number : numbers) {
          for (std::int64_t i = 0; i < window.count; ++i) {
            next.push_back(number * geometry.axes[a].in + window.first + i * window.step);
          }
        }
        numbers = std::move(next);
      }
      rows.clear();
      for (const std::int64_t number : numbers) rows.push_back(x + (group * in_rows + number) * in_row);
      row(BlockRow{rows.data(), rows.size(), line.data(), nullptr, last.out, geometry.block, y + r * out_row},
          r % out_rows);
    }
  });
}

}  // namespace

void max_pool_blocks(const float* x, float* y, const BlockGeometry& geometry, ThreadPool& pool) {
  const auto kernel = HWY_DISPATCH_TABLE(max_pool_block_row)[chosen_index()];
  for_each_row(x, y, geometry, pool, [&](const BlockRow& job, std::int64_t) { kernel(job); });
}

void average_pool_blocks(const float* x, float* y, const BlockGeometry& geometry,
                         const std::vector<std::vector<std::int64_t>>& counts, ThreadPool& pool) {
  const auto kernel = HWY_DISPATCH_TABLE(average_pool_block_row)[chosen_index()];
  const std::size_t outer = geometry.axes.size() - 1;
  for_each_row(x, y, geometry, pool, [&](BlockRow job, std::int64_t row) {
    double others = 1;
    for (std::size_t a = outer; a-- > 0;) {
      others *= static_cast<double>(counts[a][static_cast<std::size_t>(row % geometry.axes[a].out)]);
      row /= geometry.axes[a].out;
    }
    std::vector<double> divisors;
    for (const std::int64_t count : counts[outer]) divisors.push_back(others * static_cast<double>(count));
    job.counts = divisors.data();
    kernel(job);
  });
}

void scale_blocks(const float* x, float* y, std::int64_t groups, std::int64_t places, std::int64_t block,
                  const std::vector<float>& mean, const std::vector<float>& factor, const std::vector<float>& term,
                  ThreadPool& pool) {
  const auto kernel = HWY_DISPATCH_TABLE(scale_block)[chosen_index()];
  const std::int64_t in_image = std::ssize(mean) / block;
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, places * block));
  pool.parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const std::int64_t at = group * places * block, channel = group % in_image * block;
      kernel({x + at, y + at, places, block, mean.data() + channel, factor.data() + channel, term.data() + channel});
    }
  });
}

}  // namespace lppool::kernels
#endif
