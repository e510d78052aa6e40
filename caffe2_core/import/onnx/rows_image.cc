// Operators of images: resizing, sampling, boxes.

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {

std::vector<OnnxRow> OnnxImageRows() { return {}; }

}  // namespace caffe2rt
