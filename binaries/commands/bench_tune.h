#pragma once
// `caffe2 bench --tune`: a table of the fastest algorithm for each convolution of a net.

#include <string>

#include "binaries/commands/model.h"

namespace caffe2rt {

// Times the algorithms for the convolutions of the predict net, prints the fastest, and returns the
// table of them (operators/conv/conv_tuning.h). THROWS if the net has no convolution of a known shape.
std::string TuneNet(const Model& model, const Workspace& ws);

}  // namespace caffe2rt
