#include "operators/reduce/row_max.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Registers the schema of an operator whose output has the dimensions `kept` of its input. `rank`
// is the rank of the input; 0 means any rank of at least 1.
OpSchema& KeepSchema(const char* type, size_t rank, std::vector<size_t> kept, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", rank == 0 ? "[N, *], float" : "[N, R, C], float")
      .TensorInferenceFunction([rank, kept](const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        const std::vector<int64_t> dims = GetDimsVector(in[0]);
        CAFFE_ENFORCE(rank == 0 ? !dims.empty() : dims.size() == rank, "rank of input 0 (X) is ",
                      dims.size(), ", want ", rank == 0 ? "at least 1" : "3");
        std::vector<int64_t> result;
        for (const size_t i : kept) result.push_back(dims[i]);
        return std::vector<TensorShape>{CreateTensorShape(result, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(doc);
}

class GetMatrixMaxGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(def_.type() + "Gradient", "", {I(0), O(0), GO(0)}, {GI(0)});
  }
};

template <bool kRows>
void RegisterMaxGradient(const char* forward) {
  const std::string type = MakeString(forward, "Gradient");
  RegisterSchema(type, __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "X", "[N, R, C], float")
      .Input(1, "Y", kRows ? "[N, R]" : "[N, C]")
      .Input(2, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(MakeString("Computes the gradient of ", forward,
                         ". Every element that equals the largest has its gradient."));
  RegisterCpuOperator<MatrixMaxGradientOp<CPUContext, kRows>>(type, __FILE__);
  RegisterGradient<GetMatrixMaxGradient>(forward, __FILE__);
}

}  // namespace

void RegisterRowMax() {
  KeepSchema("RowwiseMax", 3, {0, 1}, "Computes the largest element of each row of N matrices.")
      .Output(0, "Y", "[N, R]");
  RegisterCpuOperator<MatrixMaxOp<CPUContext, true>>("RowwiseMax", __FILE__);
  RegisterMaxGradient<true>("RowwiseMax");

  KeepSchema("ColwiseMax", 3, {0, 2}, "Computes the largest element of each column of N matrices.")
      .Output(0, "Y", "[N, C]");
  RegisterCpuOperator<MatrixMaxOp<CPUContext, false>>("ColwiseMax", __FILE__);
  RegisterMaxGradient<false>("ColwiseMax");

  // Caffe2 registers no gradient for ReduceTailSum.
  KeepSchema("ReduceTailSum", 0, {0}, "Computes the sum over all dimensions but the first.")
      .Output(0, "Y", "[N]");
  RegisterCpuOperator<ReduceTailSumOp<CPUContext>>("ReduceTailSum", __FILE__);
}

}  // namespace caffe2rt
