#include "caffe2_core/runtime/operator_registry.h"
#include "operators/image/nearest_ideep.h"
#include "operators/image/upsample_nearest.h"

namespace caffe2rt {

namespace {

class UpsampleNearestOnednnOp final : public NearestOnednnOp {
 public:
  UpsampleNearestOnednnOp(const OperatorDef& def, Workspace* ws)
      : NearestOnednnOp(def, ws), scale_(ReadArgument(kUpsampleScale)) {}

  void PlanAhead(const AheadInputs&) override {
    CheckInput();
    PlanResize(Axis(2), Axis(3));
  }

  bool RunOnDevice() override {
    CheckInput();
    Resize(Axis(2), Axis(3));
    return true;
  }

 private:
  void CheckInput() {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    UpsampledDims(X.sizes(), scale_, &upsampled_);  // checks the sizes
  }
  NearestAxis Axis(int dim) const {
    const int64_t size = Input(0).sizes()[static_cast<size_t>(dim)];
    return {.in = size, .out = size * scale_, .repeat = scale_};
  }

  const int scale_;
  std::vector<int64_t> upsampled_;
};

}  // namespace

void RegisterUpsampleNearestIdeep() {
  RegisterOperator<UpsampleNearestOnednnOp>(IDEEP, "UpsampleNearest", __FILE__);
}

}  // namespace caffe2rt
