// The kernels of this family.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/primitives/cub.h"
#include "operators/primitives/device_scratch.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

namespace {

// Adds up terms(i) and multiplies the sum by the factor.
template <class Terms>
struct SumTerms {
  using Value = double;
  Terms terms;
  LossFactor factor;
  float* loss;
  CAFFE2RT_HOST_DEVICE Value Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return terms(i); }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a + b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value sum) const { *loss = static_cast<float>(sum * factor()); }
};

// A thread computes one element.
template <class Terms>
struct TermGradients {
  Terms terms;
  LossFactor factor;
  const float* dloss;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    dx[i] = *dloss * factor() * terms.Gradient(i);
  }
};

struct ValidTargets {
  const int32_t* targets;
  CAFFE2RT_HOST_DEVICE double operator()(int64_t i) const {
    return targets[i] == kIgnoredLabel ? 0 : 1;
  }
};

// Logit i of a group, class and position.
struct SigmoidFocalTerms {
  SigmoidFocalInputs in;
  CAFFE2RT_HOST_DEVICE int32_t WantedAt(int64_t i) const {
    return static_cast<int32_t>(i / in.positions % in.classes) + 1;
  }
  CAFFE2RT_HOST_DEVICE int32_t LabelAt(int64_t i) const {
    return in.labels[i / (in.classes * in.positions) * in.positions + i % in.positions];
  }
  CAFFE2RT_HOST_DEVICE float operator()(int64_t i) const {
    return in.loss(in.x[i], LabelAt(i), WantedAt(i));
  }
  CAFFE2RT_HOST_DEVICE float Gradient(int64_t i) const {
    return in.loss.Gradient(in.x[i], LabelAt(i), WantedAt(i));
  }
};

constexpr const char kClassText[] =
    "element % of input 1 (labels) is %, want a class below % or a negative number";

// Label k of a group and position.
struct SoftmaxFocalTerms {
  SoftmaxFocalInputs in;
  KernelReport* report;
  ReportText text;

  // False if the label is ignored, or invalid, which is reported.
  CAFFE2RT_HOST_DEVICE bool IsClass(int64_t k) const {
    const int32_t label = in.labels[k];
    if (label < in.classes) return label >= 0;
    report->Raise(text, k, label, in.classes);
    return false;
  }
  CAFFE2RT_HOST_DEVICE float ProbabilityOf(int64_t k) const {
    const int64_t group = k / in.positions, position = k % in.positions;
    return in.probabilities[(group * in.classes + in.labels[k]) * in.positions + position];
  }
  CAFFE2RT_HOST_DEVICE float operator()(int64_t k) const {
    return IsClass(k) ? in.loss(ProbabilityOf(k), in.labels[k]) : 0.0f;
  }
  // The derivative with respect to score i.
  CAFFE2RT_HOST_DEVICE float Gradient(int64_t i) const {
    const int64_t group = i / (in.classes * in.positions);
    const int64_t k = group * in.positions + i % in.positions;
    if (!IsClass(k)) return 0;
    const float hit = i / in.positions % in.classes == in.labels[k] ? 1.0f : 0.0f;
    return in.loss.Gradient(ProbabilityOf(k), in.labels[k]) * (hit - in.probabilities[i]);
  }
};

constexpr const char kLocationText[] =
    "row % of input 2 (locations) is out of the range of input 0 (Y_hat)";

struct SelectedTerms {
  SelectedBoxes boxes;
  KernelReport* report;
  ReportText text;
  // The element of Y_hat, or -1, which is reported.
  CAFFE2RT_HOST_DEVICE int64_t ElementOf(int64_t i) const {
    const int64_t element = boxes.ElementOf(i);
    if (element < 0) report->Raise(text, i / 4);
    return element;
  }
  CAFFE2RT_HOST_DEVICE float operator()(int64_t i) const {
    const int64_t element = ElementOf(i);
    return element < 0 ? 0.0f : boxes.loss(boxes.y_hat[element] - boxes.y[i]);
  }
};

// A thread computes the key of one selected value: its element of Y_hat.
struct SelectedKeys {
  SelectedTerms terms;
  int64_t* keys;
  int32_t* places;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    keys[i] = terms.ElementOf(i);
    places[i] = static_cast<int32_t>(i);
  }
};

// A thread writes one element of dx. Only the threads at the first of equal keys work.
struct AddSelected {
  SelectedBoxes boxes;
  LossFactor factor;
  const float* dloss;
  const int64_t* keys;
  const int32_t* places;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t key = keys[i];
    if (key < 0 || (i > 0 && keys[i - 1] == key)) return;
    const float by = *dloss * factor();
    float sum = 0;
    for (int64_t j = i; j < 4 * boxes.count && keys[j] == key; ++j) {
      sum += by * boxes.loss.Gradient(boxes.y_hat[key] - boxes.y[places[j]]);
    }
    dx[key] = sum;
  }
};

// A thread computes one position.
struct SoftmaxGradientAtPosition {
  int64_t channels, positions;
  const float* y;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t first = i / positions * channels * positions + i % positions;
    const int64_t end = first + channels * positions;
    float sum = 0;
    for (int64_t at = first; at < end; at += positions) sum += y[at] * dy[at];
    for (int64_t at = first; at < end; at += positions) dx[at] = (dy[at] - sum) * y[at];
  }
};

