#pragma once
// What is known of the outputs of a node whose sizes are not known: how many axes they have, and of
// which type their elements are.
//
// Sizes that are computed when the net runs (proposals of a detector, images of any size) leave shapes
// unknown, but ONNX's operators fix types, and most of them ranks, all the same.

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

// States ranks and types of the outputs that the node has written or forwarded, where inference left
// them open and they follow from what is known of the inputs.
void StateOnnxFacts(OnnxNode* node);

}  // namespace caffe2rt
