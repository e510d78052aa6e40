// APMeter: the average precision of each class over at most buffer_size examples, those of earlier
// runs included.
//   predictions float [N, D], labels int32 [N, D]  ->  AP float [D]
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kApBufferSize{
    "buffer_size",
    1000,
    "the number of examples that are kept; further ones replace those with the greatest scores",
    {[](int size) { return size >= 1; }, "at least 1"}};

class APMeterOp final : public Operator<CPUContext> {
 public:
  APMeterOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), capacity_(ReadArgument(kApBufferSize)) {}

  bool RunOnDevice() override {
    const Tensor& predictions = Input(0);
    const Tensor& labels = Input(1);
    CAFFE_ENFORCE_EQ(predictions.dim(), 2, "rank of input 0 (predictions) of shape ",
                     predictions.sizes());
    const int64_t examples = predictions.dim(0), classes = predictions.dim(1);
    CAFFE_ENFORCE(classes_ < 0 || classes == classes_, "input 0 (predictions) has ", classes,
                  " columns, want ", classes_, ", as in the run before");
    CAFFE_ENFORCE(labels.numel() == predictions.numel() && (labels.sizes() == predictions.sizes() ||
                                                            (labels.dim() == 1 && classes == 1)),
                  "input 1 (labels) has shape ", labels.sizes(), ", want that of input 0 ",
                  "(predictions), ", predictions.sizes());
    RequireElements<float>(predictions);
    RequireElements<int32_t>(labels);
    if (classes_ < 0) kept_.resize(static_cast<size_t>(classes));
    classes_ = classes;
    const int64_t skipped = std::max<int64_t>(0, examples - capacity_), added = examples - skipped;
    const float* const score = predictions.data<float>() + skipped * classes;
    const int32_t* const label = labels.data<int32_t>() + skipped * classes;
    float* const precision = OutputData<float>(0, {classes});
    for (int64_t c = 0; c < classes; ++c) {
      std::vector<Example>& kept = kept_[static_cast<size_t>(c)];
      const int64_t dropped =
          std::max<int64_t>(0, static_cast<int64_t>(kept.size()) + added - capacity_);
      kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(dropped));
      for (int64_t i = 0; i < added; ++i)
        Keep(score[i * classes + c], label[i * classes + c], &kept);
      precision[c] = AveragePrecision(&kept);
    }
    return true;
  }

 private:
  struct Example {
    float score;
    int32_t label;
    int64_t position;
  };

  static void Keep(float score, int32_t label, std::vector<Example>* kept) {
    // NaN is no score: it ranks last.
    if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
    kept->push_back({.score = score, .label = label, .position = 0});
  }

  // The mean, over the positive examples, of the sum of the labels among those that have no lower
  // rank divided by their number. Leaves the examples in the order of their ranks: as in Caffe2, a
  // full buffer drops those with the greatest scores.
  static float AveragePrecision(std::vector<Example>* kept) {
    int64_t position = 0;
    for (Example& example : *kept) example.position = position++;
    std::sort(kept->begin(), kept->end(), [](const Example& a, const Example& b) {
      return a.score != b.score ? a.score > b.score : a.position < b.position;
    });
    double sum = 0;
    int64_t labels = 0, positives = 0, rank = 0;
    for (const Example& example : *kept) {
      ++rank;
      labels += example.label;
      if (example.label != 1) continue;
      ++positives;
      sum += static_cast<double>(labels) / static_cast<double>(rank);
    }
    return positives == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(positives));
  }

  const int64_t capacity_;
  int64_t classes_ = -1;                    // before the first run
  std::vector<std::vector<Example>> kept_;  // for each class, in the order of their ranks
};

}  // namespace

void RegisterApMeter() {
  RegisterSchema("APMeter", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kApBufferSize)
      .Input(0, "predictions", "[N, D] float: scores of N examples for D classes")
      .Input(1, "labels", "[N, D] int32: 1 for a positive example, 0 for others")
      .Output(0, "AP",
              "[D] float: the average precision of each class, 0 without positive examples")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (in.empty() || !IsKnown(in[0]) || in[0].dims_size() != 2) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
        }
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{in[0].dims(1)}, TensorProto::FLOAT)};
      })
      .SetDoc(
          "Computes the average precision of each class, the area under the curve of precision "
          "over recall, for the examples of all runs of the operator. If there are more than "
          "buffer_size, new ones replace those with the greatest scores, as in Caffe2.");
  RegisterCpuOperator<APMeterOp>("APMeter", __FILE__);
  // A ranking is no differentiable function of the scores.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("APMeter", __FILE__);
}

}  // namespace caffe2rt
