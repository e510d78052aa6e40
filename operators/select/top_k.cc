#include "operators/select/top_k.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/select/register.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> Infer(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  const int k = args.GetSingleArgument<int>("k", -1);
  // Without the argument k is known in a run only.
  if (!AreKnown(in, 1) || (k == -1 && def.input_size() > 1)) return UnknownOutputs(def);
  CAFFE_ENFORCE_GE(k, 1, "argument k");
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  const AxisSpan span = SpanOfAxis(dims, args.GetSingleArgument<int>("axis", -1));
  dims[static_cast<size_t>(span.axis)] = k;
  std::vector<TensorShape> shapes = {CreateTensorShape(dims, in[0].data_type()),
                                     CreateTensorShape(dims, TensorProto_DataType_INT64)};
  if (def.output_size() > 2) {
    const std::vector<int64_t> flat = {CheckedProduct(dims)};
    shapes.push_back(CreateTensorShape(flat, TensorProto_DataType_INT64));
  }
  return shapes;
}

}  // namespace

void RegisterTopK() {
  RegisterSchema("TopK", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2, 3)
      .Arg("k", "how many, at least 1; must be given here or as an input", -1)
      .Arg("axis", "the dimension; -1 is the last one", -1)
      .Input(0, "X", "a float tensor of rank 1 or more")
      .Input(1, "k", "(optional) int64, counts when argument k is not given")
      .Output(0, "Values", "X with k in place of the dimension's size, in descending order")
      .Output(1, "Indices", "int64: where they stood in the dimension")
      .Output(2, "Flattened indices", "(optional) int64 vector: where they stood in the flat X")
      .TensorInferenceFunction(Infer)
      .SetDoc("Gives the k largest elements along a dimension; ties go to the lower index.");
  RegisterCpuOperator<TopKOp<CPUContext>>("TopK", __FILE__);
}

}  // namespace caffe2rt
