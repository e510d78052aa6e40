// Perplexity: how surprised a model is by a text, from the probabilities that it gave to its words.
//   probabilities [N], float  ->  scalar: the product of p[n]^(-1/N)
#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

class PerplexityOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& probabilities = Input(0);
    CAFFE_ENFORCE_GE(probabilities.dim(), 1, "rank of input 0 (probabilities), want at least 1");
    // As in Caffe2, of a matrix the first elements count, as many as it has rows.
    const int64_t n = std::min(probabilities.dim(0), probabilities.numel());
    const float* const p = probabilities.data<float>();
    double product = 1;
    for (int64_t i = 0; i < n; ++i) product *= std::pow(p[i], -1 / static_cast<double>(n));
    *OutputData<float>(0, {}) = static_cast<float>(product);
    return true;
  }
};

}  // namespace

void RegisterPerplexity() {
  RegisterSchema("Perplexity", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "probabilities", "[N], float: the probability of each word")
      .Output(0, "output", "float scalar: the perplexity")
      .ScalarType(TensorProto_DataType_FLOAT)
      .SetDoc("Computes the perplexity of a sequence from the probabilities of its elements.");
  RegisterCpuOperator<PerplexityOp>("Perplexity", __FILE__);
  // It measures a model; it is not a loss.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Perplexity", __FILE__);
}

}  // namespace caffe2rt
