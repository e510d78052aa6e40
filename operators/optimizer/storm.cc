// Storm, SparseStorm.

#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/optimizer/sum_terms.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kStormMomentum{"momentum", 10.0f, "factor of lr^2 in the weight"};
constexpr ArgumentSpec<float> kStormBeta{"beta", 0.1f, "is added to the sum of squares"};

// The rule (update_rules.h): moment' = grad + keep * (moment - grad), param + rate * moment'.
struct StormRule {
  static constexpr bool kPerRow = false;
  float rate, keep;
  const float* param;
  const float* moment;
  const float* grad;
  float* out_param;
  float* out_moment;

  CAFFE2RT_SIMD_INLINE float Rate() const { return rate; }
  CAFFE2RT_SIMD_INLINE void operator()(int64_t i, int64_t g, float r) const {
    const float d = grad[g];
    const float next = d + keep * (moment[i] - d);
    out_param[i] = param[i] + r * next;
    out_moment[i] = next;
  }
};

// Storm:       param, moment, grad_sq_sum [1], grad, lr [1]
// SparseStorm: param [rows, row..], moment, grad_sq_sum [1], grad, indices, lr [1]
//   ->  param, moment, grad_sq_sum; SparseStorm in place
template <bool kSparse>
class StormOp final : public Operator<CPUContext> {
 public:
  StormOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        momentum_(ReadArgument(kStormMomentum)),
        beta_(ReadArgument(kStormBeta)) {}

  bool RunOnDevice() override {
    const NamedInput param{Input(0), "input 0 (param)"};
    const Tensor& moment = Input(1);
    const Tensor& sum = Input(2);
    const NamedInput grad{Input(3), "input 3 (grad)"};
    RequireSameSize({moment, "input 1 (moment)"}, param);
    const float* const lr =
        kSparse ? OneNumber({Input(5), "input 5 (lr)"}) : OneNumber({Input(4), "input 4 (lr)"});
    const float* const d = grad.tensor.data<float>();
    RowSizes sizes{};
    if constexpr (kSparse) {
      sizes = SizesOfRows(param, {Input(4), "input 4 (indices)"}, grad);
    } else {
      RequireSameSize(grad, param);
    }
    const int64_t n = grad.tensor.numel();
    const float total =
        static_cast<float>(*OneNumber({sum, "input 2 (grad_sq_sum)"}) + DotProduct(n, d, d));
    const float rate = *lr / std::cbrt(beta_ + total);
    StormRule rule{rate,
                   1.0f - momentum_ * rate * rate,
                   param.tensor.data<float>(),
                   moment.data<float>(),
                   d,
                   nullptr,
                   nullptr};
    rule.out_param = OutputData<float>(0, param.tensor.sizes());
    rule.out_moment = OutputData<float>(1, moment.sizes());
    if constexpr (kSparse) {
      const Tensor& indices = Input(4);
      DispatchByType<int32_t, int64_t>(indices.dtype(), "input 4 (indices)", [&](auto element) {
        UpdateRows(context_, sizes, indices.data<decltype(element)>(), rule, &scratch_);
      });
    } else {
      UpdateAll(context_, n, rule);
    }
    *OutputData<float>(2, sum.sizes()) = total;
    return true;
  }

 private:
  const float momentum_, beta_;
  RowScratch<CPUContext> scratch_;
};

OpSchema& StormSchema(const char* type, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumOutputs(3)
      .Args(kStormMomentum, kStormBeta)
      .Input(1, "moment", "as many elements as param")
      .Input(2, "grad_sq_sum", "the sum of the squared gradients so far: one element")
      .Output(0, "param", "the updated parameter")
      .Output(1, "moment", "the new moment")
      .Output(2, "grad_sq_sum", "the new sum")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2}))
      .SetDoc(doc);
}

}  // namespace

void RegisterStorm() {
  StormSchema("Storm",
              "Updates a parameter by STORM (Cutkosky and Orabona 2019): with the rate r = lr / "
              "(beta + new grad_sq_sum)^(1/3), the new moment is grad + (1 - momentum * r^2) * "
              "(moment - grad), and r times it is added to the parameter.")
      .NumInputs(5)
      .AllowInplace({{0, 0}, {1, 1}, {2, 2}})
      .Input(0, "param", "the parameter, float")
      .Input(3, "grad", "as many elements as param")
      .Input(4, "lr", "the learning rate: one element");
  RegisterCpuOperator<StormOp<false>>("Storm", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Storm", __FILE__);

  StormSchema("SparseStorm", "Updates rows of a parameter by STORM.")
      .NumInputs(6)
      .EnforceInplace({{0, 0}, {1, 1}, {2, 2}})
      .Input(0, "param", "[rows, row..], float")
      .Input(3, "grad", "the gradient of the rows: [dims of indices.., row..]")
      .Input(4, "indices", "the rows to update, int32 or int64")
      .Input(5, "lr", "the learning rate: one element");
  RegisterCpuOperator<StormOp<true>>("SparseStorm", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseStorm", __FILE__);
}

}  // namespace caffe2rt
