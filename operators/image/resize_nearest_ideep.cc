#include "caffe2_core/runtime/operator_registry.h"
#include "operators/image/nearest_ideep.h"
#include "operators/image/resize_nearest.h"

namespace caffe2rt {

namespace {

class ResizeNearestOnednnOp final : public NearestOnednnOp {
 public:
  ResizeNearestOnednnOp(const OperatorDef& def, Workspace* ws)
      : NearestOnednnOp(def, ws),
        width_scale_(ReadArgument(kWidthScale)),
        height_scale_(ReadArgument(kHeightScale)) {
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
  }

  void PlanAhead(const AheadInputs& inputs) override {
    CAFFE_ENFORCE(InputSize() < 2 || inputs.is_constant(1),
                  "input 1 (scales) is known when the net runs, want a constant");
    const Axes axes = MakeAxes();
    PlanResize(axes.height, axes.width);
  }

  bool RunOnDevice() override {
    const Axes axes = MakeAxes();
    Resize(axes.height, axes.width);
    return true;
  }

 private:
  struct Axes {
    NearestAxis height, width;
  };
  Axes MakeAxes() {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    float height_scale = height_scale_, width_scale = width_scale_;
    if (InputSize() == 2) ReadScales(scales_.Read(*this, 1), 1, &height_scale, &width_scale);
    const int64_t H = X.dims()[2], W = X.dims()[3];
    return {{H, ScaledSize(H, height_scale), height_scale},
            {W, ScaledSize(W, width_scale), width_scale}};
  }

  const float width_scale_, height_scale_;
  HostInput scales_;
};

}  // namespace

void RegisterResizeNearestIdeep() {
  RegisterOperator<ResizeNearestOnednnOp>(IDEEP, "ResizeNearest", __FILE__);
}

}  // namespace caffe2rt
