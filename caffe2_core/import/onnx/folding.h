#pragma once
// Computes nodes at import time: those of shapes and small tensors.

#include "caffe2_core/import/onnx/onnx_node.h"

namespace caffe2rt {

// What is known of the output of a node.
struct OnnxFolded {
  int type = 0;
  InOnnxWorlds<OnnxDims> dims = {};
  std::shared_ptr<const OnnxContent> content = nullptr;
  bool IsFixed() const { return AreSameInOnnxWorlds(dims) && content->IsFixed(); }
};

// Returns false if the node is not one of those that are computed here, or if the content of an input
// is not known, or the output is larger than kMaxOnnxContent.
bool FoldOnnxNode(OnnxNode* node, OnnxFolded* folded);

}  // namespace caffe2rt
