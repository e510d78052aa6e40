// The losses of softmax on CUDA. One thread computes one term of the loss or one element of the
// gradient.

#include <cmath>

#include "contexts/cuda/cuda_report.h"
#include "operators/loss/softmax_with_loss_kernels.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

namespace {

struct LossSum {
  double loss, weight;
};

// The weight of position k; 0 if it is ignored.
CAFFE2RT_HOST_DEVICE inline float WeightOf(const LossTargets& targets, int64_t k) {
  if (targets.may_ignore && targets.labels[k] == -1) return 0;
  return targets.weights != nullptr ? targets.weights[k] : 1;
}

// Whether the label of position k is a class. If not, and it is not ignored, it is reported.
CAFFE2RT_HOST_DEVICE inline bool IsClass(const LossShape& shape, const LossTargets& targets,
                                         int64_t k, KernelReport* report, ReportText text) {
  const int64_t label = targets.labels[k];
  if (label >= 0 && label < shape.classes) return true;
  if (!targets.may_ignore || label != -1) report->Raise(text, label, shape.classes);
  return false;
}

// Element i is the term of position i, or with label probabilities that of one class of one item.
struct LossWork {
  using Value = LossSum;
  LossShape shape;
  LossTargets targets;
  float factor;
  const float* x;  // null: probabilities below 1e-20 count as 1e-20
  const float* probabilities;
  float* loss;
  KernelReport* report;
  ReportText text;

  CAFFE2RT_HOST_DEVICE Value Start() const { return {0, 0}; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const {
    if (targets.label_probs != nullptr) {
      const int64_t item = i / shape.classes;
      const double weight = WeightOf(targets, item);
      return {weight * targets.label_probs[i] * CappedSurprise(probabilities[i]),
              i % shape.classes == 0 ? weight : 0};
    }
    const double weight = WeightOf(targets, i);
    if (!IsClass(shape, targets, i, report, text)) return {0, weight};
    const int64_t item = i / shape.positions, position = i % shape.positions;
    const int64_t first = item * shape.classes * shape.positions, label = targets.labels[i];
    const double surprise =
        x != nullptr ? ExactSurprise(x + first, probabilities + first, shape.classes, label)
                     : CappedSurprise(probabilities[first + label * shape.positions + position]);
    return {weight * surprise, weight};
  }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const {
    return {a.loss + b.loss, a.weight + b.weight};
  }
  CAFFE2RT_HOST_DEVICE void Finish(Value sum) const {
    const double divisor =
        targets.average_by_batch_size ? static_cast<double>(shape.batch) : sum.weight;
    *loss = static_cast<float>(divisor != 0 ? sum.loss * factor / divisor : 0);
  }
};

struct WeightSum {
  using Value = double;
  LossTargets targets;
  double* sum;
  CAFFE2RT_HOST_DEVICE Value Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return WeightOf(targets, i); }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a + b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value value) const { *sum = value; }
};

// A block checks the label probabilities of one item.
struct CheckProbabilities {
  int64_t classes;
  const float* label_probs;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const p = label_probs + row.index() * classes;
    const double sum = row.Reduce(classes, 0.0, Plus(), [=](int64_t i) {
      // A negative probability makes the sum invalid.
      return p[i] >= 0 ? static_cast<double>(p[i]) : 1e9;
    });
    row.Once([=, this] {
      if (std::fabs(sum - 1) >= 1e-5) report->Raise(text, row.index());
    });
  }
};

struct LossGradient {
  LossShape shape;
  LossTargets targets;
  float factor;
  const float* probabilities;
  const float* dloss;
  const double* divisor;
  float* dx;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t image = shape.classes * shape.positions;
    const int64_t item = i / image, c = i % image / shape.positions;
    const int64_t k = item * shape.positions + i % shape.positions;
    const double by = targets.average_by_batch_size ? static_cast<double>(shape.batch) : *divisor;
    const float scale = by > 0 ? static_cast<float>(factor * *dloss / by) : 0;
    float label = 0;
    if (targets.label_probs != nullptr) {
      label = targets.label_probs[i];
    } else if (IsClass(shape, targets, k, report, text)) {
      label = targets.labels[k] == c ? 1 : 0;
    }
    dx[i] = (probabilities[i] - label) * WeightOf(targets, k) * scale;
  }
};

constexpr const char kLabelText[] = "a label is %, want 0 to below % classes";

}  // namespace

void AverageLoss(CUDAContext& context, const LossShape& shape, const LossTargets& targets,
                 float factor, const float* x, const float* probabilities, void* scratch,
                 float* loss) {
  KernelReport* const report = ReportOf(context);
  int64_t n = shape.batch * shape.positions;
  if (targets.label_probs != nullptr) {
    n *= shape.classes;
    ForEachRow(context, shape.batch,
               CheckProbabilities{shape.classes, targets.label_probs, report,
                                  "the label probabilities of row % do not add up to 1"},
               "SoftmaxWithLoss");
  }
  ReduceAll(context, n,
            LossWork{shape, targets, factor, x, probabilities, loss, report, kLabelText}, scratch,
            "SoftmaxWithLoss");
}

void AverageLossGradient(CUDAContext& context, const LossShape& shape, const LossTargets& targets,
                         float factor, const float* probabilities, const float* dloss,
                         void* scratch, float* dx) {
  // The sum of the weights precedes the scratch memory of the reduction.
  auto* const sum = static_cast<double*>(scratch);
  ReduceAll(context, shape.batch * shape.positions, WeightSum{targets, sum}, sum + 2,
            "SoftmaxWithLossGradient");
  ForEach(context, shape.batch * shape.classes * shape.positions,
          LossGradient{shape, targets, factor, probabilities, dloss, sum, dx, ReportOf(context),
                       kLabelText},
          "SoftmaxWithLossGradient");
}

int64_t LossScratchBytes(const CUDAContext&) { return 16 + kReduceAllBytes<LossSum>; }

}  // namespace caffe2rt
