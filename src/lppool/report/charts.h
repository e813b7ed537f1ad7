#pragma once

#include <string>

#include "lppool/report/tensor_picture.h"
#include "lppool/report/window_picture.h"

// Charts as fragments of HTML. Each says in words what it shows, for those who do not see it.
namespace lppool::report {

std::string histogram_html(const std::string& tensor, const Histogram& histogram);
std::string heat_map_html(const std::string& tensor, const HeatMap& map);
std::string window_html(const WindowPicture& picture);

}  // namespace lppool::report
