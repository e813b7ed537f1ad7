#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The little Unicode that string operators need, the same on every platform whatever its locales.
namespace lppool {

// Reads the UTF-8 character at `at` and moves past it; empty where the bytes are no valid UTF-8.
std::optional<char32_t> next_character(std::string_view text, std::size_t& at);
void append_character(std::string& text, char32_t character);

// What Python's str.split() takes for white space.
bool is_white_space(char32_t character);

enum class LetterCase { kLower, kUpper };
// The text in lower or upper case, character by character (Unicode's simple mapping): Latin up to U+017F, Greek, Cyrillic
// and Armenian letters; characters of scripts that know no case stay. Throws kRuntime for invalid UTF-8 and kUnsupported
// for characters outside these (and for those that become two, such as the German sharp s in upper case).
std::string change_case(std::string_view text, LetterCase to);

}  // namespace lppool
