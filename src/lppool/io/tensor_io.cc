#include "lppool/io/tensor_io.h"

#include "lppool/base/atomic_file.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/io/text_tensor.h"
#include "lppool/npy/npz.h"

namespace lppool {
namespace {

constexpr struct {
  TensorFileFormat format;
  std::string_view name, extension;
} kFormats[] = {{TensorFileFormat::kPb, "pb", ".pb"},
                {TensorFileFormat::kNpy, "npy", ".npy"},
                {TensorFileFormat::kNpz, "npz", ".npz"},
                {TensorFileFormat::kText, "text", ".txt"}};

NamedTensor read_member(const NpzReader& archive, const std::string& name, const ReadTensorOptions& options) {
  return {name, archive.read(name, {options.expected})};
}

// The tensor in bytes that are no archive.
NamedTensor read_single(const std::shared_ptr<const FileBytes>& bytes, const std::filesystem::path& path,
                        const ReadTensorOptions& options) {
  const std::string shown = shown_name(path);
  if (looks_like_npy(bytes->view())) return {"", parse_npy(bytes->view(), bytes, shown, {options.expected})};
  if (looks_like_text_tensor(bytes->view())) return parse_text_tensor(bytes->view(), shown);
  // A .npy file that lost its first bytes is better called that than a broken TensorProto.
  if (format_of(path) == TensorFileFormat::kNpy) return {"", parse_npy(bytes->view(), bytes, shown, {options.expected})};
  if (format_of(path) == TensorFileFormat::kText) return parse_text_tensor(bytes->view(), shown);
  return parse_tensor(bytes->view(), path == "-" ? std::filesystem::path() : std::filesystem::absolute(path).parent_path(),
                      shown);
}

bool is_archive(const FileBytes& bytes, const std::filesystem::path& path) {
  return looks_like_zip(bytes.view()) || (format_of(path) == TensorFileFormat::kNpz && !looks_like_npy(bytes.view()));
}

}  // namespace

std::optional<TensorFileFormat> parse_tensor_file_format(std::string_view name) {
  for (const auto& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

std::string_view name(TensorFileFormat format) {
  for (const auto& row : kFormats) {
    if (row.format == format) return row.name;
  }
  return "";
}

std::optional<TensorFileFormat> format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  for (const auto& row : kFormats) {
    if (row.extension == extension) return row.format;
  }
  return std::nullopt;
}

NamedTensor read_any_tensor(const std::filesystem::path& path, const ReadTensorOptions& options) {
  return read_any_tensor(FileBytes::open(path), path, options);
}

NamedTensor read_any_tensor(const std::shared_ptr<const FileBytes>& bytes, const std::filesystem::path& path,
                            const ReadTensorOptions& options) {
  if (!is_archive(*bytes, path)) return read_single(bytes, path, options);
  const NpzReader archive(bytes, shown_name(path));
  const auto& names = archive.names();
  if (names.empty()) fail(ErrorKind::kParse, "{}: an archive without .npy members", shown_name(path));
  if (!options.member.empty() && archive.contains(options.member)) return read_member(archive, options.member, options);
  if (names.size() == 1 && options.member.empty()) return read_member(archive, names.front(), options);
  const std::string wanted = options.member.empty() ? "none of them was named" : fmt::format("no '{}' among them", options.member);
  fail(ErrorKind::kUsage, "{}: holds the arrays {}; {}", shown_name(path), fmt::join(names, ", "), wanted);
}

std::vector<NamedTensor> read_all_tensors(const std::filesystem::path& path, const ReadTensorOptions& options) {
  return read_all_tensors(FileBytes::open(path), path, options);
}

std::vector<NamedTensor> read_all_tensors(const std::shared_ptr<const FileBytes>& bytes, const std::filesystem::path& path,
                                          const ReadTensorOptions& options) {
  std::vector<NamedTensor> tensors;
  if (is_archive(*bytes, path)) {
    const NpzReader archive(bytes, shown_name(path));
    for (const std::string& name : archive.names()) tensors.push_back(read_member(archive, name, options));
  } else {
    tensors.push_back(read_single(bytes, path, options));
  }
  return tensors;
}

void write_tensors(const std::filesystem::path& path, TensorFileFormat format, const std::vector<NamedTensor>& tensors,
                   const WriteTensorOptions& options) {
  if (format == TensorFileFormat::kNpz) {
    NpzWriter archive(path, options.deflate);
    int unnamed = 0;
    for (const NamedTensor& t : tensors) {
      archive.add(t.name.empty() ? fmt::format("arr_{}", unnamed++) : t.name, t.tensor, options.npy_form);
    }
    archive.finish();
    return;
  }
  if (tensors.size() != 1) {
    fail(ErrorKind::kUsage, "{} tensors do not go into one .{} file; a .npz holds several", tensors.size(), name(format));
  }
  const NamedTensor& t = tensors.front();
  switch (format) {
    case TensorFileFormat::kPb: write_tensor(path, t.name, t.tensor); break;
    case TensorFileFormat::kNpy: write_npy(path, t.tensor, options.npy_form); break;
    case TensorFileFormat::kText: write_file(path, to_text(t.name, t.tensor)); break;
    case TensorFileFormat::kNpz: break;
  }
}

}  // namespace lppool
