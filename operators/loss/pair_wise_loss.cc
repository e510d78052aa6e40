// PairWiseLoss: the logistic loss of the order of each pair in a group (Burges et al. 2005), and its gradient.
//   X [N] or [N, 1] float: scores, label [N] or [N, 1] float, optional lengths [S] int32 (sum N; without it S is 1)
//   ->  Y [S]: the mean of log(1 + exp(X[j] - X[i])) over the pairs of the group with label[i] > label[j], or 0
//       Y [0] if N is 0
#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

void CheckPairColumn(const Tensor& tensor, int i, const char* name) {
  CAFFE_ENFORCE(tensor.dim() >= 1 && tensor.size_from_dim(1) == 1, "input ", i, " (", name,
                ") has shape ", tensor.sizes(), ", want [N] or [N, 1]");
  RequireElements<float>(tensor);
}

// log(1 + exp(x)), without overflow.
double LogisticLoss(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double LogisticSlope(double x) { return 1 / (1 + std::exp(-x)); }

// Calls visit(i, j) for the pairs with label[i] > label[j]. Returns their number.
template <class Visit>
int64_t ForEachPair(const float* label, int64_t n, const Visit& visit) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (!(label[i] > label[j])) continue;
      visit(i, j);
      ++pairs;
    }
  }
  return pairs;
}

// The operator if kGradient is false, else its gradient operator.
template <bool kGradient>
class PairWiseLossOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& label = Input(1);
    CheckPairColumn(X, 0, "X");
    CheckPairColumn(label, 1, "label");
    CAFFE_ENFORCE_EQ(label.dim(0), X.dim(0),
                     "elements of input 1 (label), want those of input 0 (X)");
    constexpr int kLengths = kGradient ? 3 : 2;
    const bool has_lengths = InputSize() > kLengths;
    CAFFE_ENFORCE(!has_lengths || Input(kLengths).dim() == 1, "input ", kLengths,
                  " (lengths) has shape ", has_lengths ? Input(kLengths).sizes() : X.sizes(),
                  ", want a vector");
    if constexpr (kGradient) RequireElements<float>(Input(2));
    if (has_lengths) {
      segments_.template Read<int32_t>(*this, kLengths,
                                       kGradient ? "input 3 (lengths)" : "input 2 (lengths)");
    } else {
      segments_.SetOne(X.dim(0));
    }
    CAFFE_ENFORCE_EQ(segments_.total(), X.dim(0),
                     "sum of the lengths, want the elements of input 0 (X)");
    const float* const x = X.data<float>();
    if constexpr (kGradient) {
      Differentiate(x, label.data<float>());
    } else {
      float* const y = OutputData<float>(0, {X.dim(0) == 0 ? 0 : segments_.count()});
      for (int64_t s = 0; s < Output(0)->numel(); ++s) {
        y[s] = Loss(x + segments_.offset(s), label.data<float>() + segments_.offset(s),
                    segments_.length(s));
      }
    }
    return true;
  }

 private:
  static float Loss(const float* x, const float* label, int64_t n) {
    double loss = 0;
    const int64_t pairs = ForEachPair(
        label, n, [&](int64_t i, int64_t j) { loss += LogisticLoss(double{x[j]} - double{x[i]}); });
    return pairs == 0 ? 0.0f : static_cast<float>(loss / static_cast<double>(pairs));
  }

  void Differentiate(const float* x, const float* label) {
    const Tensor& dY = Input(2);
    const int64_t total = segments_.total();
    CAFFE_ENFORCE(total == 0 || (dY.dim() == 1 && dY.dim(0) == segments_.count()),
                  "input 2 (dY) has shape ", dY.sizes(), ", want [", segments_.count(), "]");
    const float* const dy = dY.data<float>();
    float* dx = OutputData<float>(0, Input(0).sizes());
    std::fill_n(dx, total, 0.0f);
    for (int64_t s = 0; s < (total == 0 ? 0 : segments_.count()); ++s) {
      const int64_t n = segments_.length(s);
      const int64_t pairs = ForEachPair(label, n, [&](int64_t i, int64_t j) {
        const auto slope = static_cast<float>(LogisticSlope(double{x[j]} - double{x[i]}));
        dx[i] -= slope;
        dx[j] += slope;
      });
      const float factor = pairs == 0 ? 0 : dy[s] / static_cast<float>(pairs);
      for (int64_t i = 0; i < n; ++i) dx[i] *= factor;
      x += n;
      label += n;
      dx += n;
    }
  }

  SegmentOffsets<CPUContext> segments_;
};

class GetPairWiseLossGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{I(0), I(1), GO(0)};
    if (def_.input_size() > 2) inputs.push_back(I(2));
    return SingleGradientDef("PairWiseLossGradient", "", inputs, {GI(0)});
  }
};

std::vector<TensorShape> InferPairWiseLoss(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  const bool has_lengths = def.input_size() > 2;
  if (!AreKnown(in, has_lengths ? 3 : 1) || in[0].dims_size() == 0) {
    return {UnknownShapeOf(TensorProto_DataType_FLOAT)};
  }
  const int64_t groups = has_lengths ? CheckedProduct(GetDimsVector(in[2])) : 1;
  return {CreateTensorShape(std::vector<int64_t>{in[0].dims(0) == 0 ? 0 : groups},
                            TensorProto_DataType_FLOAT)};
}

}  // namespace

void RegisterPairWiseLoss() {
  RegisterSchema("PairWiseLoss", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Input(0, "X", "[N] or [N, 1] float: scores")
      .Input(1, "label", "[N] or [N, 1] float: a greater label should have a greater score")
      .Input(2, "lengths", "[S] int32 (optional): the elements of each group; one group without it")
      .Output(0, "Y", "[S] float: the loss of each group; [0] without elements")
      .TensorInferenceFunction(InferPairWiseLoss)
      .SetDoc(
          "Computes the mean of log(1 + exp(X[j] - X[i])) over the pairs of a group of which "
          "label[i] is greater than label[j], or 0 if there are none.");
  RegisterCpuOperator<PairWiseLossOp<false>>("PairWiseLoss", __FILE__);
  RegisterSchema("PairWiseLossGradient", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1)
      .Input(0, "X", "[N] or [N, 1] float")
      .Input(1, "label", "[N] or [N, 1] float")
      .Input(2, "dY", "[S] float: the gradient of Y")
      .Input(3, "lengths", "[S] int32 (optional)")
      .Output(0, "dX", "the shape of X: the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of PairWiseLoss with respect to X.");
  RegisterCpuOperator<PairWiseLossOp<true>>("PairWiseLossGradient", __FILE__);
  RegisterGradient<GetPairWiseLossGradient>("PairWiseLoss", __FILE__);
}

}  // namespace caffe2rt
