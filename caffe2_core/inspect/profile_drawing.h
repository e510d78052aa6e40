#pragma once
// Draws where the time of a net goes.

#include <string>

#include "caffe2_core/inspect/net_profile.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns an SVG image: the net's time, a strip with the operators in the order of the net, as wide
// as their times and coloured by type, the totals of the types, and a bar for each of the `most`
// costliest operators. Percentages are of the net's median. A viewer shows the numbers of an operator
// when the pointer is on its bar.
std::string ProfileAsSvg(const NetProfile& profile, size_t most = 40);

}  // namespace caffe2rt
#pragma GCC visibility pop
