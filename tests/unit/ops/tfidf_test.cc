#include <catch2/catch.hpp>

#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

using Numbers = std::vector<double>;

// 1-grams 2 3 5 4, 2-grams (5 6) (7 8) (6 7), in columns 0 to 6.
std::vector<Attribute> pool(std::int64_t least, std::int64_t most, std::int64_t skips, std::string mode) {
  return {attr_i("min_gram_length", least), attr_i("max_gram_length", most), attr_i("max_skip_count", skips), attr_s("mode", mode),
          attr_ints("ngram_counts", {0, 4}), attr_ints("ngram_indexes", {0, 1, 2, 3, 4, 5, 6}),
          attr_ints("pool_int64s", {2, 3, 5, 4, 5, 6, 7, 8, 6, 7})};
}
Numbers count(const Tensor& x, std::vector<Attribute> attributes) { return to_doubles(run_op1({"TfIdfVectorizer", 9, {x}, attributes})); }

const Tensor kRow = Tensor::of<std::int32_t>({12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8});

}  // namespace

TEST_CASE("TfIdfVectorizer counts n-grams with and without skips", "[ops][TfIdfVectorizer]") {
  CHECK(count(kRow, pool(2, 2, 0, "TF")) == Numbers{0, 0, 0, 0, 1, 1, 1});
  CHECK(count(kRow, pool(1, 2, 0, "TF")) == Numbers{0, 3, 1, 0, 1, 1, 1});
  const Tensor gaps = Tensor::of<std::int64_t>({4}, {5, 0, 6, 6});
  CHECK(count(gaps, pool(2, 2, 0, "TF")) == Numbers{0, 0, 0, 0, 0, 0, 0});
  CHECK(count(gaps, pool(2, 2, 1, "TF")) == Numbers{0, 0, 0, 0, 1, 0, 0});
  CHECK(count(gaps, pool(2, 2, 5, "TF")) == Numbers{0, 0, 0, 0, 2, 0, 0});
  // Single items are counted once, whatever the skips.
  CHECK(count(gaps, pool(1, 2, 5, "TF")) == Numbers{0, 0, 1, 0, 2, 0, 0});
}

TEST_CASE("TfIdfVectorizer weighs, row by row", "[ops][TfIdfVectorizer]") {
  auto attributes = pool(1, 1, 0, "IDF");
  attributes.push_back(attr_floats("weights", {2, 3, 4, 5, 6, 7, 8}));
  const Tensor rows = Tensor::of<std::int64_t>({2, 2}, {3, 3, 5, 9});
  CHECK(count(rows, attributes) == Numbers{0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0});
  attributes[3] = attr_s("mode", "TFIDF");
  CHECK(count(rows, attributes) == Numbers{0, 6, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0});
  CHECK(count(Tensor::zeros(DataType::kInt64, {0}), attributes) == Numbers(7, 0));
}

TEST_CASE("TfIdfVectorizer takes strings and refuses pools that do not fit", "[ops][TfIdfVectorizer]") {
  std::vector<Attribute> attributes = {attr_i("min_gram_length", 1), attr_i("max_gram_length", 1), attr_i("max_skip_count", 0),
                                       attr_s("mode", "TF"), attr_ints("ngram_counts", {0}), attr_ints("ngram_indexes", {1, 0}),
                                       attr_strings("pool_strings", {"a", "b"})};
  CHECK(count(Tensor::of<std::string>({3}, {"a", "b", "a"}), attributes) == Numbers{1, 2});
  attributes[5] = attr_ints("ngram_indexes", {1});
  CHECK_THROWS_AS(count(Tensor::of<std::string>({1}, {"a"}), attributes), Error);
  attributes[4] = attr_ints("ngram_counts", {5});
  CHECK_THROWS_AS(count(Tensor::of<std::string>({1}, {"a"}), attributes), Error);
}
