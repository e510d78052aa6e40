// SoftmaxWithLoss, SpatialSoftmaxWithLoss and their gradients.

#include "operators/loss/softmax_with_loss.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Whether the label of position k is a class; false if it is ignored. THROWS if it is neither.
bool HasClass(const LossShape& shape, const LossTargets& targets, int64_t k) {
  const int32_t label = targets.labels[k];
  if (label >= 0 && label < shape.classes) return true;
  CAFFE_ENFORCE(targets.may_ignore && label == -1, "element ", k, " of input 1 (labels) is ", label,
                ", want 0 to below ", shape.classes, " classes",
                targets.may_ignore ? ", or -1 to ignore it" : "");
  return false;
}

double WeightAt(const LossTargets& targets, int64_t k) {
  return targets.weights != nullptr ? static_cast<double>(targets.weights[k]) : 1;
}

// The cross entropy of item i with label probabilities.
double ItemLoss(const LossShape& shape, const float* label_probs, const float* probabilities,
                int64_t i) {
  double loss = 0, total = 0;
  for (int64_t c = i * shape.classes; c < (i + 1) * shape.classes; ++c) {
    CAFFE_ENFORCE(label_probs[c] >= 0, "element ", c, " of input 1 (labels) is ", label_probs[c],
                  ", want a probability");
    loss += label_probs[c] * CappedSurprise(probabilities[c]);
    total += label_probs[c];
  }
  CAFFE_ENFORCE(std::abs(total - 1) < 1e-5, "the label probabilities of row ", i,
                " do not add up to 1 but to ", total);
  return loss;
}

// dx = (p - label) * factor, where the label is a vector, or null for zeros.
CAFFE2RT_SIMD void ScaleDifference(const float* p, const float* label, int64_t n, float factor,
                                   float* dx) {
  if (label == nullptr) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = p[i] * factor;
  } else {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = (p[i] - label[i]) * factor;
  }
}

// dx = (p - (1 if the label is c, else 0)) * factor, at `n` positions.
CAFFE2RT_SIMD void ScalePositions(const float* p, const int32_t* labels, int32_t c,
                                  const float* factors, int64_t n, float* dx) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) dx[i] = (p[i] - (labels[i] == c ? 1.0f : 0.0f)) * factors[i];
}

std::vector<TensorShape> InferSoftmaxWithLoss(const OperatorDef& def,
                                              const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  return {in[0], CreateTensorShape(std::vector<int64_t>{}, TensorProto::FLOAT)};
}

class GetSoftmaxWithLossGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs;
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(I(i));
    inputs.push_back(O(0));
    inputs.push_back(GO(1));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, std::vector<std::string>{GI(0)});
  }
};

}  // namespace

SoftmaxLossArguments::SoftmaxLossArguments(const ArgumentHelper& args, bool spatial)
    : spatial_(spatial),
      scale_(args.Read(kSoftmaxLossScale)),
      label_prob_(!spatial && args.Read(kSoftmaxLossLabelProb)),
      average_by_batch_size_(!spatial && args.Read(kSoftmaxLossAverageByBatchSize)),
      axis_(spatial ? 1 : args.Read(kSoftmaxLossAxis)) {
  CAFFE_ENFORCE(ReadStorageOrder(args) == StorageOrder::NCHW,
                "argument \"order\" is \"NHWC\", want NCHW");
}

LossShape SoftmaxLossArguments::ShapeOf(const Tensor& X) const {
  if (spatial_) {
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    return {.batch = X.dim(0), .classes = X.dim(1), .positions = X.size_from_dim(2)};
  }
  const int axis = X.canonical_axis_index(axis_);
  return {.batch = X.size_to_dim(axis), .classes = X.size_from_dim(axis)};
}

