#pragma once
// Transforms by name: functions from NetDef to NetDef that modules register and that front ends apply.
// REGISTER_TRANSFORM of Caffe2 registers here, too.
//
//   const bool kRegistered = RegisterNetTransform("DropCopies", &DropCopies);
//   if (const NetTransform* transform = FindNetTransform("DropCopies")) net = (*transform)(net);
//
// Thread safe. A transform is never removed.

#include <functional>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

using NetTransform = std::function<NetDef(const NetDef&)>;

// Registers a transform, from namespace scope of a program or module, too. Returns false, and
// changes nothing, if there is one of that name or not enough memory.
bool RegisterNetTransform(const std::string& name, NetTransform transform) noexcept;
// Returns null if there is none of that name. The transform lives as long as the process.
const NetTransform* FindNetTransform(const std::string& name);
// The names of all transforms, sorted.
std::vector<std::string> NetTransformNames();

}  // namespace caffe2rt
#pragma GCC visibility pop
