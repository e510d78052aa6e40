// Glu: the gated linear unit. X is cut into two halves A and B along a dimension.
//   X [.., 2 n, ..] float  ->  Y [.., n, ..] = A * sigmoid(B)

#include <cmath>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kGluDim{"dim", -1,
                                    "dimension that is cut; a negative one counts from the end"};

int GluAxis(IntArrayRef dims, int dim) {
  const int axis = canonical_axis_index_(dim, static_cast<int>(dims.size()));
  const int64_t size = dims[static_cast<size_t>(axis)];
  CAFFE_ENFORCE_EQ(size % 2, 0, "dim ", axis, " of input 0 (X) of shape ", dims,
                   " divided by 2, want no remainder");
  return axis;
}

class GluOp final : public Operator<CPUContext> {
 public:
  GluOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), dim_(ReadArgument(kGluDim)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.data<float>();
    const int axis = GluAxis(X.sizes(), dim_);
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_[static_cast<size_t>(axis)] /= 2;
    float* y = OutputData<float>(0, dims_);
    const int64_t half = size_from_dim_(axis, dims_), outer = size_to_dim_(axis, dims_);
    for (int64_t i = 0; i < outer; ++i, x += 2 * half, y += half) {
      for (int64_t k = 0; k < half; ++k) y[k] = x[k] / (1 + std::exp(-x[half + k]));
    }
    return true;
  }

 private:
  const int dim_;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterGlu() {
  RegisterSchema("Glu", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kGluDim)
      .Input(0, "X", "input, float; the dimension has an even size")
      .Output(0, "Y", "half of X in the dimension")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        dims[static_cast<size_t>(GluAxis(dims, ArgumentHelper(def).Read(kGluDim)))] /= 2;
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<4>)
      .Traits({.family = OperatorFamily::kActivation})
      .SetDoc(
          "Gated linear unit: cuts X into two halves A and B along a dimension and computes A * "
          "sigmoid(B).");
  RegisterCpuOperator<GluOp>("Glu", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
