// AccumulateHistogram: counts the elements in equal intervals between two bounds, in this run and in
// all runs of the operator.
//   X float  ->  CurHist [num_buckets + 2] int64, AccHist [num_buckets + 2] int64
//
// The first bucket counts the elements below lower_bound, the last one those from upper_bound on.
// NaNs are not counted. Caffe2 has no implementation for CUDA.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kHistogramLowerBound{
    "lower_bound", 0.0f, "elements below it are counted in the first bucket"};
constexpr ArgumentSpec<float> kHistogramUpperBound{
    "upper_bound", 1.0f, "elements from it on are counted in the last bucket"};
constexpr ArgumentSpec<int> kHistogramBuckets{
    "num_buckets",
    1,
    "number of buckets between the bounds",
    {[](int count) { return count > 0 && count <= (1 << 30); }, "from 1 to 2^30"}};

class AccumulateHistogramOp final : public Operator<CPUContext> {
 public:
  AccumulateHistogramOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        lower_(ReadArgument(kHistogramLowerBound)),
        upper_(ReadArgument(kHistogramUpperBound)),
        buckets_(ReadArgument(kHistogramBuckets)) {}

  bool RunOnDevice() override {
    const Tensor& input = Input(0);
    const float* const x = input.data<float>();
    const int64_t size = buckets_ + 2;
    int64_t* const current = OutputData<int64_t>(0, {size});
    std::fill_n(current, size, int64_t{0});
    const float last = static_cast<float>(buckets_);
    const float width = (upper_ - lower_) / last;
    for (int64_t i = 0; i < input.numel(); ++i) {
      if (x[i] < lower_) {
        ++current[0];
      } else if (x[i] >= upper_) {
        ++current[size - 1];
      } else if (x[i] >= lower_) {
        const float bucket = (x[i] - lower_) / width;  // may be rounded up to the last bucket
        if (bucket >= 0.0f) ++current[ClampedIndex(bucket, buckets_) + 1];
      }
    }
    Accumulate(size, current);
    return true;
  }

 private:
  void Accumulate(int64_t size, const int64_t* current) {
    const bool is_first = !total_.IsShaped();
    total_.Resize(size);
    int64_t* const total = total_.mutable_data<int64_t>();
    if (is_first) std::fill_n(total, size, int64_t{0});
    int64_t* const accumulated = OutputData<int64_t>(1, {size});
    for (int64_t i = 0; i < size; ++i) accumulated[i] = total[i] += current[i];
  }

  const float lower_;
  const float upper_;
  const int64_t buckets_;
  Tensor total_{CPU};  // the counts of all runs
};

std::vector<TensorShape> InferHistogram(const OperatorDef& def, const std::vector<TensorShape>&) {
  const int64_t size = int64_t{ArgumentHelper(def).Read(kHistogramBuckets)} + 2;
  const TensorShape shape = CreateTensorShape(std::vector<int64_t>{size}, TensorProto::INT64);
  return {shape, shape};
}

}  // namespace

void RegisterAccumulateHistogram() {
  RegisterSchema("AccumulateHistogram", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Args(kHistogramLowerBound, kHistogramUpperBound, kHistogramBuckets)
      .Input(0, "X", "float, any shape")
      .Output(0, "CurHist", "[num_buckets + 2] int64: the counts of this run")
      .Output(1, "AccHist", "[num_buckets + 2] int64: the counts of all runs of this operator")
      .HasEffect(Effect::kEverything)  // a run depends on the earlier ones
      .TensorInferenceFunction(InferHistogram)
      .SetDoc(
          "Counts the elements in equal intervals between lower_bound and upper_bound. The first "
          "bucket counts those below, the last one those above. NaNs are not counted.");
  RegisterCpuOperator<AccumulateHistogramOp>("AccumulateHistogram", __FILE__);
  // The outputs are counts.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("AccumulateHistogram", __FILE__);
}

}  // namespace caffe2rt
