// The kernels of AveragedLoss, CrossEntropy, LabelCrossEntropy, MakeTwoClass,
// SigmoidCrossEntropyWithLogits and their gradients.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/loss/loss_kernels.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

namespace {

struct AverageAll {
  using Value = double;
  int64_t n;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE Value Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return x[i]; }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a + b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value sum) const {
    *y = n == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(n));
  }
};

struct SpreadAverage {
  int64_t n;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { dx[i] = *dy / static_cast<float>(n); }
};

// Checks a label.
struct LabelChecker {
  int64_t classes;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE bool operator()(int64_t label, int64_t row) const {
    if (label >= 0 && label < classes) return true;
    report->Raise(text, label, row, classes);
    return false;
  }
};

LabelChecker CheckerOf(const CUDAContext& context, int64_t classes) {
  return {classes, ReportOf(context),
          "input 1 (label) is % in row %, want at least 0 and below %, the number of classes"};
}

// A thread computes one row.
struct LabelRows {
  LabelChecker check;
  const float* x;
  const int32_t* labels;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    y[i] = check(labels[i], i) ? -math::Log(ClampProbability(x[i * check.classes + labels[i]])) : 0;
  }
};

// A thread computes one element.
struct LabelGradient {
  LabelChecker check;
  const float* x;
  const int32_t* labels;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / check.classes, label = labels[row];
    const bool is_valid = check(label, row);
    dx[i] = is_valid && i - row * check.classes == label ? -dy[row] / ClampProbability(x[i]) : 0.0f;
  }
};

// A block computes one row.
struct CrossEntropyRows {
  KernelReport* report;
  ReportText text;
  int64_t classes;
  const float* x;
  const float* labels;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * classes;
    const float sum = row.Reduce(classes, 0.0f, Plus(), [=, this](int64_t j) {
      if (!(labels[first + j] >= 0 && labels[first + j] <= 1)) {
        report->Raise(text, row.index());
      }
      return labels[first + j] * math::Log(ClampProbability(x[first + j]));
    });
    row.Once([=, this] { y[row.index()] = -sum; });
  }
};

struct CrossEntropyElements {
  int64_t classes;
  const float* x;
  const float* labels;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    dx[i] = -dy[i / classes] * labels[i] / ClampProbability(x[i]);
  }
};

struct TwoClasses {
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    y[2 * i] = 1.0f - x[i];
    y[2 * i + 1] = x[i];
  }
};

struct TwoClassesGradient {
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { dx[i] = dy[2 * i + 1] - dy[2 * i]; }
};

// A block computes one row.
struct SigmoidLossRows {
  SigmoidLoss loss;
  int64_t cols;
  const float* x;
  const float* targets;
  const float* weights;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * cols;
    const float sum = row.Reduce(cols, 0.0f, Plus(), [=, this](int64_t j) {
      const float value = loss(x[first + j], targets[first + j]);
      return weights == nullptr ? value : weights[first + j] * value;
    });
    row.Once([=, this] { y[row.index()] = cols == 0 ? 0.0f : sum / static_cast<float>(cols); });
  }
};

// A thread computes one element.
struct SigmoidLossElements {
  SigmoidLoss loss;
  int64_t cols;
  const float* x;
  const float* targets;
  const float* weights;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const float slope = loss.Gradient(x[i], targets[i]);
    const float scale = dy[i / cols] / static_cast<float>(cols);
    dx[i] = scale * (weights == nullptr ? slope : weights[i] * slope);
  }
};

}  // namespace

void Average(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* scratch) {
  ReduceAll(context, n, AverageAll{n, x, y}, scratch, "AveragedLoss");
}

void AverageGradient(CUDAContext& context, int64_t n, const float* dy, float* dx) {
  ForEach(context, n, SpreadAverage{n, dy, dx}, "AveragedLossGradient");
}

void LabelCrossEntropy(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                       const int32_t* labels, float* y) {
  ForEach(context, rows, LabelRows{CheckerOf(context, classes), x, labels, y}, "LabelCrossEntropy");
}

void LabelCrossEntropyGradient(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                               const int32_t* labels, const float* dy, float* dx) {
  ForEach(context, rows * classes, LabelGradient{CheckerOf(context, classes), x, labels, dy, dx},
          "LabelCrossEntropyGradient");
}

void CrossEntropy(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                  const float* labels, float* y) {
  const CrossEntropyRows job = {ReportOf(context),
                                "input 1 (label) has a value in row % that is not from 0 to 1",
                                classes,
                                x,
                                labels,
                                y};
  ForEachRow(context, rows, job, "CrossEntropy");
}

void CrossEntropyGradient(CUDAContext& context, int64_t rows, int64_t classes, const float* x,
                          const float* labels, const float* dy, float* dx) {
  ForEach(context, rows * classes, CrossEntropyElements{classes, x, labels, dy, dx},
          "CrossEntropyGradient");
}

void MakeTwoClasses(CUDAContext& context, int64_t n, const float* x, float* y) {
  ForEach(context, n, TwoClasses{x, y}, "MakeTwoClass");
}

void MakeTwoClassesGradient(CUDAContext& context, int64_t n, const float* dy, float* dx) {
  ForEach(context, n, TwoClassesGradient{dy, dx}, "MakeTwoClassGradient");
}

void SigmoidLosses(CUDAContext& context, int64_t rows, int64_t cols, const SigmoidLoss& loss,
                   const float* x, const float* targets, const float* weights, float* y) {
  ForEachRow(context, rows, SigmoidLossRows{loss, cols, x, targets, weights, y},
             "SigmoidCrossEntropyWithLogits");
}

void SigmoidLossesGradient(CUDAContext& context, int64_t rows, int64_t cols,
                           const SigmoidLoss& loss, const float* x, const float* targets,
                           const float* weights, const float* dy, float* dx) {
  ForEach(context, rows * cols, SigmoidLossElements{loss, cols, x, targets, weights, dy, dx},
          "SigmoidCrossEntropyWithLogitsGradient");
}

}  // namespace caffe2rt
