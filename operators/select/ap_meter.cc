// APMeter: the average precision of each class over the last buffer_size examples, those of earlier
// runs included.
//   predictions float [N, D], labels int32 [N, D]  ->  AP float [D]
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kApBufferSize{"buffer_size",
                                          1000,
                                          "the number of examples that count, the last ones",
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
    classes_ = classes;
    const float* const score = predictions.data<float>();
    const int32_t* const label = labels.data<int32_t>();
    for (int64_t i = std::max<int64_t>(0, examples - capacity_); i < examples; ++i) {
      Keep(score + i * classes, label + i * classes);
    }
    float* const precision = OutputData<float>(0, {classes});
    for (int64_t c = 0; c < classes; ++c) precision[c] = AveragePrecision(c);
    return true;
  }

 private:
  struct Example {
    float score;
    int32_t position;
    bool positive;
  };

  // Replaces the oldest example if there are as many as count.
  void Keep(const float* scores, const int32_t* labels) {
    const auto width = static_cast<size_t>(classes_);
    if (count_ < capacity_) {
      kept_.resize(CheckedMultiply<size_t>(static_cast<size_t>(count_) + 1, width));
      ++count_;
    }
    Example* const row = kept_.data() + static_cast<size_t>(next_) * width;
    for (size_t c = 0; c < width; ++c) {
      // NaN is no score: it ranks last.
      const float score =
          std::isnan(scores[c]) ? -std::numeric_limits<float>::infinity() : scores[c];
      row[c] = {.score = score, .position = next_, .positive = labels[c] == 1};
    }
    next_ = (next_ + 1) % capacity_;
  }

  // The mean, over the positive examples, of the share of positive ones among those that have no
  // lower rank.
  float AveragePrecision(int64_t c) {
    ranked_.clear();
    for (int64_t i = 0; i < count_; ++i) {
      ranked_.push_back(kept_[static_cast<size_t>(i * classes_ + c)]);
    }
    std::sort(ranked_.begin(), ranked_.end(), [](const Example& a, const Example& b) {
      return a.score != b.score ? a.score > b.score : a.position < b.position;
    });
    double sum = 0;
    int64_t positives = 0, rank = 0;
    for (const Example& example : ranked_) {
      ++rank;
      if (!example.positive) continue;
      ++positives;
      sum += static_cast<double>(positives) / static_cast<double>(rank);
    }
    return positives == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(positives));
  }

  const int32_t capacity_;
  int64_t classes_ = -1;          // before the first run
  int32_t count_ = 0, next_ = 0;  // examples that are kept, and the place of the next one
  std::vector<Example> kept_, ranked_;
};

}  // namespace

void RegisterApMeter() {
  RegisterSchema("APMeter", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kApBufferSize)
      .Input(0, "predictions", "[N, D] float: scores of N examples for D classes")
      .Input(1, "labels", "[N, D] int32: 1 for a positive example")
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
          "over recall. The operator keeps the last buffer_size examples of all its runs.");
  RegisterCpuOperator<APMeterOp>("APMeter", __FILE__);
  // A ranking is no differentiable function of the scores.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("APMeter", __FILE__);
}

}  // namespace caffe2rt