// A thread writes one word.
struct NarrowWords {
  NarrowedImages images;
  const uint32_t* a;
  uint32_t* c;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t column = i % images.width, row = i / images.width % images.height;
    const int64_t plane = i / images.width / images.height;
    c[i] = a[(plane * images.from_height + row) * images.from_width + column];
  }
};
struct WidenWords {
  NarrowedImages images;
  const uint32_t* c;
  uint32_t* a;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t column = i % images.from_width, row = i / images.from_width % images.from_height;
    const int64_t plane = i / images.from_width / images.from_height;
    const bool is_kept = column < images.width && row < images.height;
    a[i] = is_kept ? c[(plane * images.height + row) * images.width + column] : 0;
  }
};

}  // namespace

void SmoothL1Sum(CUDAContext& context, int64_t n, const SmoothL1Terms& terms,
                 const LossFactor& factor, Tensor* scratch, float* loss) {
  ReduceAll(context, n, SumTerms<SmoothL1Terms>{terms, factor, loss}, scratch, "SmoothL1Loss");
}

void SmoothL1Gradients(CUDAContext& context, int64_t n, const SmoothL1Terms& terms,
                       const LossFactor& factor, const float* dloss, float* dx) {
  ForEach(context, n, TermGradients<SmoothL1Terms>{terms, factor, dloss, dx},
          "SmoothL1LossGradient");
}

void CountTargets(CUDAContext& context, int64_t n, const int32_t* targets, Tensor* scratch,
                  float* count) {
  ReduceAll(context, n, SumTerms<ValidTargets>{{targets}, {}, count}, scratch,
            "SigmoidCrossEntropyLoss");
}

void SigmoidSum(CUDAContext& context, int64_t n, const SigmoidTerms& terms,
                const LossFactor& factor, Tensor* scratch, float* loss) {
  ReduceAll(context, n, SumTerms<SigmoidTerms>{terms, factor, loss}, scratch,
            "SigmoidCrossEntropyLoss");
}

void SigmoidGradients(CUDAContext& context, int64_t n, const SigmoidTerms& terms,
                      const LossFactor& factor, const float* dloss, float* dx) {
  ForEach(context, n, TermGradients<SigmoidTerms>{terms, factor, dloss, dx},
          "SigmoidCrossEntropyLossGradient");
}

void SigmoidFocalSum(CUDAContext& context, const SigmoidFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss) {
  ReduceAll(context, inputs.groups * inputs.classes * inputs.positions,
            SumTerms<SigmoidFocalTerms>{{inputs}, factor, loss}, scratch, "SigmoidFocalLoss");
}

void SigmoidFocalGradients(CUDAContext& context, const SigmoidFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx) {
  ForEach(context, inputs.groups * inputs.classes * inputs.positions,
          TermGradients<SigmoidFocalTerms>{{inputs}, factor, dloss, dx},
          "SigmoidFocalLossGradient");
}

void SoftmaxFocalSum(CUDAContext& context, const SoftmaxFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss) {
  const SoftmaxFocalTerms terms = {inputs, ReportOf(context), kClassText};
  ReduceAll(context, inputs.groups * inputs.positions,
            SumTerms<SoftmaxFocalTerms>{terms, factor, loss}, scratch, "SoftmaxFocalLoss");
}

void SoftmaxFocalGradients(CUDAContext& context, const SoftmaxFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx) {
  const SoftmaxFocalTerms terms = {inputs, ReportOf(context), kClassText};
  ForEach(context, inputs.groups * inputs.classes * inputs.positions,
          TermGradients<SoftmaxFocalTerms>{terms, factor, dloss, dx}, "SoftmaxFocalLossGradient");
}

void SelectedSum(CUDAContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                 Tensor* scratch, float* loss) {
  const SelectedTerms terms = {boxes, ReportOf(context), kLocationText};
  ReduceAll(context, 4 * boxes.count, SumTerms<SelectedTerms>{terms, factor, loss}, scratch,
            "SelectSmoothL1Loss");
}

void SelectedGradients(CUDAContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                       const float* dloss, const SelectedScratch& scratch, float* dx) {
  const int64_t n = 4 * boxes.count;
  if (n == 0) return;
  // The unsorted keys and places, followed by the sorted ones.
  constexpr int64_t kKeyBytes = 2 * sizeof(int64_t), kPlaceBytes = 2 * sizeof(int32_t);
  auto* const keys = static_cast<int64_t*>(ScratchBytes(scratch.keys, n * kKeyBytes));
  auto* const places = static_cast<int32_t*>(ScratchBytes(scratch.places, n * kPlaceBytes));
  const SelectedTerms terms = {boxes, ReportOf(context), kLocationText};
  ForEach(context, n, SelectedKeys{terms, keys, places}, "SelectSmoothL1LossGradient");
  math::SortByCub(context, n, keys, keys + n, places, places + n, scratch.temporary);
  ForEach(context, n, AddSelected{boxes, factor, dloss, keys + n, places + n, dx},
          "SelectSmoothL1LossGradient");
}

void SoftmaxChannelsGradient(CUDAContext& context, int64_t batch, int64_t channels,
                             int64_t positions, const float* y, const float* dy, float* dx) {
  ForEach(context, batch * positions, SoftmaxGradientAtPosition{channels, positions, y, dy, dx},
          "GroupSpatialSoftmaxGradient");
}

void NarrowImages(CUDAContext& context, const NarrowedImages& images, const uint32_t* a,
                  uint32_t* c) {
  ForEach(context, images.planes * images.height * images.width, NarrowWords{images, a, c},
          "SpatialNarrowAs");
}

void WidenImages(CUDAContext& context, const NarrowedImages& images, const uint32_t* c,
                 uint32_t* a) {
  ForEach(context, images.planes * images.from_height * images.from_width, WidenWords{images, c, a},
          "SpatialNarrowAsGradient");
}

}  // namespace caffe2rt
