#pragma once
// PSRoIPool: position-sensitive averages over the bins of regions of interest, as in R-FCN. Every
// bin has its own channels.
//   X [N, output_dim * group_size^2, H, W], RoIs [R, 5] (image, x1, y1, x2, y2)
//   ->  Y [R, output_dim, group_size, group_size], channels: int32, the channel of X of each bin
// RoIs are rounded to whole units, which are then scaled. An empty bin is 0.
//
// PSRoIPoolGradient: X (for its shape), RoIs, channels (for its shape), dY  ->  dX
//
// Caffe2 has both for CUDA only.

#include "contexts/cpu/cpu_context.h"
#include "operators/detection/roi_checks.h"
#include "operators/detection/roi_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kPSRoiGroupSize{
    "group_size", 1, "rows and columns of bins, above 0", {[](int n) { return n > 0; }, "above 0"}};
inline constexpr ArgumentSpec<int> kPSRoiOutputDim{
    "output_dim", 1, "channels of Y, above 0", {[](int n) { return n > 0; }, "above 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
RoiGeometry ReadPositionPool(const ArgumentHelper& args);
// Sets the sizes. THROWS if a shape does not fit.
void SetPositionSizes(IntArrayRef x, IntArrayRef rois, int64_t outputs, RoiGeometry* geometry);
RoiDims PositionOutputDims(const RoiGeometry& geometry, int64_t outputs);
void CheckPositionOutput(int i, const char* name, IntArrayRef dims, const RoiGeometry& geometry,
                         int64_t outputs);
#pragma GCC visibility pop

template <class Context>
class PSRoIPoolOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PSRoIPoolOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        geometry_(ReadPositionPool(this->args())),
        outputs_(this->ReadArgument(kPSRoiOutputDim)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    SetPositionSizes(X.sizes(), rois.sizes(), outputs_, &geometry_);
    const float* const x = X.template data<float>();
    const float* const boxes = rois.template data<float>();
    const RoiDims dims = PositionOutputDims(geometry_, outputs_);
    float* const y = this->template OutputData<float>(0, DimsRef(dims));
    int32_t* const channel = this->template OutputData<int32_t>(1, DimsRef(dims));
    if (geometry_.rois == 0) return true;
    AveragePoolPositions(context_, geometry_, outputs_, x, boxes, y, channel);
    return true;
  }

 private:
  RoiGeometry geometry_;
  const int outputs_;
};

template <class Context>
class PSRoIPoolGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PSRoIPoolGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        geometry_(ReadPositionPool(this->args())),
        outputs_(this->ReadArgument(kPSRoiOutputDim)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    const Tensor& dY = Input(3);
    SetPositionSizes(X.sizes(), rois.sizes(), outputs_, &geometry_);
    CheckPositionOutput(2, "channels", Input(2).sizes(), geometry_, outputs_);
    CheckPositionOutput(3, "dY", dY.sizes(), geometry_, outputs_);
    const float* const boxes = rois.template data<float>();
    const float* const dy = dY.template data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    if (geometry_.in_elements() == 0) return true;
    AveragePoolPositionsGradient(context_, geometry_, outputs_, boxes, dy, dx);
    return true;
  }

 private:
  RoiGeometry geometry_;
  const int outputs_;
};

}  // namespace caffe2rt
