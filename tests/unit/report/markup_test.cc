#include "lppool/report/markup.h"

#include <catch2/catch.hpp>

using namespace lppool::report;

TEST_CASE("Text from a model cannot leave the text of a page", "[report]") {
  CHECK(escape("<script>alert('x')</script>") == "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
  CHECK(escape("\" onload=\"x") == "&quot; onload=&quot;x");
  CHECK(escape("a&amp;b") == "a&amp;amp;b");
  CHECK(escape(std::string("a\0b\x1b\xff", 5)) == "a\\x00b\\x1b\\xff");
  CHECK(escape("größe 形") == "größe 形");
}

TEST_CASE("Text from a model cannot leave a string of Graphviz", "[report]") {
  CHECK(escape_dot("a\"];b[label=\"") == "a\\\"];b[label=\\\"");
  CHECK(escape_dot("a\\") == "a\\\\");
  CHECK(escape_dot("a\nb") == "a\\\\x0ab");
}

TEST_CASE("Text is measured and cut by columns", "[report]") {
  CHECK(columns("abc") == 3);
  CHECK(columns("ä形") == 3);
  CHECK(shortened("abcdef", 6) == "abcdef");
  CHECK(shortened("abcdefg", 6) == "abcde…");
  CHECK(shortened("形形形形", 5) == "形形…");
}

TEST_CASE("Sizes and times read well", "[report]") {
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(200.0 * 1024 * 1024) == "200 MiB");
  CHECK(seconds_text(2.5) == "2.50 s");
  CHECK(seconds_text(0.0123) == "12.3 ms");
  CHECK(seconds_text(0.00123) == "1.23 ms");
  CHECK(seconds_text(0.000123) == "123 µs");
  CHECK(number_text(-1.5) == "−1.5");
}
