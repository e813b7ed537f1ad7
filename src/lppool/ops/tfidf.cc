// TfIdfVectorizer: how often n-grams of a pool occur in each row, skipping up to a number of items between their parts.
#include <algorithm>
#include <map>

#include "lppool/base/interrupt.h"
#include "lppool/ops/contents.h"
#include "lppool/ops/movement.h"
#include "lppool/ops/op.h"

namespace lppool {
namespace {

constexpr OpVersion kTfIdfVectorizerVersions[] = {
    {9, "X:T", "Y:T1",
     "max_gram_length!:int max_skip_count!:int min_gram_length!:int mode!:string ngram_counts!:ints ngram_indexes!:ints "
     "pool_int64s:ints pool_strings:strings weights:floats",
     "T=string|int32|int64; T1=float32"}};

// The output columns: one more than the largest index.
std::int64_t columns(const AttributeView& attributes) {
  std::int64_t most = -1;
  for (const std::int64_t index : attributes.ints("ngram_indexes")) {
    if (index < 0 || index >= (std::int64_t{1} << 40)) fail(ErrorKind::kRuntime, "ngram_indexes has {}, expected 0 or more", index);
    most = std::max(most, index);
  }
  return most + 1;
}

void infer_tf_idf_vectorizer(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  std::optional<std::vector<Dim>> result;
  if (shape != nullptr) {
    if (shape->empty() || shape->size() > 2) fail(ErrorKind::kRuntime, "input has shape {}, expected C or NxC", to_string(*shape));
    result = *shape;
    result->back() = Dim(columns(ctx.attributes));
    if (ctx.explaining) ctx.explain(0, result->size() - 1, fmt::format("{} (the largest of ngram_indexes and 1)", result->back().to_string()));
  }
  ctx.set_output(0, DataType::kFloat32, std::move(result));
}

// n-grams as a tree: a path of n items from the root leads to the n-gram's number, -1 where the pool has only longer ones.
template <typename Item>
struct Tree {
  std::int64_t gram = -1;
  std::map<Item, Tree> next;
};

struct Settings {
  std::int64_t least_length, most_length, skips;
  std::vector<std::int64_t> starts, indexes;  // where the n-grams of each length begin in the pool; columns
};

// The pool lists all 1-grams, then all 2-grams and so on; `starts` says where each length begins.
template <typename Item>
Tree<Item> build_tree(const std::vector<Item>& pool, const Settings& settings) {
  Tree<Item> root;
  std::int64_t gram = 0;
  for (std::size_t n = 1; n <= settings.starts.size(); ++n) {
    const std::int64_t begin = settings.starts[n - 1];
    const std::int64_t end = n < settings.starts.size() ? settings.starts[n] : std::ssize(pool);
    if (begin < 0 || end < begin || end > std::ssize(pool) || (end - begin) % static_cast<std::int64_t>(n) != 0) {
      fail(ErrorKind::kRuntime, "ngram_counts puts {}-grams at {} to {} of a pool of {}", n, begin, end, pool.size());
    }
    if (n > 1000 && end > begin) fail(ErrorKind::kLimit, "{}-grams, at most 1000-grams are allowed", n);
    for (std::int64_t at = begin; at < end; at += static_cast<std::int64_t>(n), ++gram) {
      if (gram >= std::ssize(settings.indexes)) {
        fail(ErrorKind::kRuntime, "ngram_indexes has {} values, fewer than the pool has n-grams", settings.indexes.size());
      }
      Tree<Item>* place = &root;
      for (std::size_t k = 0; k < n; ++k) place = &place->next[pool[static_cast<std::size_t>(at) + k]];
      place->gram = gram;
    }
  }
  if (gram != std::ssize(settings.indexes)) {
    fail(ErrorKind::kRuntime, "ngram_indexes has {} values, expected {} as the pool has n-grams", settings.indexes.size(), gram);
  }
  return root;
}

// Counts each n-gram in one row. Steps of 1 to skips + 1 items lie between their parts; single items are counted once.
template <typename Item>
void count_row(std::span<const Item> row, const Tree<Item>& root, const Settings& settings, std::vector<float>& counts) {
  const std::int64_t length = std::ssize(row);
  for (std::int64_t step = 1; step <= settings.skips + 1; ++step) {
    const std::int64_t least = std::max<std::int64_t>(settings.least_length, step == 1 ? 1 : 2);
    if (least > settings.most_length || (least > 1 && step >= length)) break;
    check_interrupt();
    for (std::int64_t start = 0; start < length; ++start) {
      const Tree<Item>* place = &root;
      std::int64_t at = start;
      for (std::int64_t n = 1; n <= settings.most_length && at < length; ++n, at += step) {
        const auto found = place->next.find(row[static_cast<std::size_t>(at)]);
        if (found == place->next.end()) break;
        place = &found->second;
        if (n >= least && place->gram >= 0) counts[static_cast<std::size_t>(place->gram)] += 1;
      }
    }
  }
}

// Weighs the counts by `weigh(gram, count)` and adds them up in the columns that the n-grams go to.
template <typename Item, typename F>
void count_all(std::span<const Item> items, std::int64_t rows, const Tree<Item>& root, const Settings& settings, const F& weigh,
               Tensor& out, ThreadPool& threads) {
  if (rows == 0) return;
  const std::int64_t width = out.size() / rows, length = std::ssize(items) / rows;
  threads.parallel_for(rows, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> counts(settings.indexes.size());
    for (std::int64_t r = begin; r < end; ++r) {
      std::ranges::fill(counts, 0.0f);
      count_row(items.subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length)), root, settings, counts);
      float* row = out.mutable_data<float>().data() + r * width;
      for (std::size_t gram = 0; gram < counts.size(); ++gram) row[settings.indexes[gram]] += weigh(gram, counts[gram]);
    }
  });
}

