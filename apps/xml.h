#pragma once

#include <string>
#include <string_view>

namespace lppool::app {

// Text for an XML attribute or element: markup escaped, characters XML 1.0 forbids replaced.
std::string xml_escape(std::string_view text);

}  // namespace lppool::app
