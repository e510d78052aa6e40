#pragma once
// RoIPool, RoIPoolF: the largest element of each bin of regions of interest.
//   X [N, C, H, W], RoIs [R, 5] (image, x1, y1, x2, y2)
//   ->  Y [R, C, pooled_h, pooled_w], argmaxes: int32 index of the element in its plane
// RoIs are rounded to pixels, and x2, y2 belong to them. An empty bin has the value 0 and the index
// -1; NaN is never the largest. With is_test, RoIPool has no second output.
//
// RoIPoolGradient, RoIPoolFGradient: X (for its shape), RoIs, argmaxes, dY  ->  dX
//
// RoIPoolF, which came later, is the same for CUDA; Caffe2 has neither it nor the gradients for the
// CPU.

#include "contexts/cpu/cpu_context.h"
#include "operators/detection/roi_checks.h"
#include "operators/detection/roi_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kRoiPoolIsTest{"is_test", false,
                                                   "1: there is no output argmaxes"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Reads the arguments. THROWS for order NHWC, and if is_test does not fit the number of outputs.
RoiGeometry ReadMaxRoiPool(const ArgumentHelper& args, bool has_test, int outputs);
// THROWS if a plane is too large for int32 indices.
void CheckRoiPlane(const RoiGeometry& geometry);
#pragma GCC visibility pop

// kHasTest: RoIPool, with the arguments is_test and order.
template <class Context, bool kHasTest>
class RoIPoolOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RoIPoolOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        geometry_(ReadMaxRoiPool(this->args(), kHasTest, OutputSize())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    SetRoiSizes(X.sizes(), rois.sizes(), 5, /*or_fewer=*/false, &geometry_);
    CheckRoiPlane(geometry_);
    const float* const x = X.template data<float>();
    const float* const boxes = rois.template data<float>();
    const RoiDims dims = RoiOutputDims(geometry_);
    float* const y = this->template OutputData<float>(0, DimsRef(dims));
    int32_t* const argmax =
        OutputSize() > 1 ? this->template OutputData<int32_t>(1, DimsRef(dims)) : nullptr;
    if (geometry_.out_elements() > 0) MaxPoolRois(context_, geometry_, x, boxes, y, argmax);
    return true;
  }

 private:
  RoiGeometry geometry_;
};

template <class Context, bool kHasTest>
class RoIPoolGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RoIPoolGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), geometry_(ReadMaxRoiPool(this->args(), kHasTest, 0)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    const Tensor& argmaxes = Input(2);
    const Tensor& dY = Input(3);
    SetRoiSizes(X.sizes(), rois.sizes(), 5, /*or_fewer=*/false, &geometry_);
    CheckRoiPlane(geometry_);
    CheckRoiOutput(2, "argmaxes", argmaxes.sizes(), geometry_);
    CheckRoiOutput(3, "dY", dY.sizes(), geometry_);
    const float* const boxes = rois.template data<float>();
    const int32_t* const argmax = argmaxes.template data<int32_t>();
    const float* const dy = dY.template data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    if (geometry_.in_elements() == 0) return true;
    MaxPoolRoisGradient(context_, geometry_, boxes, dy, argmax, dx);
    return true;
  }

 private:
  RoiGeometry geometry_;
};

}  // namespace caffe2rt
