// BernoulliJSD: the Jensen-Shannon divergence of Bernoulli distributions, H((X + T) / 2) - (H(X) + H(T)) / 2 with the
// entropy H(p) = -p log p - (1 - p) log(1 - p), and its gradient.
//   X, T float of as many elements: probabilities  ->  the shape of X
#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

// 0 for 0 and 1, and for numbers that are no probabilities, as in Caffe2.
double BernoulliEntropy(double p) {
  if (p <= 0 || p >= 1) return 0;
  return -p * std::log(p) - (1 - p) * std::log1p(-p);
}

// The derivative of the entropy. As in Caffe2, it is finite at 0, where probabilities below 1e-20 count as 1e-20,
// and -inf at 1.
double EntropySlope(double p) {
  constexpr double kLeast = 1e-20;
  return std::log(1 - p) - std::log(std::max(p, kLeast));
}

// The operator if kGradient is false, else its gradient operator, whose first input is the gradient of L.
template <bool kGradient>
class BernoulliJsdOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    constexpr int kX = kGradient ? 1 : 0;
    const Tensor& X = Input(kX);
    for (int i = 0; i < InputSize(); ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), X.numel(), "elements of input ", i,
                       ", want those of input ", kX, " (X) of shape ", X.sizes());
      RequireElements<float>(Input(i));
    }
    const float* const dloss = Input(0).template data<float>();
    const float* const x = X.data<float>();
    const float* const t = Input(kX + 1).template data<float>();
    float* const out = OutputData<float>(0, X.sizes());
    for (int64_t i = 0; i < X.numel(); ++i) {
      const double p = static_cast<double>(x[i]), q = static_cast<double>(t[i]), m = (p + q) / 2;
      if constexpr (kGradient) {
        out[i] = static_cast<float>(static_cast<double>(dloss[i]) / 2 *
                                    (EntropySlope(m) - EntropySlope(p)));
      } else {
        out[i] = static_cast<float>(BernoulliEntropy(m) -
                                    (BernoulliEntropy(p) + BernoulliEntropy(q)) / 2);
      }
    }
    return true;
  }
};

class GetBernoulliJsdGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("BernoulliJSDGradient", "", {GO(0), I(0), I(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterBernoulliJsd() {
  RegisterSchema("BernoulliJSD", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "float, any shape: probabilities")
      .Input(1, "T", "float, as many elements as X: the probabilities that are wanted")
      .Output(0, "L", "float, the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Computes the Jensen-Shannon divergence of the Bernoulli distributions with the "
          "probabilities X and T, in nats.");
  RegisterCpuOperator<BernoulliJsdOp<false>>("BernoulliJSD", __FILE__);
  RegisterSchema("BernoulliJSDGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "dL", "float, as many elements as X: the gradient of L")
      .Input(1, "X", "float, any shape")
      .Input(2, "T", "float, as many elements as X")
      .Output(0, "dX", "float, the shape of X: the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc(
          "Computes the gradient of BernoulliJSD with respect to X. It is inf for an X of 1, and "
          "NaN "
          "if T is 1, too.");
  RegisterCpuOperator<BernoulliJsdOp<true>>("BernoulliJSDGradient", __FILE__);
  RegisterGradient<GetBernoulliJsdGradient>("BernoulliJSD", __FILE__);
}

}  // namespace caffe2rt
