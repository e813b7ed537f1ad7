#include "lppool/compare/tensor_set.h"

#include <catch2/catch.hpp>

#include "lppool/npy/npz.h"
#include "lppool/onnx/tensor_file.h"
#include "support/scratch.h"

using namespace lppool;

namespace {

std::vector<std::string> names(const TensorSet& set) {
  std::vector<std::string> out;
  for (const TensorEntry& e : set.entries) out.push_back(e.name);
  return out;
}

// Pairs as "a=b", with "-" for a missing side.
std::vector<std::string> paired(const TensorSet& a, const TensorSet& b) {
  std::vector<std::string> out;
  for (const TensorPair& p : pair_up(a, b)) {
    out.push_back((p.a < 0 ? "-" : a.entries.at(static_cast<std::size_t>(p.a)).name) + "=" +
                  (p.b < 0 ? "-" : b.entries.at(static_cast<std::size_t>(p.b)).name));
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("A folder without index is ordered by name, numbers as numbers", "[compare][TensorSet]") {
  const Scratch scratch;
  for (const char* name : {"conv10.npy", "conv2.npy", "a/b.npy", "conv2a.npy"}) {
    std::filesystem::create_directories((scratch / name).parent_path());
    write_npy(scratch / name, Tensor::scalar(1.0f));
  }
  scratch.put("notes.md", "no tensor");
  scratch.put(".hidden.npy", "no tensor");
  const TensorSet set = TensorSet::open(scratch.folder());
  CHECK(names(set) == Names{"a/b", "conv2", "conv2a", "conv10"});
  CHECK_FALSE(set.has_index);
  CHECK(read_entry(set.entries[0]).tensor().data<float>()[0] == 1.0f);
}

TEST_CASE("An index gives names, order and types", "[compare][TensorSet]") {
  const Scratch scratch;
  write_npy(scratch / "z_0.npy", Tensor::of<BFloat16>({1}, {BFloat16(1.5f)}));
  NpzWriter archive(scratch / "tensors.npz");
  archive.add("m", Tensor::scalar(2.0f));
  archive.finish();
  scratch.put("index.json", R"({"schema_version": 1, "model": "m.onnx", "tensors": [
    {"name": "z:0", "file": "z_0.npy", "kind": "output", "producer": "pool", "op_type": "LpPool", "dtype": "bfloat16"},
    {"name": "a", "file": "tensors.npz", "member": "m", "dtype": "float32", "producer": null},
    {"name": "nothing", "file": null}]})");
  const TensorSet set = TensorSet::open(scratch.folder());
  CHECK(set.has_index);
  CHECK(names(set) == Names{"z:0", "a", "nothing"});
  CHECK(set.entries[0].producer == "pool");
  CHECK(set.entries[0].stem == "z_0");
  CHECK(read_entry(set.entries[0]).tensor().dtype() == DataType::kBFloat16);
  CHECK(read_entry(set.entries[1]).tensor().data<float>()[0] == 2.0f);
  CHECK(read_entry(set.entries[2]).empty());
}

TEST_CASE("A damaged index is refused", "[compare][TensorSet]") {
  for (const char* text : {"", "{", "[]", "{\"tensors\": 1}", "{\"tensors\": [1]}", "{\"tensors\": [{\"file\": \"x.npy\"}]}",
                           "{\"tensors\": [{\"name\": \"x\", \"file\": \"../x.npy\"}]}",
                           "{\"tensors\": [{\"name\": \"x\", \"file\": \"/etc/passwd\"}]}",
                           "{\"tensors\": [{\"name\": \"x\", \"file\": \"a/../../x.npy\"}]}"}) {
    const Scratch scratch;
    scratch.put("index.json", text);
    CAPTURE(text);
    CHECK(error_of([&] { TensorSet::open(scratch.folder()); }).first == ErrorKind::kParse);
  }
}

TEST_CASE("Tensors are paired by name however their files are called", "[compare][TensorSet]") {
  const Scratch ours, theirs;
  ours.put("index.json", R"({"tensors": [{"name": "x/y:0", "file": "x_y_0.npy"}, {"name": "plain", "file": "p.npy"},
                                         {"name": "gone", "file": "gone.npy"}, {"name": "in pb", "file": "in_pb.npy"}]})");
  write_npy(theirs / "extra.npy", Tensor::scalar(0.0f));
  write_npy(theirs / "plain.npy", Tensor::scalar(0.0f));
  write_npy(theirs / "x_y:0.npy", Tensor::scalar(0.0f));
  write_tensor(theirs / "output_0.pb", "in pb", Tensor::scalar(0.0f));
  const TensorSet a = TensorSet::open(ours.folder()), b = TensorSet::open(theirs.folder());
  CHECK(paired(a, b) == Names{"x/y:0=x_y:0", "plain=plain", "gone=-", "in pb=output_0", "-=extra"});
  CHECK(paired(b, a) == Names{"x_y:0=x/y:0", "plain=plain", "-=gone", "output_0=in pb", "extra=-"});
}

TEST_CASE("A name that two files could mean is left alone", "[compare][TensorSet]") {
  const Scratch ours, theirs;
  ours.put("index.json", R"({"tensors": [{"name": "a/b", "file": "1.npy"}, {"name": "a:b", "file": "2.npy"}]})");
  write_npy(theirs / "a_b.npy", Tensor::scalar(0.0f));
  CHECK(paired(TensorSet::open(ours.folder()), TensorSet::open(theirs.folder())) == Names{"a/b=-", "a:b=-", "-=a_b"});
}

TEST_CASE("A single file and an archive are sets, too", "[compare][TensorSet]") {
  const Scratch scratch;
  write_npy(scratch / "y.npy", Tensor::scalar(1.0f));
  NpzWriter archive(scratch / "all.npz");
  archive.add("a", Tensor::scalar(1.0f));
  archive.add("b", Tensor::scalar(2.0f));
  archive.finish();
  CHECK(names(TensorSet::open(scratch / "y.npy")) == Names{"y"});
  CHECK(names(TensorSet::open(scratch / "all.npz")) == Names{"a", "b"});
  CHECK(error_of([&] { TensorSet::open(scratch / "none.npz"); }).first == ErrorKind::kIo);
}
