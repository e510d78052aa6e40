#pragma once
// Converts nets made for other devices so that they run on the CPU.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The operator type that replaces `type` on the CPU: Copy for a device's own copy operators (such
// as CopyCPUToGPU), otherwise `type` itself. The reference is valid as long as `type` is.
const std::string& OperatorTypeOnCPU(const std::string& type);

// Changes every device option whose device type has no context in this process to the CPU and keeps
// its random seed. Copy operators of such a device become Copy. Applies to the net, its operators
// and nested nets. Returns the distinct names of the unavailable device types, sorted; empty if no
// device option changed.
std::vector<std::string> FallBackToCPU(NetDef* net);

// The same for every device option that names another device than the CPU, also if that device is
// available, except IDEEP: it is the CPU, with tensors in oneDNN's layouts, and stays if it is
// available.
void MoveToCPU(NetDef* net);

}  // namespace caffe2rt
#pragma GCC visibility pop
