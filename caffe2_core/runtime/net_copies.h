#pragma once
// Inserts copies between devices into the nets of a workspace, using graph/device_copies.h.

#include <memory>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Workspace;

// Returns the net with the missing copies inserted, under the same name, or `def` itself if no copy
// is missing. The workspace determines the device of each input of the net; an empty or missing
// blob counts as being on the net's device.
//
// Nets whose operators are all on one device are not changed: the caller must provide their inputs
// on that device. The net argument `inject_copies` overrides this: 1 also inserts copies into nets
// of one device, 0 inserts none into any net. THROWS if the device inference of an operator fails,
// or if `inject_copies` is neither 0 nor 1.
std::shared_ptr<const NetDef> WithDeviceCopies(const std::shared_ptr<const NetDef>& def,
                                               const Workspace& ws);

}  // namespace caffe2rt
