#pragma once
// The built-in net types.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Whether nets of this type run as `simple`, because their own executor is not implemented.
bool RunsAsSimple(const std::string& type);

}  // namespace caffe2rt
#pragma GCC visibility pop
