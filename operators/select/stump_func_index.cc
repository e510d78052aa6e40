// StumpFuncIndex: the indices of the elements up to a threshold, and of those above it.
//   X float, any shape  ->  Index_Low int64, Index_High int64
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kStumpThreshold{"threshold", 0.0f,
                                              "the largest element whose index is low"};

class StumpFuncIndexOp final : public Operator<CPUContext> {
 public:
  StumpFuncIndexOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), threshold_(ReadArgument(kStumpThreshold)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* const x = X.data<float>();
    const int64_t count =
        std::count_if(x, x + X.numel(), [this](float value) { return value <= threshold_; });
    int64_t* low = OutputData<int64_t>(0, {count});
    int64_t* high = OutputData<int64_t>(1, {X.numel() - count});
    for (int64_t i = 0; i < X.numel(); ++i) {
      if (x[i] <= threshold_) {
        *low++ = i;
      } else {
        *high++ = i;
      }
    }
    return true;
  }

 private:
  const float threshold_;
};

}  // namespace

void RegisterStumpFuncIndex() {
  RegisterSchema("StumpFuncIndex", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Arg(kStumpThreshold)
      .Input(0, "X", "float, any shape")
      .Output(0, "Index_Low", "int64: the indices of the elements that are at most threshold")
      .Output(1, "Index_High", "int64: the indices of the other elements")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>(2, UnknownShapeOf(TensorProto::INT64));
      })
      .SetDoc(
          "Splits the indices of the elements, in row-major order, at a threshold. Those of NaN "
          "are in Index_High.");
  RegisterCpuOperator<StumpFuncIndexOp>("StumpFuncIndex", __FILE__);
  // Indices have no gradient.
  RegisterGradient<NoGradient>("StumpFuncIndex", __FILE__);
}

}  // namespace caffe2rt
