#include "operators/detectron/softmax_focal_loss.h"

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detectron/gradient_maker.h"

namespace caffe2rt {

SoftmaxFocalArguments::SoftmaxFocalArguments(const ArgumentHelper& args)
    : scale_(args.Read(kSoftmaxFocalScale)),
      loss_{.alpha = args.Read(kSoftmaxFocalAlpha), .gamma = args.Read(kSoftmaxFocalGamma)},
      classes_(args.Read(kSoftmaxFocalClasses)) {
  CAFFE_ENFORCE(ReadStorageOrder(args) == StorageOrder::NCHW,
                "argument \"order\" is \"NHWC\", want NCHW");
}

SoftmaxFocalInputs SoftmaxFocalArguments::InputsOf(const Tensor& scores,
                                                   const Tensor& labels) const {
  const ClassGroups groups = ClassGroupsOf(scores, "scores", classes_);
  CheckGroupLabels(labels, scores, groups);
  return {.groups = groups.groups,
          .classes = groups.classes,
          .positions = groups.positions,
          .loss = loss_,
          .probabilities = nullptr,
          .labels = labels.data<int32_t>()};
}

namespace {

// Whether label k is a class; false if it is ignored. THROWS if it is neither.
bool IsFocalClass(const SoftmaxFocalInputs& inputs, int64_t k) {
  const int32_t label = inputs.labels[k];
  CAFFE_ENFORCE_LT(label, inputs.classes, "element ", k,
                   " of input 1 (labels), want a class or a negative number");
  return label >= 0;
}

// dx = ((1 if the label is c, else 0) - p) * factor, at `n` positions.
CAFFE2RT_SIMD void ScaleFocalPositions(const float* p, const int32_t* labels, int32_t c,
                                       const float* factors, int64_t n, float* dx) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) dx[i] = ((labels[i] == c ? 1.0f : 0.0f) - p[i]) * factors[i];
}

}  // namespace

void SoftmaxFocalSum(CPUContext&, const SoftmaxFocalInputs& inputs, const LossFactor& factor,
                     Tensor*, float* loss) {
  double sum = 0;
  for (int64_t group = 0; group < inputs.groups; ++group) {
    const float* const p = inputs.probabilities + group * inputs.classes * inputs.positions;
    for (int64_t i = 0; i < inputs.positions; ++i) {
      const int64_t k = group * inputs.positions + i;
      if (!IsFocalClass(inputs, k)) continue;
      const int32_t label = inputs.labels[k];
      sum += inputs.loss(p[label * inputs.positions + i], label);
    }
  }
  *loss = static_cast<float>(sum * factor());
}

void SoftmaxFocalGradients(CPUContext&, const SoftmaxFocalInputs& inputs, const LossFactor& factor,
                           const float* dloss, float* dx) {
  constexpr int64_t kTile = 512;  // positions that are processed together
  float factors[kTile];
  const float by = *dloss * factor();
  for (int64_t group = 0; group < inputs.groups; ++group) {
    const int64_t first = group * inputs.classes * inputs.positions;
    for (int64_t start = 0; start < inputs.positions; start += kTile) {
      const int64_t k = group * inputs.positions + start;
      const int64_t n = std::min(kTile, inputs.positions - start);
      for (int64_t i = 0; i < n; ++i) {
        const int32_t label = inputs.labels[k + i];
        factors[i] = 0;
        if (!IsFocalClass(inputs, k + i)) continue;
        const int64_t at = first + label * inputs.positions + start + i;
        factors[i] = by * inputs.loss.Gradient(inputs.probabilities[at], label);
      }
      for (int64_t c = 0; c < inputs.classes; ++c) {
        const int64_t at = first + c * inputs.positions + start;
        ScaleFocalPositions(inputs.probabilities + at, inputs.labels + k, static_cast<int32_t>(c),
                            factors, n, dx + at);
      }
    }
  }
}

namespace {

std::vector<TensorShape> InferSoftmaxFocalLoss(const OperatorDef& def,
                                               const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  return {CreateTensorShape(std::vector<int64_t>{}, TensorProto::FLOAT), in[0]};
}

}  // namespace

void RegisterSoftmaxFocalLoss() {
  RegisterSchema("SoftmaxFocalLoss", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Args(kSoftmaxFocalScale, kSoftmaxFocalAlpha, kSoftmaxFocalGamma, kSoftmaxFocalClasses,
            kStorageOrder)
      .Input(0, "scores", "[N, A * num_classes, H, W] float, where A is the number of anchors")
      .Input(1, "labels", "int32 [N, A, H, W]: classes; a negative label is ignored")
      .Input(2, "normalizer", "scalar; the loss is divided by it if it is above 1")
      .Output(0, "loss", "float scalar: a tensor of rank 0")
      .Output(1, "probabilities", "the softmax, of the shape of scores")
      .TensorInferenceFunction(InferSoftmaxFocalLoss)
      .SetDoc(
          "Computes the softmax over the num_classes classes of each anchor and the sum of the "
          "focal losses of the labels: -alpha * (1 - p)^gamma * log(p), where p is the "
          "probability of the label; for label 0, 1 - alpha takes the place of alpha. The sum "
          "is multiplied by scale and divided by max(1, normalizer).");
  RegisterSchema("SoftmaxFocalLossGradient", __FILE__)
      .NumInputs(5)
      .NumOutputs(1)
      .Args(kSoftmaxFocalScale, kSoftmaxFocalAlpha, kSoftmaxFocalGamma, kSoftmaxFocalClasses,
            kStorageOrder)
      .Input(0, "scores", "as in SoftmaxFocalLoss")
      .Input(1, "labels", "as in SoftmaxFocalLoss")
      .Input(2, "normalizer", "as in SoftmaxFocalLoss")
      .Input(3, "probabilities", "output 1 of SoftmaxFocalLoss")
      .Input(4, "d_loss", "the gradient of the loss, scalar")
      .Output(0, "d_scores", "the gradient of the scores")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SoftmaxFocalLoss.");
  RegisterCpuOperator<SoftmaxFocalLossOp<CPUContext>>("SoftmaxFocalLoss", __FILE__);
  RegisterCpuOperator<SoftmaxFocalLossGradientOp<CPUContext>>("SoftmaxFocalLossGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SoftmaxFocalLoss", __FILE__);
}

}  // namespace caffe2rt
