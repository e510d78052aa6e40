// ScaleBlobs: multiplies the elements of several tensors by the same number.
//   X1, X2, ... float, any shapes  ->  Y1, Y2, ... (each may be its input)
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kBlobsScale{"scale", 1.0f, "the factor of all elements"};

class ScaleBlobsOp final : public Operator<CPUContext> {
 public:
  ScaleBlobsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), scale_(ReadArgument(kBlobsScale)) {}

  bool RunOnDevice() override {
    // Before an output is modified.
    for (int i = 0; i < InputSize(); ++i) RequireElements<float>(Input(i));
    for (int i = 0; i < InputSize(); ++i) {
      const Tensor& X = Input(i);
      const float* const x = X.data<float>();
      Tensor* const Y = Output(i);
      if (Y != &X) Y->ResizeLike(X);
      float* const y = Y->mutable_data<float>();
      for (int64_t k = 0; k < X.numel(); ++k) y[k] = x[k] * scale_;
    }
    return true;
  }

 private:
  const float scale_;
};

}  // namespace

void RegisterScaleBlobs() {
  RegisterSchema("ScaleBlobs", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .SameNumberOfOutput()
      .AllowOneToOneInplace()
      .Arg(kBlobsScale)
      .Input(0, "X1, X2, ...", "float tensors of any shapes")
      .Output(0, "Y1, Y2, ...", "the shape of each input")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = in;
        out.resize(static_cast<size_t>(def.output_size()), UnknownShape());
        return out;
      })
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Computes Y = scale * X for each input.");
  RegisterCpuOperator<ScaleBlobsOp>("ScaleBlobs", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
