#include "lppool/dump/file_names.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>

namespace lppool {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// FNV-1a: the same on every machine, so that a long name keeps its file name.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

}  // namespace

std::string FileNames::unique(std::string_view tensor_name, std::string_view extension) {
  std::string base;
  for (const char c : tensor_name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    base += plain ? c : '_';
  }
  if (base.empty()) base = "_";
  if (base.front() == '.' || base.front() == '-') base.front() = '_';
  if (base.size() > kMaxLength) base = fmt::format("{}_{:016x}", base.substr(0, kMaxLength - 17), hash(tensor_name));
  std::string candidate = base + std::string(extension);
  for (int n = 2; !taken_.insert(lower(candidate)).second; ++n) candidate = fmt::format("{}~{}{}", base, n, extension);
  return candidate;
}

void FileNames::reserve(std::string_view file) { taken_.insert(lower(std::string(file))); }

}  // namespace lppool
