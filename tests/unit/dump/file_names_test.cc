#include "lppool/dump/file_names.h"

#include <catch2/catch.hpp>

using namespace lppool;

TEST_CASE("Tensor names become file names that stay inside the folder and apart", "[dump]") {
  FileNames names;
  CHECK(names.unique("a/b:0", ".npy") == "a_b_0.npy");
  CHECK(names.unique("a_b_0", ".npy") == "a_b_0~2.npy");
  CHECK(names.unique("A_B_0", ".npy") == "A_B_0~3.npy");  // some file systems do not tell them apart
  CHECK(names.unique("..", ".npy") == "_..npy");
  CHECK(names.unique("", ".npy") == "_.npy");
  CHECK(names.unique("../../etc/passwd", ".npy") == "_._.._etc_passwd.npy");
  names.reserve("index.json");
  CHECK(names.unique("index", ".json") == "index~2.json");
}

TEST_CASE("Long names are cut and stay apart", "[dump]") {
  FileNames names;
  const std::string a(500, 'n'), b = a + "x";
  const std::string first = names.unique(a, ".npy"), second = names.unique(b, ".npy");
  CHECK(first.size() <= FileNames::kMaxLength + 4);
  CHECK(first != second);
}
