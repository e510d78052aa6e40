#pragma once
// RoIAlignRotated: RoIAlign of rotated regions of interest.
//   X [N, C, H, W] (NHWC: [N, H, W, C]), RoIs [R, 6] (image, center x, y, width, height, angle) or
//   [R, 5] (of image 0)
//   ->  Y [R, C, pooled_h, pooled_w] (NHWC: [R, pooled_h, pooled_w, C])
//
// RoIAlignRotatedGradient: X (for its shape), RoIs, dY  ->  dX. Caffe2 has it for CUDA only.

#include "contexts/cpu/cpu_context.h"
#include "operators/detection/roi_checks.h"
#include "operators/detection/rotated_roi.h"

namespace caffe2rt {

template <class Context, bool kGradient>
class RoIAlignRotatedOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RoIAlignRotatedOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), geometry_(ReadRoiAlignRotated(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    if (!kGradient && rois.numel() == 0) {  // of any shape and type, as in Caffe2
      const int64_t none[] = {0, 6};
      SetRoiSizes(X.sizes(), none, 6, /*or_fewer=*/true, &geometry_);
      this->template OutputData<float>(0, DimsRef(RoiOutputDims(geometry_)));
      return true;
    }
    SetRoiSizes(X.sizes(), rois.sizes(), 6, /*or_fewer=*/true, &geometry_);
    const float* const boxes = rois.template data<float>();
    if constexpr (kGradient) {
      const Tensor& dY = Input(2);
      CheckRoiOutput(2, "dY", dY.sizes(), geometry_);
      const float* const dy = dY.template data<float>();
      float* const dx = this->template OutputData<float>(0, X.sizes());
      if (geometry_.out_elements() == 0) geometry_.rois = 0;
      if (geometry_.in_elements() == 0) return true;
      AlignRotatedRoisGradient(context_, geometry_, boxes, dy, dx);
    } else {
      const float* const x = X.template data<float>();
      float* const y = this->template OutputData<float>(0, DimsRef(RoiOutputDims(geometry_)));
      if (geometry_.out_elements() > 0) AlignRotatedRois(context_, geometry_, x, boxes, y);
    }
    return true;
  }

 private:
  RoiGeometry geometry_;
};

}  // namespace caffe2rt
