// What a dump leaves behind when it cannot go on. A limit on the size of files stands for a full disk.
#include "lppool/dump/tensor_folder.h"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "lppool/npy/npz.h"
#include "support/scratch.h"

using namespace lppool;

namespace {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

// Adds tensors of so many elements until there is no more room, and gives up; how many there were.
std::size_t fill(const std::filesystem::path& folder, FolderFormat format, std::int64_t elements, rlim_t limit) {
  const FileSizeLimit full(limit);
  std::size_t added = 0;
  const auto end = [&] {
    TensorFolder dump(folder, {"m.onnx", format, NpyForm::kVoid});
    for (; added < 10'000; ++added) {
      const auto value = static_cast<float>(added);
      dump.add("t" + std::to_string(added), Value(Tensor::of<float>({elements}, std::vector<float>(static_cast<std::size_t>(elements), value))), {"intermediate", "n", "Op"});
    }
  };
  try {
    end();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kIo) return added;
  }
  return SIZE_MAX;
}

nlohmann::json index_of(const Scratch& scratch) { return nlohmann::json::parse(slurp(scratch / "d/index.json")); }

// The archive holds what the index lists, in full.
void require_same(const Scratch& scratch, std::size_t count) {
  const NpzReader archive(scratch / "d/tensors.npz");
  const auto index = index_of(scratch);
  REQUIRE(archive.names().size() == count);
  REQUIRE(index["tensors"].size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "t" + std::to_string(i);
    CHECK(index["tensors"][i]["name"] == name);
    CHECK(index["tensors"][i]["file"] == "tensors.npz");
    CHECK(archive.read(name).data<float>()[0] == static_cast<float>(i));
  }
}

}  // namespace

TEST_CASE("A full disk leaves an archive of the tensors that went before", "[dump]") {
  const Scratch scratch;
  const std::size_t added = fill(scratch / "d", FolderFormat::kNpz, 1000, 30'000);
  CHECK(added == 7);  // each 4000 bytes of elements, 128 of .npy and about as many of zip
  require_same(scratch, added);
}

TEST_CASE("Where not even the archive's directory has room, the last tensors give way", "[dump]") {
  const Scratch scratch;
  // 192 or 256 bytes a member and some 50 in the directory, which has less than one member's room left at first.
  const std::size_t added = fill(scratch / "d", FolderFormat::kNpz, 1, 30'000);
  REQUIRE(added > 50);
  REQUIRE(added < 200);
  const std::size_t left = index_of(scratch)["tensors"].size();
  CHECK(left > added / 2);
  CHECK(left < added);
  require_same(scratch, left);
}

TEST_CASE("A full disk leaves the .npy files that went before, and an index of them", "[dump]") {
  const Scratch scratch;
  {
    const FileSizeLimit full(5'000);
    TensorFolder dump(scratch / "d", {"m.onnx", FolderFormat::kNpy, NpyForm::kVoid});
    dump.add("small", Value(Tensor::of<float>({2}, {1, 2})), {"intermediate", "n", "Op"});
    CHECK(error_of([&] { dump.add("large", Value(Tensor::zeros(DataType::kFloat32, {2000})), {"intermediate", "n", "Op"}); }).first == ErrorKind::kIo);
  }
  REQUIRE(index_of(scratch)["tensors"].size() == 1);
  CHECK(index_of(scratch)["tensors"][0]["file"] == "small.npy");
  CHECK(read_npy(scratch / "d/small.npy").data<float>()[1] == 2);
  CHECK_FALSE(std::filesystem::exists(scratch / "d/large.npy"));
}

TEST_CASE("An archive goes on after a member that did not fit", "[npy]") {
  const Scratch scratch;
  {
    const FileSizeLimit full(3'000);
    NpzWriter archive(scratch / "a.npz");
    archive.add("a", Tensor::of<float>({1}, {1}));
    CHECK(error_of([&] { archive.add("big", Tensor::zeros(DataType::kFloat32, {1000})); }).first == ErrorKind::kIo);
    archive.add("big", Tensor::of<float>({1}, {2}));
    archive.finish();
  }
  const NpzReader archive(scratch / "a.npz");
  CHECK(archive.names() == std::vector<std::string>{"a", "big"});
  CHECK(archive.read("big").data<float>()[0] == 2);
}
