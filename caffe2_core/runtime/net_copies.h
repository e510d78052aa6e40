#pragma once
// Copies between devices for the nets of a workspace; graph/device_copies.h puts them in.

#include <memory>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Workspace;

// The net with the copies that it lacks, under its own name; `def` itself when it lacks none. What
// the net reads is where the workspace has it, or on the net's device when nothing is there yet.
//
// Nets whose operators are all on one device are left alone: the caller feeds them there. The net
// argument `inject_copies` decides otherwise: 1 looks at those too, 0 leaves every net alone.
// THROWS when the device inference of an operator does.
std::shared_ptr<const NetDef> WithDeviceCopies(const std::shared_ptr<const NetDef>& def,
                                               const Workspace& ws);

}  // namespace caffe2rt
