#include "operators/reduce/reduce_front_back.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void CheckReduceDims(int num_reduce_dim, int64_t rank) {
  CAFFE_ENFORCE(num_reduce_dim >= 0 && num_reduce_dim <= rank, "argument num_reduce_dim is ",
                num_reduce_dim, ", want 0 to ", rank, ", the rank of input 0 (X)");
}

namespace {

// ReduceFrontSum has ReduceFrontSumGradient, and so on. The gradients of maxima also need Y.
template <class Accumulate>
class GetFrontBackGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {GO(0), I(0)};
    if (Accumulate::kGradientReadsData) inputs.push_back(O(0));
    if (def_.input_size() > 1) inputs.push_back(I(1));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, {GI(0)});
  }
};

// Unknown if input 1 is the shape of X.
template <class Accumulate>
std::vector<TensorShape> InferFrontBackGradient(const OperatorDef& def,
                                                const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const std::vector<int64_t> dims = GetDimsVector(in[1]);
  if (!Accumulate::kGradientReadsData && dims.size() == 1 &&
      in[1].data_type() == TensorProto_DataType_INT64) {
    return UnknownOutputs(def);
  }
  CheckReduceDims(ArgumentHelper(def).Read(kNumReduceDim), static_cast<int64_t>(dims.size()));
  return {CreateTensorShape(dims, in[0].data_type())};
}

template <bool kFront, class Accumulate, class... Types>
void RegisterFrontBackGradient(const char* forward) {
  const std::string type = MakeString(forward, "Gradient");
  constexpr bool kReadsData = Accumulate::kGradientReadsData;
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(kReadsData ? 3 : 2, kReadsData ? 4 : 3)
      .NumOutputs(1)
      .Arg(kNumReduceDim)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "X",
             kReadsData ? "the input of the reduction"
                        : "the input of the reduction, or its shape as a vector of int64")
      .Output(0, "dX", "the gradient of X")
      .TensorInferenceFunction(InferFrontBackGradient<Accumulate>)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(MakeString("Computes the gradient of ", forward, "."));
  if (kReadsData) schema.Input(2, "Y", "the output of the reduction");
  schema.Input(kReadsData ? 3 : 2, "lengths",
               "optional, int32: the number of elements that count for each output");
  RegisterCpuOperator<ReduceFrontBackGradientOp<CPUContext, kFront, Accumulate, Types...>>(
      type, __FILE__);
  RegisterGradient<GetFrontBackGradient<Accumulate>>(forward, __FILE__);
}

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
  RegisterFrontBackGradient<kFront, Accumulate, Types...>(type);
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
