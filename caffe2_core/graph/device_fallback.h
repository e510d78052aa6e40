#pragma once
// Nets made for a device that is not here.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// What runs on the CPU in place of operator `type`: Copy for a device's own copy operators
// (CopyCPUToGPU), else the type itself.
const std::string& OperatorTypeOnCPU(const std::string& type);

// Sends operators (of nested nets too) that ask for a device type without a context here to the
// CPU, keeping the seed. Returns the names of the devices that were asked for, each once; empty
// when nothing changed.
std::vector<std::string> FallBackToCPU(NetDef* net);

}  // namespace caffe2rt
