#include "operators/detectron/sigmoid_focal_loss.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detectron/gradient_maker.h"
#include "operators/detectron/loss_loops.h"

namespace caffe2rt {

SigmoidFocalArguments::SigmoidFocalArguments(const ArgumentHelper& args)
    : scale_(args.Read(kSigmoidFocalScale)),
      loss_{.alpha = args.Read(kSigmoidFocalAlpha), .gamma = args.Read(kSigmoidFocalGamma)},
      classes_(args.Read(kSigmoidFocalClasses)) {}

SigmoidFocalInputs SigmoidFocalArguments::InputsOf(const Tensor& logits,
                                                   const Tensor& labels) const {
  const ClassGroups groups = ClassGroupsOf(logits, "logits", classes_);
  CheckGroupLabels(labels, logits, groups);
  return {.groups = groups.groups,
          .classes = groups.classes,
          .positions = groups.positions,
          .loss = loss_,
          .x = logits.data<float>(),
          .labels = labels.data<int32_t>()};
}

namespace {

// The logits of one class of one group at all positions.
struct FocalRow {
  SigmoidFocal loss;
  int32_t wanted;
  const float* x;
  const int32_t* labels;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return loss(x[i], labels[i], wanted); }
  CAFFE2RT_SIMD_INLINE float Gradient(int64_t i) const {
    return loss.Gradient(x[i], labels[i], wanted);
  }
};

FocalRow FocalRowOf(const SigmoidFocalInputs& inputs, int64_t row) {
  return {.loss = inputs.loss,
          .wanted = static_cast<int32_t>(row % inputs.classes) + 1,
          .x = inputs.x + row * inputs.positions,
          .labels = inputs.labels + row / inputs.classes * inputs.positions};
}

}  // namespace

void SigmoidFocalSum(CPUContext&, const SigmoidFocalInputs& inputs, const LossFactor& factor,
                     Tensor*, float* loss) {
  double sum = 0;
  for (int64_t row = 0; row < inputs.groups * inputs.classes; ++row) {
    sum += SumOfLosses(inputs.positions, FocalRowOf(inputs, row));
  }
  *loss = static_cast<float>(sum * factor());
}

void SigmoidFocalGradients(CPUContext&, const SigmoidFocalInputs& inputs, const LossFactor& factor,
                           const float* dloss, float* dx) {
  const float by = *dloss * factor();
  for (int64_t row = 0; row < inputs.groups * inputs.classes; ++row) {
    GradientsOfLosses(inputs.positions, FocalRowOf(inputs, row), by, dx + row * inputs.positions);
  }
}

void RegisterSigmoidFocalLoss() {
  RegisterSchema("SigmoidFocalLoss", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kSigmoidFocalScale, kSigmoidFocalAlpha, kSigmoidFocalGamma, kSigmoidFocalClasses)
      .Input(0, "logits", "[N, A * num_classes, H, W] float, where A is the number of anchors")
      .Input(1, "labels",
             "int32 [N, A, H, W]: c + 1 for class c, 0 for the background, -1 to ignore the anchor")
      .Input(2, "normalizer", "scalar; the loss is divided by it if it is above 1")
      .Output(0, "loss", "float scalar: a tensor of rank 0")
      .ScalarType(TensorProto_DataType_FLOAT)
      .SetDoc(
          "Computes the sum of the binary focal losses of all logits: with p = sigmoid(logit), "
          "-alpha * (1 - p)^gamma * log(p) for the labelled class, and "
          "-(1 - alpha) * p^gamma * log(1 - p) for all others. The sum is multiplied by scale "
          "and divided by max(1, normalizer).");
  RegisterSchema("SigmoidFocalLossGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kSigmoidFocalScale, kSigmoidFocalAlpha, kSigmoidFocalGamma, kSigmoidFocalClasses)
      .Input(0, "logits", "as in SigmoidFocalLoss")
      .Input(1, "labels", "as in SigmoidFocalLoss")
      .Input(2, "normalizer", "as in SigmoidFocalLoss")
      .Input(3, "d_loss", "the gradient of the loss, scalar")
      .Output(0, "d_logits", "the gradient of the logits")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SigmoidFocalLoss.");
  RegisterCpuOperator<SigmoidFocalLossOp<CPUContext>>("SigmoidFocalLoss", __FILE__);
  RegisterCpuOperator<SigmoidFocalLossGradientOp<CPUContext>>("SigmoidFocalLossGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SigmoidFocalLoss", __FILE__);
}

}  // namespace caffe2rt
