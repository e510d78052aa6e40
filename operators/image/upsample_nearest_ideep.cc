#include "caffe2_core/runtime/operator_registry.h"
#include "operators/image/nearest_ideep.h"
#include "operators/image/upsample_nearest.h"

namespace caffe2rt {

namespace {

class UpsampleNearestOnednnOp final : public NearestOnednnOp {
 public:
  UpsampleNearestOnednnOp(const OperatorDef& def, Workspace* ws)
      : NearestOnednnOp(def, ws), scale_(ReadArgument(kUpsampleScale)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    UpsampledDims(X.sizes(), scale_, &upsampled_);  // checks the sizes
    const int64_t H = X.dims()[2], W = X.dims()[3];
    Resize({.in = H, .out = H * scale_, .repeat = scale_},
           {.in = W, .out = W * scale_, .repeat = scale_});
    return true;
  }

 private:
  const int scale_;
  std::vector<int64_t> upsampled_;
};

}  // namespace

void RegisterUpsampleNearestIdeep() {
  RegisterOperator<UpsampleNearestOnednnOp>(IDEEP, "UpsampleNearest", __FILE__);
}

}  // namespace caffe2rt
