// SquareRootDivide: divides each row by the square root of its number. The gradient is the same
// operator.
//   data float [N, ...], scale float, int32 or int64 [N]  ->  the shape of data
// A row whose number is 0 stays as it is.
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

class SquareRootDivideOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& scale = Input(1);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    CAFFE_ENFORCE_EQ(scale.numel(), data.dim(0),
                     "elements of input 1 (scale), want the rows of input 0 (data) of shape ",
                     data.sizes());
    RequireElements<float>(data);
    DispatchByType<float, int32_t, int64_t>(scale.dtype(), "input 1 (scale)", [&](auto number) {
      const int64_t block = data.size_from_dim(1);
      const auto* const numbers = scale.data<decltype(number)>();
      const float* x = data.data<float>();
      float* y = OutputData<float>(0, data.sizes());
      for (int64_t i = 0; i < data.dim(0); ++i) {
        CAFFE_ENFORCE_GE(numbers[i], 0, "element ", i, " of input 1 (scale)");
        const double root = std::sqrt(static_cast<double>(numbers[i]));
        const float factor = root > 0 ? static_cast<float>(1 / root) : 1.0f;
        for (int64_t k = 0; k < block; ++k) *y++ = *x++ * factor;
      }
    });
    return true;
  }
};

class GetSquareRootDivideGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("SquareRootDivide", "", {GO(0), I(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterSquareRootDivide() {
  RegisterSchema("SquareRootDivide", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "[N, ...] float")
      .Input(1, "scale", "N numbers of at least 0, float, int32 or int64")
      .Output(0, "output", "the shape of data: each row divided by the root of its number")
      .AllowInplace({{0, 0}})
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::FLOAT, TensorProto::INT32, TensorProto::INT64}})
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(
          "Divides each row by the square root of its number. A row whose number is 0 stays as it "
          "is.");
  RegisterCpuOperator<SquareRootDivideOp>("SquareRootDivide", __FILE__);
  RegisterGradient<GetSquareRootDivideGradient>("SquareRootDivide", __FILE__);
}

}  // namespace caffe2rt
