#pragma once
// PriorBox: the boxes of SSD around each position of a map.
//   X [N, C, H, W], image [N, C, h, w] (only their shapes are used)  ->  Y [1, 2, H * W * boxes * 4]
// The first row has the boxes (x1, y1, x2, y2 in parts of the image), the second their variances.
// The boxes of a position, for each of the sizes: min_size; if there are max_sizes,
// sqrt(min_size * max_size); then min_size with each aspect ratio other than 1. Sizes are truncated
// to integers first, as in Caffe's fork for SSD.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detection/prior_box_kernels.h"

namespace caffe2rt {

// What the arguments say.
struct PriorBoxes {
  std::vector<PriorBoxSize> sizes;  // of the boxes of a position
  PriorBoxMap map;                  // what is 0 in the arguments depends on the inputs
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if an argument is invalid.
PriorBoxes ReadPriorBoxes(const ArgumentHelper& args);
// The map for inputs of these shapes. THROWS if they are not images.
PriorBoxMap PriorBoxMapOf(const PriorBoxes& boxes, IntArrayRef map, IntArrayRef image);
#pragma GCC visibility pop

template <class Context>
class PriorBoxOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PriorBoxOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), boxes_(ReadPriorBoxes(this->args())) {}

  bool RunOnDevice() override {
    const PriorBoxMap map = PriorBoxMapOf(boxes_, Input(0).sizes(), Input(1).sizes());
    const int64_t dims[] = {1, 2, CheckedMultiply<int64_t>(map.count(), 4)};
    float* const y = this->template OutputData<float>(0, dims);
    if (map.count() > 0) MakePriorBoxes(context_, map, boxes_.sizes.data(), y);
    return true;
  }

 private:
  const PriorBoxes boxes_;
};

}  // namespace caffe2rt
