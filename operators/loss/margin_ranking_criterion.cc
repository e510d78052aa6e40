// MarginRankingCriterion: loss = max(0, margin - Y * (X1 - X2)), and its gradient.
//   X1, X2 float, Y int32 (1: X1 should be greater, -1: X2), the same number of elements  ->  the shape of X1
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kRankingMargin{"margin", 1.0f, "the difference that is wanted"};

// The operator if kGradient is false, else its gradient operator.
template <bool kGradient>
class MarginRankingOp final : public Operator<CPUContext> {
 public:
  MarginRankingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), margin_(ReadArgument(kRankingMargin)) {}
  bool RunOnDevice() override {
    const Tensor& X1 = Input(0);
    const int64_t n = X1.numel();
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), n, "elements of input ", i,
                       ", want those of input 0 (X1) of shape ", X1.sizes());
    }
    RequireElements<float>(X1);
    RequireElements<float>(Input(1));
    RequireElements<int32_t>(Input(2));
    const float* const x1 = X1.data<float>();
    const float* const x2 = Input(1).template data<float>();
    const int32_t* const sign = Input(2).template data<int32_t>();
    const float* const dloss = kGradient ? Input(3).template data<float>() : nullptr;
    float* const out = OutputData<float>(0, X1.sizes());
    float* const dx2 = kGradient ? OutputData<float>(1, Input(1).sizes()) : nullptr;
    for (int64_t i = 0; i < n; ++i) {
      const auto y = static_cast<float>(sign[i]);
      const float loss = margin_ - y * (x1[i] - x2[i]);
      if constexpr (kGradient) {
        out[i] = loss < 0 ? 0.0f : -y * dloss[i];
        dx2[i] = loss < 0 ? 0.0f : y * dloss[i];
      } else {
        out[i] = std::max(loss, 0.0f);
      }
    }
    return true;
  }

 private:
  const float margin_;
};

class GetMarginRankingGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("MarginRankingCriterionGradient", "", {I(0), I(1), I(2), GO(0)},
                             {GI(0), GI(1)});
  }
};

}  // namespace

void RegisterMarginRankingCriterion() {
  RegisterSchema("MarginRankingCriterion", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kRankingMargin)
      .Input(0, "X1", "float, any shape")
      .Input(1, "X2", "float, as many elements as X1")
      .Input(2, "Y", "int32, as many elements as X1: 1 if X1 should be greater, -1 if X2 should")
      .Output(0, "loss", "float, the shape of X1")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes max(0, margin - Y * (X1 - X2)) for each element.");
  RegisterCpuOperator<MarginRankingOp<false>>("MarginRankingCriterion", __FILE__);
  RegisterSchema("MarginRankingCriterionGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(2)
      .Arg(kRankingMargin)
      .Input(0, "X1", "float, any shape")
      .Input(1, "X2", "float, as many elements as X1")
      .Input(2, "Y", "int32, as many elements as X1")
      .Input(3, "dloss", "float, as many elements as X1: the gradient of loss")
      .Output(0, "dX1", "float, the shape of X1: the gradient of X1")
      .Output(1, "dX2", "float, the shape of X2: the gradient of X2")
      .IdenticalTypeAndShapeOfMultipleInputs({0, 1})
      .SetDoc("Computes the gradients of MarginRankingCriterion.");
  RegisterCpuOperator<MarginRankingOp<true>>("MarginRankingCriterionGradient", __FILE__);
  RegisterGradient<GetMarginRankingGradient>("MarginRankingCriterion", __FILE__);
}

}  // namespace caffe2rt
