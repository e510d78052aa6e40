#pragma once
// RoIAlign: averages X over the bins of regions of interest, by bilinear interpolation.
//   X [N, C, H, W] (NHWC: [N, H, W, C]), RoIs [R, 5] (image, x1, y1, x2, y2) or [R, 4] (of image 0)
//   ->  Y [R, C, pooled_h, pooled_w] (NHWC: [R, pooled_h, pooled_w, C])
// Every bin is the average of a grid of samples. Samples more than one pixel outside the image count
// as 0. Caffe2 ends the process on invalid RoIs; here they are errors.
//
// RoIAlignGradient: X (for its shape), RoIs, dY  ->  dX. In order NHWC, Caffe2 reads out of bounds.

#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/detection/roi_checks.h"
#include "operators/detection/roi_kernels.h"
#include "operators/detection/roi_taps.h"

namespace caffe2rt {

template <class Context>
class RoIAlignOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RoIAlignOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), geometry_(ReadRoiAlign(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    SetRoiSizes(X.sizes(), rois.sizes(), 5, /*or_fewer=*/true, &geometry_);
    if (geometry_.rois > 0) {
      RequireElements<float>(X);
      RequireElements<float>(rois);
    }
    float* const y = this->template OutputData<float>(0, DimsRef(RoiOutputDims(geometry_)));
    if (geometry_.rois == 0) return true;  // whatever the types are, as in Caffe2
    const float* const x = X.template data<float>();
    const float* const boxes = rois.template data<float>();
    if (geometry_.out_elements() > 0) AlignRois(context_, geometry_, x, boxes, y, &scratch_);
    return true;
  }

 private:
  RoiGeometry geometry_;
  RoiScratch scratch_;
};

template <class Context>
class RoIAlignGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RoIAlignGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), geometry_(ReadRoiAlign(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& rois = Input(1);
    const Tensor& dY = Input(2);
    SetRoiSizes(X.sizes(), rois.sizes(), 5, /*or_fewer=*/true, &geometry_);
    // Caffe2 does not check dY; without elements its shape does not matter.
    const bool is_empty =
        geometry_.in_elements() == 0 || (geometry_.out_elements() == 0 && dY.numel() == 0);
    if (!is_empty) CheckRoiOutput(2, "dY", dY.sizes(), geometry_);
    const float* const boxes = rois.template data<float>();
    const float* const dy = dY.template data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    AlignRoisGradient(context_, geometry_, boxes, dy, dx, &scratch_);
    return true;
  }

 private:
  RoiGeometry geometry_;
  RoiScratch scratch_;
};

}  // namespace caffe2rt
