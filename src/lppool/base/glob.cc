#include "lppool/base/glob.h"

#include <cstddef>

namespace lppool {
namespace {

// Matches one pattern element at `p` against `c`; `next` becomes the position after the element.
bool match_one(std::string_view pattern, std::size_t p, char c, std::size_t& next) {
  if (pattern[p] == '?') {
    next = p + 1;
    return true;
  }
  if (pattern[p] == '[') {
    std::size_t i = p + 1;
    const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (negated) ++i;
    bool inside = false;
    for (bool first = true; i < pattern.size() && (pattern[i] != ']' || first); first = false) {
      if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
        inside = inside || (pattern[i] <= c && c <= pattern[i + 2]);
        i += 3;
      } else {
        inside = inside || pattern[i] == c;
        ++i;
      }
    }
    if (i < pattern.size()) {  // closed; an open bracket stands for itself
      next = i + 1;
      return inside != negated;
    }
  }
  if (pattern[p] == '\\' && p + 1 < pattern.size()) ++p;
  next = p + 1;
  return pattern[p] == c;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t p = 0, t = 0, star = kNone, star_text = 0;
  while (t < text.size()) {
    std::size_t next = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && match_one(pattern, p, text[t], next)) {
      p = next;
      ++t;
    } else if (star != kNone) {  // the last star takes one character more
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace lppool
