#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lppool {

// Text from a file made safe to print: control characters and bytes that are not UTF-8 become \xNN, everything else
// stays. Longer than `most` bytes: cut at a character, with "..." appended.
std::string printable(std::string_view text, std::size_t most = 1000);

// The candidate fewest edits (insert, delete, replace, swap of neighbours; case counts half) away from `word`, if that
// is at most a third of its length; the first of equals. For "did you mean".
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lppool
