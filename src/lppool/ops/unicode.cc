#include "lppool/ops/unicode.h"

#include "lppool/base/error.h"

namespace lppool {
namespace {

// Letters whose cases lie a fixed distance apart, or alternate (upper case first on an even or an odd number).
struct CaseRange {
  char32_t first, last;  // of the upper-case letters (alternating: of both)
  int distance;          // lower - upper; 0: neighbours, upper case even; -1: neighbours, upper case odd
};
constexpr CaseRange kCased[] = {
    {'A', 'Z', 32},           {0x00C0, 0x00D6, 32},  {0x00D8, 0x00DE, 32},   // Latin-1
    {0x0100, 0x012F, 0},      {0x0132, 0x0137, 0},   {0x0139, 0x0148, -1},   // Latin Extended-A
    {0x014A, 0x0177, 0},      {0x0179, 0x017E, -1},                          // (dotted and dotless i left out)
    {0x0391, 0x03A1, 32},     {0x03A3, 0x03AB, 32},  {0x0388, 0x038A, 37},   // Greek
    {0x0400, 0x040F, 80},     {0x0410, 0x042F, 32},  {0x0460, 0x0481, 0},    // Cyrillic
    {0x048A, 0x04BF, 0},      {0x04C1, 0x04CE, -1},  {0x04D0, 0x052F, 0},    //
    {0x0531, 0x0556, 48},                                                    // Armenian
};
struct CasePair {
  char32_t upper, lower;
};
constexpr CasePair kPairs[] = {{0x0178, 0x00FF}, {0x0386, 0x03AC}, {0x038C, 0x03CC}, {0x038E, 0x03CD}, {0x038F, 0x03CE},
                               {0x04C0, 0x04CF}};

// Ranges where no character has case (or, in the first ones, those that do are in the tables above).
struct Range {
  char32_t first, last;
};
constexpr Range kCaseless[] = {
    {0x0000, 0x00B4}, {0x00B6, 0x00DE}, {0x00E0, 0x012F}, {0x0132, 0x0148}, {0x014A, 0x017E}, {0x02B9, 0x0344},
    {0x0346, 0x036F}, {0x0387, 0x0387}, {0x0482, 0x0489}, {0x0559, 0x055F}, {0x0589, 0x109F}, {0x1100, 0x139F},
    {0x1400, 0x1BFF}, {0x2000, 0x20FF}, {0x2190, 0x24B5}, {0x24EA, 0x2BFF}, {0x2E00, 0xA63F}, {0xA6F0, 0xA721},
    {0xA800, 0xAB2F}, {0xABC0, 0xD7FF}, {0xE000, 0xFAFF}, {0xFB1D, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFFFF},
    {0x1F000, 0x1FAFF}, {0x20000, 0x3FFFF},
};

// Letters that are in the ranges above but have another letter of the other case elsewhere, or two of them.
bool special(char32_t c, LetterCase to) {
  switch (c) {
    case 0x03C2: return true;                            // final sigma: depends on the word
    case 0x03A3: return to == LetterCase::kLower;        // so does sigma on its way down
    case 0x0149: case 0x0130: case 0x0131: case 0x017F: case 0x00DF: case 0x00B5: case 0x0390: case 0x03B0: return true;
    case 0x0587: return to == LetterCase::kUpper;
    default: return false;
  }
}

// The character in the wanted case, where the tables know it.
std::optional<char32_t> in_case(char32_t c, LetterCase to) {
  if (special(c, to)) return std::nullopt;
  for (const CasePair& pair : kPairs) {
    if (c == pair.upper || c == pair.lower) return to == LetterCase::kLower ? pair.lower : pair.upper;
  }
  for (const CaseRange& range : kCased) {
    if (range.distance <= 0) {
      if (c < range.first || c > range.last) continue;
      const bool upper = (c % 2 == 0) == (range.distance == 0);
      if (to == LetterCase::kLower) return upper ? c + 1 : c;
      return upper ? c : c - 1;
    }
    const auto distance = static_cast<char32_t>(range.distance);
    if (c >= range.first && c <= range.last) return to == LetterCase::kLower ? c + distance : c;
    if (c >= range.first + distance && c <= range.last + distance) return to == LetterCase::kLower ? c : c - distance;
  }
  for (const Range& range : kCaseless) {
    if (c >= range.first && c <= range.last) return c;
  }
  return std::nullopt;
}

}  // namespace

std::optional<char32_t> next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
  if (more < 0 || text.size() - at <= static_cast<std::size_t>(more)) return std::nullopt;
  char32_t c = more == 0 ? lead : lead & (0x3Fu >> more);
  for (int k = 1; k <= more; ++k) {
    const unsigned char next = byte(at + static_cast<std::size_t>(k));
    if ((next & 0xC0) != 0x80) return std::nullopt;
    c = c << 6 | (next & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // longer forms of the same number are not allowed
  if (c < kLeast[more] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return std::nullopt;
  at += static_cast<std::size_t>(more) + 1;
  return c;
}

void append_character(std::string& text, char32_t c) {
  const auto put = [&](char32_t bits) { text.push_back(static_cast<char>(bits)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string change_case(std::string_view text, LetterCase to) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_character(text, at);
    if (!c) fail(ErrorKind::kRuntime, "a string is not valid UTF-8 at byte {}", at);
    const auto changed = in_case(*c, to);
    if (!changed) {
      fail(ErrorKind::kUnsupported, "{} case of U+{:04X}, supported for Latin up to U+017F, Greek, Cyrillic and Armenian",
           to == LetterCase::kLower ? "lower" : "upper", static_cast<std::uint32_t>(*c));
    }
    append_character(result, *changed);
  }
  return result;
}

}  // namespace lppool