void SoftmaxLossArguments::CheckLabels(const Tensor& X, const Tensor& labels) const {
  const LossShape shape = ShapeOf(X);
  if (spatial_) {
    CAFFE_ENFORCE_EQ(labels.dim(), 3, "rank of input 1 (labels) of shape ", labels.sizes(),
                     ", want 3: [N, H, W]");
    CAFFE_ENFORCE(
        labels.dim(0) == X.dim(0) && labels.dim(1) == X.dim(2) && labels.dim(2) == X.dim(3),
        "input 1 (labels) has shape ", labels.sizes(), ", input 0 (X) ", X.sizes(),
        ", want the same N, H and W");
    return;
  }
  const int axis = X.canonical_axis_index(axis_);
  CAFFE_ENFORCE_GE(labels.dim(), axis, "rank of input 1 (labels) of shape ", labels.sizes(),
                   ", want at least the argument axis");
  const int64_t items = labels.size_to_dim(axis), classes = labels.size_from_dim(axis);
  CAFFE_ENFORCE(
      items == shape.batch && classes == (label_prob_ ? shape.classes : 1),
      "input 1 (labels) has shape ", labels.sizes(), ", input 0 (X) ", X.sizes(),
      label_prob_ ? ", want a probability for each class" : ", want one label for each row");
}

LossTargets SoftmaxLossArguments::TargetsOf(const Tensor& X, const Tensor& labels,
                                            const Tensor* weights) const {
  CheckLabels(X, labels);
  LossTargets targets{.may_ignore = spatial_, .average_by_batch_size = average_by_batch_size_};
  if (weights != nullptr) {
    const LossShape shape = ShapeOf(X);
    CAFFE_ENFORCE_EQ(weights->numel(), shape.batch * shape.positions,
                     "elements of input 2 (weights) of shape ", weights->sizes(),
                     ", want one for each label");
    targets.weights = weights->data<float>();
  }
  if (label_prob_) {
    targets.label_probs = labels.data<float>();
  } else {
    targets.labels = labels.data<int32_t>();
  }
  return targets;
}

void AverageLoss(CPUContext&, const LossShape& shape, const LossTargets& targets, float factor,
                 const float* x, const float* probabilities, void*, float* loss) {
  double sum = 0, total = 0;
  for (int64_t k = 0; k < shape.batch * shape.positions; ++k) {
    double item_loss;
    if (targets.label_probs != nullptr) {
      item_loss = ItemLoss(shape, targets.label_probs, probabilities, k);
    } else {
      if (!HasClass(shape, targets, k)) continue;
      const int64_t item = k / shape.positions, position = k % shape.positions;
      const int64_t first = item * shape.classes * shape.positions;
      item_loss =
          x != nullptr
              ? ExactSurprise(x + first, probabilities + first, shape.classes, targets.labels[k])
              : CappedSurprise(
                    probabilities[first + targets.labels[k] * shape.positions + position]);
    }
    sum += WeightAt(targets, k) * item_loss;
    total += WeightAt(targets, k);
  }
  if (targets.average_by_batch_size) total = static_cast<double>(shape.batch);
  *loss = total != 0 ? static_cast<float>(sum * factor / total) : 0;
}

void AverageLossGradient(CPUContext&, const LossShape& shape, const LossTargets& targets,
                         float factor, const float* probabilities, const float* dloss, void*,
                         float* dx) {
  const int64_t positions = shape.batch * shape.positions;
  double total = 0;
  for (int64_t k = 0; k < positions; ++k) {
    if (targets.labels == nullptr || HasClass(shape, targets, k)) total += WeightAt(targets, k);
  }
  if (targets.average_by_batch_size) total = static_cast<double>(shape.batch);
  const double scale = total > 0 ? factor * *dloss / total : 0;
  if (shape.positions == 1 && !targets.may_ignore) {
    for (int64_t k = 0; k < positions; ++k) {
      const int64_t at = k * shape.classes;
      const float by = static_cast<float>(WeightAt(targets, k) * scale);
      ScaleDifference(probabilities + at,
                      targets.label_probs != nullptr ? targets.label_probs + at : nullptr,
                      shape.classes, by, dx + at);
      if (targets.labels != nullptr) {
        const int64_t label = at + targets.labels[k];
        dx[label] = (probabilities[label] - 1) * by;
      }
    }
    return;
  }
  constexpr int64_t kTile = 512;  // positions that are processed together
  float factors[kTile];
  for (int64_t k = 0; k < positions;) {
    const int64_t item = k / shape.positions, start = k % shape.positions;
    const int64_t n = std::min(kTile, shape.positions - start);
    for (int64_t j = 0; j < n; ++j) {
      factors[j] =
          targets.labels[k + j] == -1 ? 0 : static_cast<float>(WeightAt(targets, k + j) * scale);
    }
    for (int64_t c = 0; c < shape.classes; ++c) {
      const int64_t at = (item * shape.classes + c) * shape.positions + start;
      ScalePositions(probabilities + at, targets.labels + k, static_cast<int32_t>(c), factors, n,
                     dx + at);
    }
    k += n;
  }
}

