#include "lppool/io/tensor_io.h"

#include <catch2/catch.hpp>

#include "support/scratch.h"

using namespace lppool;

TEST_CASE("A tensor is read by what its bytes are", "[io]") {
  const Scratch scratch;
  const NamedTensor t{"x", Tensor::of<float>({2}, {1, 2})};
  for (const TensorFileFormat format : {TensorFileFormat::kPb, TensorFileFormat::kNpy, TensorFileFormat::kNpz, TensorFileFormat::kText}) {
    const auto path = scratch / "file.bin";
    write_tensors(path, format, {t});
    const NamedTensor read = read_any_tensor(path);
    CAPTURE(name(format));
    CHECK(read.name == (format == TensorFileFormat::kNpy ? "" : "x"));
    CHECK(read.tensor.data<float>()[1] == 2.0f);
    CHECK(read_all_tensors(path).size() == 1);
  }
}

TEST_CASE("An array of an archive is chosen by name", "[io]") {
  const Scratch scratch;
  write_tensors(scratch / "x.npz", TensorFileFormat::kNpz,
                {{"a", Tensor::scalar(1.0f)}, {"", Tensor::scalar(2.0f)}, {"b", Tensor::scalar(3.0f)}}, {NpyForm::kVoid, true});
  CHECK(read_any_tensor(scratch / "x.npz", {DataType::kUndefined, "b"}).tensor.data<float>()[0] == 3.0f);
  CHECK(read_any_tensor(scratch / "x.npz", {DataType::kUndefined, "arr_0"}).tensor.data<float>()[0] == 2.0f);
  CHECK(error_of([&] { read_any_tensor(scratch / "x.npz"); }).first == ErrorKind::kUsage);
  CHECK(error_of([&] { read_any_tensor(scratch / "x.npz", {DataType::kUndefined, "c"}); }).first == ErrorKind::kUsage);
  CHECK(read_all_tensors(scratch / "x.npz").size() == 3);
  CHECK(error_of([&] { write_tensors(scratch / "y.npy", TensorFileFormat::kNpy, read_all_tensors(scratch / "x.npz")); }).first ==
        ErrorKind::kUsage);
}

TEST_CASE("A damaged file is named by what it is called", "[io]") {
  const Scratch scratch;
  CHECK(error_of([&] { read_any_tensor(scratch.put("a.npy", "garbage")); }).second.find("not a .npy") != std::string::npos);
  CHECK(error_of([&] { read_any_tensor(scratch.put("a.npz", "garbage")); }).second.find("not a .npz") != std::string::npos);
  CHECK(error_of([&] { read_any_tensor(scratch.put("a.pb", "garbage")); }).second.find("TensorProto") != std::string::npos);
  CHECK(error_of([&] { read_any_tensor(scratch.put("a.npz", "PK\5\6" + std::string(18, '\0'))); }).first == ErrorKind::kParse);
}
