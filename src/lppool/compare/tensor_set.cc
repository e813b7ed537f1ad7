#include "lppool/compare/tensor_set.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/io/tensor_io.h"
#include "lppool/npy/npz.h"
#include "lppool/onnx/tensor_file.h"

namespace lppool {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

// "conv2" before "conv10": runs of digits count as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view s, std::size_t at) {
    std::size_t end = at;
    while (end < s.size() && digit(s[end])) ++end;
    while (at + 1 < end && s[at] == '0') ++at;
    return s.substr(at, end - at);
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::string_view x = number(a, i), y = number(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      while (i < a.size() && digit(a[i])) ++i;
      while (j < b.size() && digit(b[j])) ++j;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

TensorEntry entry_of(const Json& item, const fs::path& folder, const std::string& shown) {
  if (!item.is_object() || text(item, "name").empty()) fail(ErrorKind::kParse, "{}: a tensor without a name", shown);
  TensorEntry entry;
  entry.name = text(item, "name");
  entry.dtype = text(item, "dtype");
  entry.kind = text(item, "kind");
  entry.producer = text(item, "producer");
  entry.op_type = text(item, "op_type");
  entry.member = text(item, "member");
  const fs::path file = text(item, "file");
  if (file.empty()) return entry;
  // An index says where its own files lie and nothing else.
  const fs::path normal = file.lexically_normal();
  if (file.is_absolute() || *normal.begin() == "..") {
    fail(ErrorKind::kParse, "{}: tensor '{}' is in '{}', expected a file in the folder", shown, entry.name, file.string());
  }
  entry.file = folder / file;
  entry.stem = entry.member.empty() ? fs::path(file).replace_extension().string() : entry.member;
  return entry;
}

TensorSet from_index(const fs::path& folder, const fs::path& index) {
  TensorSet set;
  set.has_index = true;
  const Json document = Json::parse(FileBytes::open(index)->view(), nullptr, false);
  if (!document.is_object() || !document.contains("tensors") || !document["tensors"].is_array()) {
    fail(ErrorKind::kParse, "{}: not an index of tensors: no array \"tensors\"", index.string());
  }
  for (const Json& item : document["tensors"]) set.entries.push_back(entry_of(item, folder, index.string()));
  return set;
}

void add_file(TensorSet& set, const fs::path& file, const std::string& name, bool alone) {
  if (format_of(file) != TensorFileFormat::kNpz) {
    TensorEntry entry;
    entry.name = entry.stem = name;
    entry.file = file;
    set.entries.push_back(std::move(entry));
    return;
  }
  const NpzReader archive(file);
  for (const std::string& member : archive.names()) {
    TensorEntry entry;
    entry.name = entry.stem = alone || archive.names().size() > 1 ? member : name;
    entry.file = file;
    entry.member = member;
    set.entries.push_back(std::move(entry));
  }
}

TensorSet from_files(const fs::path& folder) {
  TensorSet set;
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error), end;
  for (; !error && walk != end; walk.increment(error)) {
    const fs::path& path = walk->path();
    if (path.filename().string().starts_with('.')) {
      if (walk->is_directory()) walk.disable_recursion_pending();
      continue;
    }
    if (!walk->is_regular_file() || !format_of(path)) continue;
    add_file(set, path, path.lexically_relative(folder).replace_extension().generic_string(), false);
  }
  if (error) fail(ErrorKind::kIo, "{}: cannot be read: {}", folder.string(), error.message());
  std::sort(set.entries.begin(), set.entries.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return natural_less(a.name, b.name); });
  return set;
}

std::string safe(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return out;
}

// The entries of one set by some key; a key that two entries share stands for neither.
class Lookup {
 public:
  template <typename Key>
  Lookup(const TensorSet& set, Key key) {
    for (std::size_t i = 0; i < set.entries.size(); ++i) {
      const std::string k = key(set.entries[i]);
      if (k.empty()) continue;
      const auto [at, fresh] = index_.emplace(k, static_cast<std::int64_t>(i));
      if (!fresh) at->second = -1;
    }
  }
  std::int64_t find(const std::string& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? -1 : found->second;
  }

 private:
  std::map<std::string, std::int64_t> index_;
};

std::string name_inside(const TensorEntry& entry) {
  if (entry.file.empty() || format_of(entry.file) != TensorFileFormat::kPb) return "";
  try {
    return read_tensor(entry.file).name;
  } catch (const Error&) {  // it will be reported when its values are read
    return "";
  }
}

}  // namespace

TensorSet TensorSet::open(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const fs::path index = path / "index.json";
    return fs::exists(index, error) ? from_index(path, index) : from_files(path);
  }
  TensorSet set;
  if (path != "-" && !fs::exists(path, error)) FileBytes::open(path);  // says why not
  add_file(set, path, path.stem().string(), true);
  return set;
}

Value read_entry(const TensorEntry& entry) {
  if (entry.file.empty()) return {};
  if (entry.dtype.starts_with("seq(")) {
    Type type;
    type.kind = Type::Kind::kSequence;
    return read_value(entry.file, type).value;
  }
  const DataType expected = parse_dtype(entry.dtype).value_or(DataType::kUndefined);
  return read_any_tensor(entry.file, {expected, entry.member}).tensor;
}

std::vector<TensorPair> pair_up(const TensorSet& a, const TensorSet& b) {
  std::vector<std::int64_t> partner_of_a(a.entries.size(), -1), partner_of_b(b.entries.size(), -1);
  const auto match = [&](auto key_a, auto key_b) {
    const Lookup in_a(a, key_a), in_b(b, key_b);
    for (std::size_t i = 0; i < a.entries.size(); ++i) {
      if (partner_of_a[i] >= 0) continue;
      const std::string key = key_a(a.entries[i]);
      const std::int64_t j = key.empty() || in_a.find(key) < 0 ? -1 : in_b.find(key);
      if (j < 0 || partner_of_b[static_cast<std::size_t>(j)] >= 0) continue;
      partner_of_a[i] = j;
      partner_of_b[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(i);
    }
  };
  const auto name = [](const TensorEntry& e) { return e.name; };
  const auto stem = [](const TensorEntry& e) { return e.stem; };
  match(name, name);
  match(name, stem);
  match(stem, name);
  match(stem, stem);
  match([](const TensorEntry& e) { return safe(e.name); }, [](const TensorEntry& e) { return safe(e.name); });
  match([](const TensorEntry& e) { return safe(e.stem); }, [](const TensorEntry& e) { return safe(e.stem); });
  const bool left = std::count(partner_of_a.begin(), partner_of_a.end(), -1) > 0 &&
                    std::count(partner_of_b.begin(), partner_of_b.end(), -1) > 0;
  if (left && !a.has_index) match(name_inside, name);
  if (left && !b.has_index) match(name, name_inside);

  std::vector<TensorPair> pairs;
  const bool by_b = b.has_index && !a.has_index;
  const std::size_t first = by_b ? b.entries.size() : a.entries.size();
  for (std::size_t i = 0; i < first; ++i) {
    const auto self = static_cast<std::int64_t>(i);
    pairs.push_back(by_b ? TensorPair{partner_of_b[i], self} : TensorPair{self, partner_of_a[i]});
  }
  const auto& others = by_b ? partner_of_a : partner_of_b;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i] >= 0) continue;
    pairs.push_back(by_b ? TensorPair{static_cast<std::int64_t>(i), -1} : TensorPair{-1, static_cast<std::int64_t>(i)});
  }
  return pairs;
}

}  // namespace lppool
