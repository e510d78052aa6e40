#pragma once
// Which operators may run on IDEEP (contexts/onednn), judged by their traits and arguments.

#include <string>

#include "caffe2_core/graph/operator_traits.h"
#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

struct OnednnPlacement {
  OnednnRole role = OnednnRole::kNone;
  std::string reason = {};  // why the operator cannot run on IDEEP; empty if it can
};

// The arguments must describe two-dimensional windows and order NCHW. That the inputs are images of
// rank 4 with float elements, the caller must know from the operators that compute them.
OnednnPlacement PlaceOnOnednn(const OperatorDef& op, const PassContext& context);

// The window arguments of a convolution: kernel, stride, dilation and pads of both axes. REQUIRES:
// PlaceOnOnednn accepts it as a convolution.
struct OnednnWindow {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
  int64_t group = 1;
};
OnednnWindow OnednnWindowOf(const OperatorDef& op);

}  // namespace caffe2rt
