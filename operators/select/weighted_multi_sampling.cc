// WeightedMultiSampling: draws indices from a cumulative distribution.
//   sampling_cdf float [n], optional shape_tensor  ->  sampled_indexes int32 [num_samples], or of
//   the shape of shape_tensor; [0] if n is 0
#include <algorithm>
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/random.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int64_t> kNumWeightedSamples{
    "num_samples",
    0,
    "the number of draws; not with input 1",
    {[](int64_t count) { return count >= 0; }, "at least 0"}};

class WeightedMultiSamplingOp final : public Operator<CPUContext> {
 public:
  WeightedMultiSamplingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), num_samples_(ReadArgument(kNumWeightedSamples)) {
    CAFFE_ENFORCE(InputSize() < 2 || !HasArgument(kNumWeightedSamples),
                  "input 1 (shape_tensor) and argument num_samples are given, want one of them");
  }

  bool RunOnDevice() override {
    const Tensor& cdf = Input(0);
    CAFFE_ENFORCE_EQ(cdf.dim(), 1, "rank of input 0 (sampling_cdf) of shape ", cdf.sizes());
    RequireElements<float>(cdf);
    const auto n = CheckedCast<int32_t>(cdf.numel(), "elements of input 0 (sampling_cdf)");
    if (n == 0) {
      (void)OutputData<int32_t>(0, {0});
      return true;
    }
    const float* const sums = cdf.data<float>();
    const float total = sums[n - 1];
    CAFFE_ENFORCE(std::isfinite(total) && total >= 0, "element ", n - 1,
                  " of input 0 (sampling_cdf) is ", total, ", want a finite number, at least 0");
    int32_t* const index = InputSize() > 1 ? OutputData<int32_t>(0, Input(1).sizes())
                                           : OutputData<int32_t>(0, {num_samples_});
    const int64_t count = Output(0)->numel();
    for (int64_t i = 0; i < count; ++i) {
      const float place = math::UniformFloat(context_.RandGenerator(), 0, total);
      index[i] = static_cast<int32_t>(
          std::min<int64_t>(std::lower_bound(sums, sums + n, place) - sums, n - 1));
    }
    return true;
  }

 private:
  const int64_t num_samples_;
};

}  // namespace

void RegisterWeightedMultiSampling() {
  RegisterSchema("WeightedMultiSampling", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kNumWeightedSamples)
      .Input(0, "sampling_cdf", "[n] float: cumulative weights, in ascending order")
      .Input(1, "shape_tensor (optional)", "a tensor whose shape the result has (optional)")
      .Output(0, "sampled_indexes",
              "int32: the indices, each with a probability in proportion to "
              "the difference of its cumulative weight to the one before")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .HasEffect(Effect::kRandom)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = {UnknownShapeOf(TensorProto::INT32)};
        if (!AreKnown(in, in.size()) || in.empty()) return out;
        std::vector<int64_t> dims = {ArgumentHelper(def).Read(kNumWeightedSamples)};
        if (in.size() > 1) dims = GetDimsVector(in[1]);
        if (NumElements(in[0]) == 0) dims = {0};
        out[0] = CreateTensorShape(dims, TensorProto::INT32);
        return out;
      })
      .SetDoc("Draws indices from a distribution, given by its cumulative weights.");
  // A draw is no differentiable function of the weights. Caffe2 has no gradient maker either.
  RegisterCpuOperator<WeightedMultiSamplingOp>("WeightedMultiSampling", __FILE__);
}

}  // namespace caffe2rt
