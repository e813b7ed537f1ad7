#include <catch2/catch.hpp>

#include "lppool/ops/unicode.h"
#include "support/run_op.h"

using namespace lppool;
using namespace lppool::test;

namespace {

using Words = std::vector<std::string>;

Tensor words(Shape shape, Words values) { return Tensor::of<std::string>(std::move(shape), values); }
Words words_of(const Tensor& tensor) { return {tensor.strings().begin(), tensor.strings().end()}; }
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("StringConcat joins with broadcasting", "[ops][StringConcat]") {
  const Tensor y = run_op1({"StringConcat", 20, {words({2, 1}, {"a", "b"}), words({2}, {"x", ""})}});
  CHECK(to_string(y.shape()) == "2x2");
  CHECK(words_of(y) == Words{"ax", "a", "bx", "b"});
  CHECK_THROWS_AS(run_op1({"StringConcat", 20, {words({2}, {"a", "b"}), words({3}, {"", "", ""})}}), Error);
}

TEST_CASE("StringConcat refuses to outgrow memory", "[ops][StringConcat]") {
  const std::size_t limit = memory::limit();
  const Tensor x = words({1}, {std::string(1000, 'x')});
  memory::set_limit(memory::in_use() + 1500);
  CHECK_THROWS_AS(run_op1({"StringConcat", 20, {x, x}}), Error);
  memory::set_limit(limit);
}

TEST_CASE("StringSplit splits at a delimiter or at white space, as Python does", "[ops][StringSplit]") {
  const auto split = [](const std::string& text, std::vector<Attribute> attributes) {
    const auto out = run_op({"StringSplit", 20, {words({1}, {text})}, std::move(attributes), 2});
    CHECK(to_doubles(out[1].tensor()) == Numbers{static_cast<double>(out[0].tensor().size())});
    return words_of(out[0].tensor());
  };
  CHECK(split("a,b,,c", {attr_s("delimiter", ",")}) == Words{"a", "b", "", "c"});
  CHECK(split("a,b,,c", {attr_s("delimiter", ","), attr_i("maxsplit", 1)}) == Words{"a", "b,,c"});
  CHECK(split("", {attr_s("delimiter", ",")}) == Words{""});
  CHECK(split("a--b-c", {attr_s("delimiter", "--")}) == Words{"a", "b-c"});
  CHECK(split("  a \t b\xE3\x80\x80" "c ", {}) == Words{"a", "b", "c"});  // U+3000 is white space
  CHECK(split(" a  b c  ", {attr_i("maxsplit", 1)}) == Words{"a", "b c"});
  CHECK(split(" a b ", {attr_i("maxsplit", 0)}) == Words{"a b"});
  CHECK(split("   ", {}) == Words{});
}

TEST_CASE("StringSplit fills shorter lists up", "[ops][StringSplit]") {
  const auto out = run_op({"StringSplit", 20, {words({2}, {"a b c", "d"})}, {}, 2});
  CHECK(to_string(out[0].tensor().shape()) == "2x3");
  CHECK(words_of(out[0].tensor()) == Words{"a", "b", "c", "d", "", ""});
  CHECK(to_doubles(out[1].tensor()) == Numbers{3, 1});
  const auto none = run_op({"StringSplit", 20, {words({0}, {})}, {}, 2});
  CHECK(to_string(none[0].tensor().shape()) == "0x0");
}

TEST_CASE("StringNormalizer removes stop words, then changes case", "[ops][StringNormalizer]") {
  const Tensor x = words({4}, {"Monday", "tuesday", "MONDAY", "Z"});
  const auto run = [&](std::vector<Attribute> attributes) {
    attributes.push_back(attr_strings("stopwords", {"monday"}));
    return words_of(run_op1({"StringNormalizer", 10, {x}, std::move(attributes)}));
  };
  CHECK(run({}) == Words{"tuesday", "Z"});
  CHECK(run({attr_i("is_case_sensitive", 1)}) == Words{"Monday", "tuesday", "MONDAY", "Z"});
  CHECK(run({attr_s("case_change_action", "UPPER")}) == Words{"TUESDAY", "Z"});
  const Tensor row = run_op1({"StringNormalizer", 10, {words({1, 2}, {"a", "A"})}, {attr_strings("stopwords", {"a"})}});
  CHECK(to_string(row.shape()) == "1x1");
  CHECK(words_of(row) == Words{""});
  CHECK_THROWS_AS(run_op1({"StringNormalizer", 10, {words({2, 1}, {"a", "A"})}}), Error);
  CHECK_THROWS_AS(run({attr_s("case_change_action", "lower")}), Error);
}

TEST_CASE("case changes without the system's locales, and refuses what it does not know", "[ops][StringNormalizer]") {
  CHECK(change_case("Zürich ÅÆ", LetterCase::kUpper) == "ZÜRICH ÅÆ");
  CHECK(change_case("ЁЖИК", LetterCase::kLower) == "ёжик");
  CHECK(change_case("αβγ ώ", LetterCase::kUpper) == "ΑΒΓ Ώ");
  CHECK(change_case("Čeština Łódź", LetterCase::kLower) == "čeština łódź");
  CHECK(change_case("東京 123 ÷", LetterCase::kUpper) == "東京 123 ÷");
  CHECK_THROWS_AS(change_case("straße", LetterCase::kUpper), Error);  // becomes SS
  CHECK_THROWS_AS(change_case("ΟΔΟΣ", LetterCase::kLower), Error);    // a final sigma
  CHECK_THROWS_AS(change_case("\xC3", LetterCase::kLower), Error);
  CHECK_THROWS_AS(change_case("\xC0\x80", LetterCase::kLower), Error);
}

TEST_CASE("RegexFullMatch matches the whole string, in linear time", "[ops][RegexFullMatch]") {
  if (find_op("", "RegexFullMatch")->run == nullptr) return;
  const auto match = [](Words texts, const std::string& pattern) {
    const auto count = static_cast<std::int64_t>(texts.size());
    return to_doubles(run_op1({"RegexFullMatch", 20, {words({count}, std::move(texts))}, {attr_s("pattern", pattern)}}));
  };
  CHECK(match({"abc", "abcd", ""}, "[a-c]+") == Numbers{1, 0, 0});
  CHECK(match({"www.google.com", "www.bing.com"}, R"(www\.[\w.-]+\.\bcom\b)") == Numbers{1, 1});
  CHECK(match({std::string(100000, 'a')}, "(a*)*b") == Numbers{0});
  CHECK_THROWS_AS(match({"a"}, "("), Error);
  CHECK_THROWS_AS(match({"a"}, "(?=a)a"), Error);
}