void run_tf_idf_vectorizer(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const AttributeView& attributes = ctx.attributes;
  const Settings settings{attributes.i("min_gram_length"), attributes.i("max_gram_length"), attributes.i("max_skip_count"),
                          attributes.ints("ngram_counts"), attributes.ints("ngram_indexes")};
  if (settings.least_length < 1 || settings.most_length < settings.least_length || settings.skips < 0) {
    fail(ErrorKind::kRuntime, "min_gram_length {}, max_gram_length {} and max_skip_count {} do not go together",
         settings.least_length, settings.most_length, settings.skips);
  }
  const std::string mode = attributes.s("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") fail(ErrorKind::kRuntime, "mode is '{}', expected TF, IDF or TFIDF", mode);
  const std::int64_t width = columns(attributes);
  const auto weights = attributes.floats("weights");
  // A weight for each n-gram, in the order of the pool.
  if (!weights.empty() && weights.size() != settings.indexes.size()) {
    fail(ErrorKind::kRuntime, "weights has {} values, expected {} as ngram_indexes", weights.size(), settings.indexes.size());
  }
  if (data.rank() < 1 || data.rank() > 2) fail(ErrorKind::kRuntime, "input has shape {}, expected C or NxC", to_string(data.shape()));
  const std::int64_t rows = data.rank() == 1 ? 1 : data.shape()[0];
  Tensor& out = ctx.output(0, DataType::kFloat32, data.rank() == 1 ? Shape{width} : Shape{rows, width});
  std::ranges::fill(out.mutable_data<float>(), 0.0f);
  const bool frequency = mode == "TF", once = mode == "IDF";
  const auto weigh = [&](std::size_t gram, float count) {
    const float weight = frequency || weights.empty() ? 1.0f : weights[gram];
    return weight * (once ? std::min(count, 1.0f) : count);
  };
  if (data.dtype() == DataType::kString) {
    count_all(data.strings(), rows, build_tree(attributes.strings("pool_strings"), settings), settings, weigh, out, ctx.threads());
  } else {
    const auto items = int_values(data, "input");
    count_all(std::span<const std::int64_t>(items), rows, build_tree(attributes.ints("pool_int64s"), settings), settings, weigh,
              out, ctx.threads());
  }
}

}  // namespace

extern const OpDef kTfIdfVectorizer;
const OpDef kTfIdfVectorizer = {
    .domain = "",
    .type = "TfIdfVectorizer",
    .summary = "Counts the n-grams of a pool in each row, plain or weighted.",
    .versions = kTfIdfVectorizerVersions,
    .infer = infer_tf_idf_vectorizer,
    .run = run_tf_idf_vectorizer,
};

}  // namespace lppool
