#pragma once

#include <string>
#include <string_view>

namespace lppool::report {

// Text from a file as contents of an HTML or XML element or of a quoted attribute: control characters and bytes that are
// not UTF-8 become \xNN (XML has no form for them), the five special characters become entities.
std::string escape(std::string_view text);

// The same inside a double-quoted string of Graphviz's language.
std::string escape_dot(std::string_view text);

// How many columns of a monospaced font the text takes: wide characters (CJK and the like) count twice, marks not at all.
std::size_t columns(std::string_view text);

// At most `most` columns of it, with "…" where it was longer. Text must be printable (as printable() makes it).
std::string shortened(std::string_view text, std::size_t most);

// "12.5 MiB", "512 bytes".
std::string bytes_text(double bytes);
// "1.25 ms", "310 µs", "2.10 s".
std::string seconds_text(double seconds);
// A value for people: shortest form that names the float32 or float64 uniquely up to `digits` digits.
std::string number_text(double value, int digits = 5);

}  // namespace lppool::report
