#pragma once
// NCHW2NHWC: X [N, C, *]  ->  [N, *, C]
// NHWC2NCHW: X [N, *, C]  ->  [N, C, *]
// Supports float of rank 3 or more.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/shape/transpose_items.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the shape with the channels moved to the end (kToEnd) or back. THROWS if the rank is
// below 3.
void SwitchedDims(IntArrayRef input, bool to_end, std::vector<int64_t>* dims);
#pragma GCC visibility pop

template <class Context, bool kToEnd>
class OrderSwitchOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OrderSwitchOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    SwitchedDims(X.sizes(), kToEnd, &dims_);
    const float* x = X.template data<float>();
    float* y = this->template OutputData<float>(0, dims_);
    if (X.numel() == 0) return true;
    // For the transposition an image is a matrix of channels and positions.
    const int64_t channels = X.dim(kToEnd ? 1 : X.dim() - 1);
    const int64_t places = X.numel() / X.dim(0) / channels;
    const int64_t matrix[] = {X.dim(0), kToEnd ? channels : places, kToEnd ? places : channels};
    if (!IntArrayRef(planned_).equals(matrix)) {
      const int axes[] = {0, 2, 1};
      math::PlanTranspose(matrix, axes, &plan_);
      planned_.assign(matrix, matrix + 3);
    }
    TransposeItems(context_, plan_, sizeof(float), x, y);
    return true;
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<int64_t> planned_;
  math::TransposePlan plan_;
};

}  // namespace caffe2rt
