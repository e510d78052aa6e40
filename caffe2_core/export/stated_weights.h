#pragma once
// Parameters of operators that arrive as inputs, and are weights: the sizes of a Split, for example.

#include "caffe2_core/export/onnx_export.h"

namespace caffe2rt {

// The net with arguments in place of such inputs, which is what shape inference and the rows read.
// Inputs that the net computes stay.
NetDef StateWeightsAsArguments(const NetDef& net, const OnnxExportOptions& options);

}  // namespace caffe2rt
