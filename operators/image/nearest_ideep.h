#pragma once
// The common part of ResizeNearest and UpsampleNearest on IDEEP. Y has the layout of X; row-major
// images are resized in nhwc.

#include <memory>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/image/resize_nearest_kernels.h"

namespace caffe2rt {

class NearestOnednnOp : public Operator<IDEEPContext>, public PlansAhead {
 public:
  using Operator<IDEEPContext>::Operator;

 protected:
  // Resizes input 0 to `height` x `width`, which have its size as `in`.
  void Resize(const NearestAxis& height, const NearestAxis& width) {
    const Tensor& X = Input(0);
    Plan(height, width);
    const float* const x = input_.Read(X);
    float* const y = PrepareOutput(Output(0), dims_, layout_);
    if (out_.size() == 0) return;
    TakePixels(cpu_, input_.planes().planes(), out_.lanes(), height, width, &tables_, x, y);
  }
  // For PlanAhead.
  void PlanResize(const NearestAxis& height, const NearestAxis& width) {
    Plan(height, width);
    PrepareOutput(Output(0), dims_, layout_);
  }

 private:
  void Plan(const NearestAxis& height, const NearestAxis& width) {
    const Tensor& X = Input(0);
    if (!input_.Matches(X)) input_.Plan(0, X);
    ChannelPlanes out = input_.planes();
    out.height = height.out;
    out.width = width.out;
    if (out == out_ && !dims_.empty()) return;
    dims_.clear();  // until all is planned: there may be no memory for the rest
    layout_ = LayoutOf(out);
    out_ = out;
    dims_ = DimsOf(out);
  }

  PlanesInput input_;
  ChannelPlanes out_;
  std::vector<int64_t> dims_;
  std::shared_ptr<const OnednnLayout> layout_;
  PixelTables tables_;
  CPUContext cpu_;
};

}  // namespace caffe2rt
