#include "operators/reduce/row_max.h"

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

}  // namespace

void RegisterRowMax() {
  KeepSchema("RowwiseMax", 3, {0, 1}, "Computes the largest element of each row of N matrices.")
      .Output(0, "Y", "[N, R]");
  RegisterCpuOperator<MatrixMaxOp<CPUContext, true>>("RowwiseMax", __FILE__);

  KeepSchema("ColwiseMax", 3, {0, 2}, "Computes the largest element of each column of N matrices.")
      .Output(0, "Y", "[N, C]");
  RegisterCpuOperator<MatrixMaxOp<CPUContext, false>>("ColwiseMax", __FILE__);

  KeepSchema("ReduceTailSum", 0, {0}, "Computes the sum over all dimensions but the first.")
      .Output(0, "Y", "[N]");
  RegisterCpuOperator<ReduceTailSumOp<CPUContext>>("ReduceTailSum", __FILE__);
}

}  // namespace caffe2rt
