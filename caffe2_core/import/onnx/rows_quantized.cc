// Operators of quantized tensors.

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {

std::vector<OnnxRow> OnnxQuantizedRows() { return {}; }

}  // namespace caffe2rt