// The CPU kernels need no scratch memory.
int64_t LossScratchBytes(const CPUContext&) { return 0; }

namespace {

template <bool kSpatial>
void RegisterLoss(const std::string& type, const char* doc) {
  OpSchema& schema =
      RegisterSchema(type, __FILE__)
          .NumInputs(2, 3)
          .NumOutputs(2)
          .Args(kSoftmaxLossScale, kStorageOrder, kSoftmaxLossOnlyLoss)
          .Input(0, "X", kSpatial ? "[N, D, H, W]" : "[N.., D..]; D.. begins at axis")
          .Input(1, "labels",
                 kSpatial ? "classes, int32 [N, H, W]; -1 is ignored"
                          : "classes, int32 [N..], or with label_prob [N.., D..] float")
          .Input(2, "weights", "optional weight of each label, float")
          .Output(0, "softmax", "the shape of X")
          .Output(1, "loss", "average loss, scalar")
          .TensorInferenceFunction(InferSoftmaxWithLoss)
          .CostInferenceFunction(PointwiseCostInference<12>)
          .SetDoc(doc);
  OpSchema& gradient = RegisterSchema(type + "Gradient", __FILE__)
                           .NumInputs(4, 5)
                           .NumOutputs(1)
                           .Args(kSoftmaxLossScale, kStorageOrder, kSoftmaxLossOnlyLoss)
                           .Input(0, "X", "input of " + type)
                           .Input(1, "labels", "as in " + type)
                           .Input(2, "weights", "optional, as in " + type)
                           .Input(3, "softmax", "output 0 of " + type + ", before the last input")
                           .Input(4, "dloss", "gradient of the loss, the last input")
                           .Output(0, "dX", "gradient of X")
                           .IdenticalTypeAndShapeOfInput(0)
                           .CostInferenceFunction(PointwiseCostInference<3>)
                           .SetDoc("Computes the gradient of " + type + ".");
  if (!kSpatial) {
    for (OpSchema* each : {&schema, &gradient}) {
      each->Args(kSoftmaxLossLabelProb, kSoftmaxLossAverageByBatchSize, kSoftmaxLossAxis);
    }
  }
  RegisterCpuOperator<SoftmaxWithLossOp<CPUContext, kSpatial>>(type, __FILE__);
  RegisterCpuOperator<SoftmaxWithLossGradientOp<CPUContext, kSpatial>>(type + "Gradient", __FILE__);
  RegisterGradient<GetSoftmaxWithLossGradient>(type, __FILE__);
}

}  // namespace

void RegisterSoftmaxWithLoss() {
  RegisterLoss<false>(
      "SoftmaxWithLoss",
      "Computes the softmax of each row, and the weighted average of the cross entropy of the rows "
      "with their labels, multiplied by scale.");
  RegisterLoss<true>(
      "SpatialSoftmaxWithLoss",
      "Computes the softmax over the channels at each position, and the weighted average of the "
      "cross entropy of the positions with their labels. Positions with label -1 are left out. As "
      "in Caffe2, only the gradient is multiplied by scale.");
}

}  // namespace caffe2rt
