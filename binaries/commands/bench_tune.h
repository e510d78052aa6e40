#pragma once
// `caffe2 bench --tune`: writes a table of the fastest algorithm for each convolution of a net.

#include <string>

#include "binaries/commands/model.h"

namespace caffe2rt {

// Times every algorithm for each distinct Conv of the net, with the shapes inferred from the blobs
// of `ws`, and writes the table to `file` in the format of operators/conv/conv_tuning.h. THROWS if
// no convolution has a known shape.
void TuneNet(const Model& model, const Workspace& ws, const std::string& file);

}  // namespace caffe2rt
