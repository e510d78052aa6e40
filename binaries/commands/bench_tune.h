#pragma once
// `caffe2 bench --tune`: a table of the fastest algorithms for the convolutions of a net.

#include <string>

#include "binaries/commands/model.h"

namespace caffe2rt {

// Times every algorithm for each different Conv of the net, with the shapes that follow from the
// blobs of `ws`, and writes the table to `file` (operators/conv/conv_tuning.h has its form). THROWS
// when no convolution has a known shape.
void TuneNet(const Model& model, const Workspace& ws, const std::string& file);

}  // namespace caffe2rt
