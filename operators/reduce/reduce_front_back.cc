#include "operators/reduce/reduce_front_back.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void CheckReduceDims(int num_reduce_dim, int64_t rank) {
  CAFFE_ENFORCE(num_reduce_dim >= 0 && num_reduce_dim <= rank, "argument num_reduce_dim is ",
                num_reduce_dim, ", want 0 to ", rank, ", the rank of input 0 (X)");
}

namespace {

template <bool kFront, class Accumulate, class... Types>
void RegisterFrontBack(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kNumReduceDim)
      .Input(0, "X", "input, of any shape")
      .Input(1, "lengths", "optional, int32: the number of elements that count for each output")
      .Output(0, "Y", "the remaining dimensions of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        const int count = ArgumentHelper(def).Read(kNumReduceDim);
        const std::vector<int64_t> dims = GetDimsVector(in[0]);
        CheckReduceDims(count, static_cast<int64_t>(dims.size()));
        const std::vector<int64_t> rest(kFront ? dims.begin() + count : dims.begin(),
                                        kFront ? dims.end() : dims.end() - count);
        return std::vector<TensorShape>{CreateTensorShape(rest, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(doc);
  RegisterCpuOperator<ReduceFrontBackOp<CPUContext, kFront, Accumulate, Types...>>(type, __FILE__);
}

}  // namespace

void RegisterReduceFrontBack() {
  RegisterFrontBack<true, SumOf, float, double, int32_t, int64_t>(
      "ReduceFrontSum", "Computes the sum over the first num_reduce_dim dimensions.");
  RegisterFrontBack<true, MeanOf, float, double, int32_t, int64_t>(
      "ReduceFrontMean", "Computes the mean over the first num_reduce_dim dimensions.");
  RegisterFrontBack<true, MaxOrZero, float>(
      "ReduceFrontMax",
      "Computes the largest element over the first num_reduce_dim dimensions; 0 if there are no "
      "elements.");
  RegisterFrontBack<false, SumOf, float, double, int32_t, int64_t>(
      "ReduceBackSum", "Computes the sum over the last num_reduce_dim dimensions.");
  RegisterFrontBack<false, MeanOf, float, double, int32_t, int64_t>(
      "ReduceBackMean", "Computes the mean over the last num_reduce_dim dimensions.");
  RegisterFrontBack<false, MaxOrZero, float>(
      "ReduceBackMax",
      "Computes the largest element over the last num_reduce_dim dimensions; 0 if there are no "
      "elements.");
}

}  // namespace caffe2rt
