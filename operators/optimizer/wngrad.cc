// Wngrad, SparseWngrad.

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/optimizer/sum_terms.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kWngradEpsilon{"epsilon", 1e-5f, "is added to seq_b in divisors"};

// The rule (update_rules.h): param + rate * grad.
struct WngradRule {
  static constexpr bool kPerRow = false;
  float rate;
  const float* param;
  const float* grad;
  float* out_param;
  float* out_update;  // may be null

  CAFFE2RT_SIMD_INLINE float Rate() const { return rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float update = r * grad[g];
    out_param[i] = param[i] + update;
    if (out_update != nullptr) out_update[g] = update;
  }
};

// param, seq_b, grad, lr  ->  param, seq_b, optional effective lr as seq_b, optional update as grad
class WngradOp final : public Operator<CPUContext> {
 public:
  WngradOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), epsilon_(ReadArgument(kWngradEpsilon)) {}

  bool RunOnDevice() override {
    const NamedInput param{Input(0), "input 0 (param)"};
    const Tensor& seq_b = Input(1);
    const NamedInput grad{Input(2), "input 2 (grad)"};
    RequireSameSize(grad, param);
    const float b = *OneNumber({seq_b, "input 1 (seq_b)"});
    const float divisor = b + epsilon_;
    const float rate = *FirstNumber({Input(3), "input 3 (lr)"}) / divisor;
    const int64_t n = grad.tensor.numel();
    const float* const d = grad.tensor.data<float>();
    const double squares = DotProduct(n, d, d);
    WngradRule rule{rate, param.tensor.data<float>(), d, nullptr, nullptr};
    rule.out_param = OutputData<float>(0, param.tensor.sizes());
    *OutputData<float>(1, seq_b.sizes()) = static_cast<float>(b + squares / divisor);
    if (OutputSize() > 2) *OutputData<float>(2, seq_b.sizes()) = rate;
    if (OutputSize() > 3) rule.out_update = OutputData<float>(3, grad.tensor.sizes());
    UpdateAll(context_, n, rule);
    return true;
  }

 private:
  const float epsilon_;
};

// param [rows, row..], seq_b [1], indices, grad, lr [1]  ->  param, seq_b (in place)
class SparseWngradOp final : public Operator<CPUContext> {
 public:
  SparseWngradOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), epsilon_(ReadArgument(kWngradEpsilon)) {}

  bool RunOnDevice() override {
    const NamedInput param{Input(0), "input 0 (param)"};
    const Tensor& seq_b = Input(1);
    const NamedInput indices{Input(2), "input 2 (indices)"};
    const NamedInput grad{Input(3), "input 3 (grad)"};
    const RowSizes sizes = SizesOfRows(param, indices, grad);
    RequireElementsOf<int32_t, int64_t>(indices.tensor, indices.name);
    const float b = *OneNumber({seq_b, "input 1 (seq_b)"});
    const float rate = *OneNumber({Input(4), "input 4 (lr)"}) / (b + epsilon_);
    const float* const d = grad.tensor.data<float>();
    WngradRule rule{rate, param.tensor.data<float>(), d, nullptr, nullptr};
    rule.out_param = OutputData<float>(0, param.tensor.sizes());
    DispatchByType<int32_t, int64_t>(indices.tensor.dtype(), indices.name, [&](auto element) {
      UpdateRows(context_, sizes, indices.tensor.data<decltype(element)>(), rule, &scratch_);
    });
    if (grad.tensor.numel() > 0) {
      const double squares = DotProduct(grad.tensor.numel(), d, d);
      *OutputData<float>(1, seq_b.sizes()) = static_cast<float>(b + squares / b);
    }
    return true;
  }

 private:
  const float epsilon_;
  RowScratch<CPUContext> scratch_;
};

}  // namespace

void RegisterWngrad() {
  RegisterSchema("Wngrad", __FILE__)
      .NumInputs(4)
      .NumOutputs(2, 4)
      .AllowInplace({{0, 0}, {1, 1}})
      .Arg(kWngradEpsilon)
      .Input(0, "param", "the parameter, float")
      .Input(1, "seq_b", "the state: one element")
      .Input(2, "grad", "as many elements as param")
      .Input(3, "lr", "the learning rate: the first element is used")
      .Output(0, "param", "the updated parameter")
      .Output(1, "seq_b", "seq_b + |grad|^2 / (seq_b + epsilon)")
      .Output(2, "effective_lr", "lr / (seq_b + epsilon); the shape of seq_b")
      .Output(3, "update", "what is added to the parameter; the shape of grad")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 1, 2}))
      .SetDoc("Updates a parameter by WNGrad (Wu, Ward and Bottou 2018).");
  RegisterCpuOperator<WngradOp>("Wngrad", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Wngrad", __FILE__);

  RegisterSchema("SparseWngrad", __FILE__)
      .NumInputs(5)
      .NumOutputs(2)
      .EnforceInplace({{0, 0}, {1, 1}})
      .Arg(kWngradEpsilon)
      .Input(0, "param", "[rows, row..], float")
      .Input(1, "seq_b", "the state: one element")
      .Input(2, "indices", "the rows to update, int32 or int64")
      .Input(3, "grad", "the gradient of the rows: [dims of indices.., row..]")
      .Input(4, "lr", "the learning rate: one element")
      .Output(0, "param", "input 0")
      .Output(1, "seq_b", "input 1, to which |grad|^2 / seq_b is added")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc("Updates rows of a parameter by WNGrad.");
  RegisterCpuOperator<SparseWngradOp>("SparseWngrad", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseWngrad", __FILE__);
}

}  // namespace caffe2rt
