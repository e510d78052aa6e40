#pragma once
// Brings nodes of older opsets into the form of the newest.

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

// Attributes that became inputs are constants afterwards; old names and defaults are replaced. Some
// rows ask for the version all the same, where the meaning changed and not the form.
void UpgradeOnnxNode(OnnxNode* node);

// The name that the newest opset has for an operator that was renamed, or the name itself.
std::string_view NewestOnnxType(std::string_view type);

}  // namespace caffe2rt
