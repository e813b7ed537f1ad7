#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "lppool/base/atomic_file.h"
#include "lppool/base/file_bytes.h"
#include "support/scratch.h"

using namespace lppool;
namespace fs = std::filesystem;

TEST_CASE("A file appears when it is committed and not before", "[base][AtomicFile]") {
  const Scratch scratch;
  const fs::path path = scratch / "out";
  {
    AtomicFile file(path);
    file.write("new");
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(fs::is_empty(scratch.folder()));
  write_file(path, "new");
  CHECK(slurp(path) == "new");
  {
    AtomicFile file(path);
    file.write("lost");
  }
  CHECK(slurp(path) == "new");
}

TEST_CASE("Replacing a file keeps its mode and its link", "[base][AtomicFile]") {
  const Scratch scratch;
  scratch.put("real", "old");
  chmod((scratch / "real").c_str(), 0600);
  fs::create_symlink("real", scratch / "link");
  write_file(scratch / "link", "new");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(slurp(scratch / "real") == "new");
  struct stat info {};
  REQUIRE(stat((scratch / "real").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("A file that cannot be written is an IO error that names it", "[base][AtomicFile]") {
  const Scratch scratch;
  for (const fs::path& path : {scratch / "no/such/folder", scratch.folder()}) {
    const auto [kind, message] = error_of([&] { write_file(path, "x"); });
    CHECK(kind == ErrorKind::kIo);
    CHECK(message.find(path.string()) != std::string::npos);
  }
  CHECK(error_of([] { write_file("/dev/full", "x"); }).first == ErrorKind::kIo);
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("A name as long as names can be is written", "[base][AtomicFile]") {
  const Scratch scratch;
  write_file(scratch / std::string(255, 'n'), "x");
  CHECK(slurp(scratch / std::string(255, 'n')) == "x");
}

TEST_CASE("The bytes of a file are those it holds", "[base][FileBytes]") {
  const Scratch scratch;
  CHECK(FileBytes::open(scratch.put("a", std::string("\0b", 2)))->view() == std::string_view("\0b", 2));
  CHECK(FileBytes::open(scratch.put("empty", ""))->view().empty());
  CHECK(FileBytes::open("/proc/self/status")->size() > 0);  // says it is empty
  CHECK(error_of([&] { FileBytes::open(scratch / "none"); }).first == ErrorKind::kIo);
  CHECK(error_of([&] { FileBytes::open(scratch.folder()); }).first == ErrorKind::kIo);
  CHECK(error_of([&] { FileBytes::open(scratch / "a", 1); }).first == ErrorKind::kLimit);
}
