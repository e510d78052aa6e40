// Recurrent layers.

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {

std::vector<OnnxRow> OnnxRecurrentRows() { return {}; }

}  // namespace caffe2rt
