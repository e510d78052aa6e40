#include "operators/select/arg_max.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferArgMax(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  const std::vector<int64_t> input = GetDimsVector(in[0]);
  const AxisSpan span = SpanOfAxis(input, args.Read(kSelectAxis));
  std::vector<int64_t> dims;
  ReducedDims(input, span.axis, args.Read(kKeepDim), &dims);
  return {CreateTensorShape(dims, TensorProto_DataType_INT64)};
}

template <bool kMax>
void RegisterArg(const std::string& type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kSelectAxis, kKeepDim)
      .Input(0, "X", "float, double, int32 or int64, rank 1 or more")
      .Output(0, "Indices", "int64, the shape of X where the dimension has size 1 or is removed")
      .TensorInferenceFunction(InferArgMax)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(doc);
  RegisterCpuOperator<ArgOp<CPUContext, kMax>>(type, __FILE__);
}

}  // namespace

void RegisterArgMax() {
  RegisterArg<true>("ArgMax",
                    "Computes the index of the largest element along a dimension; the first one if "
                    "several are equal.");
  RegisterArg<false>("ArgMin",
                     "Computes the index of the smallest element along a dimension; the first one "
                     "if several are equal.");
  // An index is constant under small changes of the input.
  for (const char* type : {"ArgMax", "ArgMin"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
