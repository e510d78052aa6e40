// SigmoidCrossEntropyWithLogits, WeightedSigmoidCrossEntropyWithLogits, and their gradients.

#include "operators/loss/sigmoid_cross_entropy_with_logits.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

SigmoidLoss ReadSigmoidLoss(const ArgumentHelper& args) {
  const bool log_d = args.Read(kLogDTrick), unjoined = args.Read(kUnjoinedLrLoss);
  CAFFE_ENFORCE(!log_d || !unjoined,
                "arguments log_D_trick and unjoined_lr_loss are both 1: remove one");
  if (log_d) return {.a0 = -1, .a1 = 2, .b0 = -1, .b1 = 2};
  if (unjoined) return {.a0 = 1, .a1 = -1, .b0 = 0, .b1 = 1};
  return {};
}

SigmoidLossSize SizeOfSigmoidLoss(int place, IntArrayRef logits, IntArrayRef targets) {
  CAFFE_ENFORCE(targets == logits, "input ", place + 1, " (targets) has shape ", targets, ", want ",
                logits, " as input ", place, " (logits)");
  if (logits.empty()) return {1, 1};
  return {CheckedProduct(logits.slice(0, logits.size() - 1)), logits.back()};
}

void CheckSigmoidWeights(int place, IntArrayRef logits, IntArrayRef weights) {
  CAFFE_ENFORCE(weights == logits, "input ", place + 2, " (weights) has shape ", weights, ", want ",
                logits, " as input ", place, " (logits)");
}

namespace {

template <bool kWeighted>
struct LossTerm {
  SigmoidLoss loss;
  const float* x;
  const float* targets;
  const float* weights;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    const float value = loss(x[i], targets[i]);
    return kWeighted ? weights[i] * value : value;
  }
};

template <bool kWeighted>
struct SigmoidLossesKernel {
  SigmoidLoss loss;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x,
                                       const float* targets, const float* weights, float* y) const {
    const float divisor = static_cast<float>(cols);
    for (int64_t i = 0; i < rows; ++i) {
      y[i] = SumOfTerms(cols, LossTerm<kWeighted>{loss, x, targets, weights}) / divisor;
      x += cols;
      targets += cols;
      if (kWeighted) weights += cols;
    }
  }
};

template <bool kWeighted>
struct SigmoidLossesGradientKernel {
  SigmoidLoss loss;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x,
                                       const float* targets, const float* weights, const float* dy,
                                       float* dx) const {
    const SigmoidLoss f = loss;
    for (int64_t i = 0; i < rows; ++i) {
      const float scale = dy[i] / static_cast<float>(cols);
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) {
        const float slope = f.Gradient(x[j], targets[j]);
        dx[j] = scale * (kWeighted ? weights[j] * slope : slope);
      }
      x += cols;
      targets += cols;
      if (kWeighted) weights += cols;
      dx += cols;
    }
  }
};

}  // namespace

void SigmoidLosses(CPUContext&, int64_t rows, int64_t cols, const SigmoidLoss& loss, const float* x,
                   const float* targets, const float* weights, float* y) {
  if (cols == 0) {
    std::fill(y, y + rows, 0.0f);
  } else if (weights == nullptr) {
    RunSimd(SigmoidLossesKernel<false>{loss}, rows, cols, x, targets, weights, y);
  } else {
    RunSimd(SigmoidLossesKernel<true>{loss}, rows, cols, x, targets, weights, y);
  }
}

void SigmoidLossesGradient(CPUContext&, int64_t rows, int64_t cols, const SigmoidLoss& loss,
                           const float* x, const float* targets, const float* weights,
                           const float* dy, float* dx) {
  if (weights == nullptr) {
    RunSimd(SigmoidLossesGradientKernel<false>{loss}, rows, cols, x, targets, weights, dy, dx);
  } else {
    RunSimd(SigmoidLossesGradientKernel<true>{loss}, rows, cols, x, targets, weights, dy, dx);
  }
}

namespace {

std::vector<TensorShape> InferSigmoidLoss(const OperatorDef& def,
                                          const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  if (!dims.empty()) dims.pop_back();
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetSigmoidCrossEntropyGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0)};
    for (int i = 0; i < def_.input_size(); ++i) inputs.push_back(I(i));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, std::vector<std::string>{GI(0)});
  }
};

template <bool kWeighted>
void RegisterSigmoidLoss(const std::string& type, const char* doc) {
  constexpr int kInputs = kWeighted ? 3 : 2;
  const std::string gradient_type = type + "Gradient";
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(kInputs)
      .NumOutputs(1)
      .Input(0, "logits", "[N.., D] float")
      .Input(1, "targets", "[N.., D] float: the wanted probabilities")
      .Output(0, "xentropy", "[N..]: the mean loss of each row")
      .TensorInferenceFunction(InferSigmoidLoss)
      .SetDoc(doc);
  OpSchema& gradient = RegisterSchema(gradient_type, __FILE__);
  gradient.NumInputs(kInputs + 1)
      .NumOutputs(1)
      .Input(0, "dY", "[N..]: the gradient of xentropy")
      .Input(1, "logits", "as in " + type)
      .Input(2, "targets", "as in " + type)
      .Output(0, "dX", "the gradient of the logits")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("Computes the gradient of " + type + ".");
  if constexpr (kWeighted) {
    schema.Input(2, "weights", "[N.., D] float: the weight of each loss");
    gradient.Input(3, "weights", "as in " + type);
  } else {
    schema.Args(kLogDTrick, kUnjoinedLrLoss);
    gradient.Args(kLogDTrick, kUnjoinedLrLoss);
  }
  RegisterCpuOperator<SigmoidCrossEntropyOp<CPUContext, kWeighted>>(type, __FILE__);
  RegisterCpuOperator<SigmoidCrossEntropyGradientOp<CPUContext, kWeighted>>(gradient_type,
                                                                            __FILE__);
  RegisterGradient<GetSigmoidCrossEntropyGradient>(type, __FILE__);
}

}  // namespace

void RegisterSigmoidCrossEntropyWithLogits() {
  RegisterSigmoidLoss<false>(
      "SigmoidCrossEntropyWithLogits",
      "Computes the cross entropy of sigmoid(logits) and the targets, averaged over "
      "the last dimension.");
  RegisterSigmoidLoss<true>(
      "WeightedSigmoidCrossEntropyWithLogits",
      "Computes the cross entropy of sigmoid(logits) and the targets, multiplied by "
      "the weights and averaged over the last dimension.");
}

}  // namespace caffe2rt
