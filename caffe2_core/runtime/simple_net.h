#pragma once
// The net type `simple`: operators in order on the calling thread, one wait at the end.

#include <memory>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// Builds every operator. THROWS naming the net, the position and the operator that cannot be built.
std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

}  // namespace caffe2rt
