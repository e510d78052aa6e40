// SparseLpRegularizer: shrinks the rows of param that indices name.
//   param [N, *], indices [K] int32 or int64, optional grad (not used)  ->  param, in place
//   p = 1: x moves by reg_lambda towards 0, at most to 0;  p = 2: x * (1 - reg_lambda)
#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kRegularizerP{
    "p", 2.0f, "the norm: 1 or 2", {[](float p) { return p == 1.0f || p == 2.0f; }, "1 or 2"}};
constexpr ArgumentSpec<float> kRegularizerLambda{
    "reg_lambda",
    1e-5f,
    "the strength of the regularization",
    {[](float lambda) { return lambda > 0 && lambda < 1; }, "between 0 and 1"}};

class SparseLpRegularizerOp final : public Operator<CPUContext> {
 public:
  SparseLpRegularizerOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        p_(ReadArgument(kRegularizerP)),
        lambda_(ReadArgument(kRegularizerLambda)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(1).dtype(), "input 1 (indices)",
        [this](auto index) { return this->template Shrink<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Shrink() {
    const Tensor& param = Input(0);
    const Tensor& indices = Input(1);
    CAFFE_ENFORCE_GE(param.dim(), 1, "rank of input 0 (param)");
    RequireElements<float>(param);
    const int64_t rows = param.dim(0), size = param.size_from_dim(1);
    const Index* const index = indices.data<Index>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows, "element ", i, " of input 1 (indices) is ",
                    index[i], ", want 0 to ", rows - 1);
    }
    float* const values = Output(0)->mutable_data<float>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      float* const row = values + index[i] * size;
      for (int64_t j = 0; j < size; ++j)
        row[j] = p_ == 1.0f ? Nearer(row[j]) : row[j] * (1 - lambda_);
    }
    return true;
  }
  float Nearer(float x) const {
    return x < 0 ? std::min(x + lambda_, 0.0f) : std::max(x - lambda_, 0.0f);
  }

  const float p_;
  const float lambda_;
};

}  // namespace

void RegisterSparseLpRegularizer() {
  RegisterSchema("SparseLpRegularizer", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Args(kRegularizerP, kRegularizerLambda)
      .Input(0, "param", "rows to shrink, [N, *], float")
      .Input(1, "indices", "rows that are shrunk, in this order; int32 or int64")
      .Input(2, "grad", "optional; not used")
      .Output(0, "output_param", "param, in place")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Shrinks the rows of param that indices name: with p = 1 each element moves by "
          "reg_lambda towards 0, at most to 0; with p = 2 it is multiplied by 1 - reg_lambda.");
  // The operator updates parameters after the backward pass. Caffe2 has no gradient maker either.
  RegisterCpuOperator<SparseLpRegularizerOp>("SparseLpRegularizer", __FILE__);
}

}  // namespace caffe2rt
