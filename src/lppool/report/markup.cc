#include "lppool/report/markup.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "lppool/base/text.h"

namespace lppool::report {
namespace {

// The character at `at` of valid UTF-8, and its length in bytes. Bytes that are none count as one character each.
std::pair<std::uint32_t, std::size_t> decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(at);
  const std::size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 1 || at + length > text.size()) return {first, 1};
  std::uint32_t code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(at + i) & 0x3Fu);
  return {code, length};
}

// Unicode's East Asian wide blocks, roughly: only the drawing's spacing depends on it.
std::size_t width_of(std::uint32_t code) {
  if (code >= 0x300 && code < 0x370) return 0;  // combining marks
  const bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2E80 && code < 0xA4D0) || (code >= 0xAC00 && code < 0xD7A4) ||
                    (code >= 0xF900 && code < 0xFB00) || (code >= 0xFE30 && code < 0xFE70) || (code >= 0xFF00 && code < 0xFF61) ||
                    (code >= 0x1F300 && code < 0x1FB00) || (code >= 0x20000 && code < 0x40000);
  return wide ? 2 : 1;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string escape_dot(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, length] = decode(text, at);
    sum += width_of(code);
    at += length;
  }
  return sum;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (columns(text) <= most) return std::string(text);
  std::size_t at = 0, sum = 0;
  while (at < text.size()) {
    const auto [code, length] = decode(text, at);
    if (sum + width_of(code) + 1 > most) break;
    sum += width_of(code);
    at += length;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} byte{}", bytes, bytes == 1 ? "" : "s");
  const char* unit = "bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = larger;
  }
  return fmt::format("{:.{}f} {}", bytes, bytes < 100 ? 1 : 0, unit);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 1e-2 ? 2 : 1);
  return fmt::format("{:.{}f} µs", seconds * 1e6, seconds < 1e-5 ? 1 : 0);
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

}  // namespace lppool::report
