// CosineEmbeddingCriterion: 1 - S where Y is 1, else max(0, S - margin), and its gradient.
//   S float, Y int32 of as many elements  ->  the shape of S
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kCosineMargin{"margin", 0.0f,
                                            "similarities of different objects may be up to this"};

// The operator if kGradient is false, else its gradient operator.
template <bool kGradient>
class CosineEmbeddingOp final : public Operator<CPUContext> {
 public:
  CosineEmbeddingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), margin_(ReadArgument(kCosineMargin)) {}

  bool RunOnDevice() override {
    const Tensor& S = Input(0);
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), S.numel(), "elements of input ", i,
                       ", want those of input 0 (S) of shape ", S.sizes());
    }
    RequireElements<float>(S);
    RequireElements<int32_t>(Input(1));
    const float* const dloss = kGradient ? Input(2).template data<float>() : nullptr;
    const float* const s = S.data<float>();
    const int32_t* const y = Input(1).template data<int32_t>();
    float* const out = OutputData<float>(0, S.sizes());
    for (int64_t i = 0; i < S.numel(); ++i) {
      if constexpr (kGradient) {
        out[i] = y[i] == 1 ? -dloss[i] : s[i] >= margin_ ? dloss[i] : 0.0f;
      } else {
        out[i] = y[i] == 1 ? 1 - s[i] : std::max(0.0f, s[i] - margin_);
      }
    }
    return true;
  }

 private:
  const float margin_;
};

class GetCosineEmbeddingGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("CosineEmbeddingCriterionGradient", "", {I(0), I(1), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterCosineEmbeddingCriterion() {
  RegisterSchema("CosineEmbeddingCriterion", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kCosineMargin)
      .Input(0, "S", "float, any shape: cosine similarities of pairs")
      .Input(1, "Y", "int32, as many elements as S: 1 if the objects of the pair are the same")
      .Output(0, "loss", "float, the shape of S")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes 1 - S where Y is 1, and max(0, S - margin) elsewhere.");
  RegisterCpuOperator<CosineEmbeddingOp<false>>("CosineEmbeddingCriterion", __FILE__);
  RegisterSchema("CosineEmbeddingCriterionGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kCosineMargin)
      .Input(0, "S", "float, any shape")
      .Input(1, "Y", "int32, as many elements as S")
      .Input(2, "dloss", "float, as many elements as S: the gradient of loss")
      .Output(0, "dS", "float, the shape of S: the gradient of S")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of CosineEmbeddingCriterion.");
  RegisterCpuOperator<CosineEmbeddingOp<true>>("CosineEmbeddingCriterionGradient", __FILE__);
  RegisterGradient<GetCosineEmbeddingGradient>("CosineEmbeddingCriterion", __FILE__);
}

}  // namespace caffe2rt
