#pragma once

#include <string_view>

namespace lppool {

// Shell patterns over whole names: * any run of characters ('/' included: tensor names have it), ? one character, [a-z]
// and [!a-z] sets, \ the next character itself. Linear in practice and never exponential.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace lppool
