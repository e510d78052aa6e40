#include "operators/reduce/sum_reduce_like.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void MarkNumpyBroadcastDims(IntArrayRef a, IntArrayRef b, std::vector<char>* marks) {
  CAFFE_ENFORCE_GE(a.size(), b.size(), "rank of input 0 (A) ", a,
                   ", want at least the rank of input 1 (B) ", b);
  const size_t added = a.size() - b.size();
  marks->assign(a.size(), 1);
  for (size_t i = 0; i < b.size(); ++i) {
    CAFFE_ENFORCE(b[i] == a[added + i] || b[i] == 1, "input 1 (B) has shape ", b,
                  ", which cannot be broadcast to that of input 0 (A) ", a);
    (*marks)[added + i] = b[i] == a[added + i] ? 0 : 1;
  }
}

// Caffe2 registers no gradient for SumReduceLike.
void RegisterSumReduceLike() {
  OpSchema& schema = RegisterSchema("SumReduceLike", __FILE__);
  schema.NumInputs(2)
      .NumOutputs(1)
      .Input(0, "A", "input, float or double, of any shape")
      .Input(1, "B", "tensor whose shape can be broadcast to that of A; only its shape is used")
      .Output(0, "Y", "the shape of B, the type of A")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[1]), in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(
          "Sums A over the dimensions along which B would be broadcast to A: the gradient of a "
          "broadcast.");
  DeclareBroadcastArguments(schema);
  schema.Arg(kSumReduceNumpy);
  RegisterCpuOperator<SumReduceLikeOp<CPUContext>>("SumReduceLike", __FILE__);
}

}  // namespace caffe2rt
