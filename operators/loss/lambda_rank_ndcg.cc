// LambdaRankNdcg: LambdaRank's loss of the order of the documents of a session (Burges 2010), with NDCG.
//   y [N] float: scores, r float of N elements: relevances, lengths int32 of S elements (sum N)
//   ->  loss [S], dy [N]: the lambdas
// LambdaRankNdcgGradient: y, lengths, dy, dloss [S]  ->  dy * dloss of the session
//
// Of documents i and j with gains g and discounts d = 1 / log2(1 + place by score), the weight is
// |(g[i] - g[j]) * (d[i] - d[j])|, divided by the ideal DCG. The loss is the sum of weight * log(1 + exp(y[j] - y[i]))
// over the pairs with r[i] > r[j], twice as in Caffe2, and the lambdas are the derivatives of the sum itself, with
// constant weights.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kRankNdcgAsLoss{
    "use_ndcg_as_loss", false, "1: the loss is 1 - NDCG, or without normalization IDCG - DCG"};
constexpr ArgumentSpec<bool> kRankIdcgNormalization{"use_idcg_normalization", true,
                                                    "1: divide by the ideal DCG"};
constexpr ArgumentSpec<bool> kRankExpGain{
    "use_exp_gain", true,
    "1: the gain is 2^r; 0: it is r. Used only with use_ndcg_as_loss; the gain is 2^r without it"};

class LambdaRankNdcgOp final : public Operator<CPUContext> {
 public:
  LambdaRankNdcgOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        ndcg_as_loss_(ReadArgument(kRankNdcgAsLoss)),
        normalize_(ReadArgument(kRankIdcgNormalization)),
        exp_gain_(ReadArgument(kRankExpGain) || !ndcg_as_loss_) {}

  bool RunOnDevice() override {
    const Tensor& Y = Input(0);
    const Tensor& R = Input(1);
    CAFFE_ENFORCE_EQ(Y.dim(), 1, "rank of input 0 (y) of shape ", Y.sizes());
    CAFFE_ENFORCE_EQ(R.numel(), Y.numel(), "elements of input 1 (r), want those of input 0 (y)");
    RequireElements<float>(Y);
    RequireElements<float>(R);
    segments_.Read<int32_t>(*this, 2, "input 2 (lengths)");
    CAFFE_ENFORCE_EQ(segments_.total(), Y.numel(),
                     "sum of input 2 (lengths), want the elements of input 0 (y)");
    const float* const y = Y.data<float>();
    const float* const r = R.data<float>();
    float* const loss = OutputData<float>(0, {segments_.count()});
    float* const dy = OutputData<float>(1, Y.sizes());
    for (int64_t s = 0; s < segments_.count(); ++s) {
      const int64_t at = segments_.offset(s);
      loss[s] = Session(y + at, r + at, static_cast<size_t>(segments_.length(s)), dy + at);
    }
    return true;
  }

 private:
  // order_ = the documents, the greatest value first. NaN is last, equal ones keep their order.
  void SortBy(const float* values, size_t n) {
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::sort(order_.begin(), order_.end(), [values](int64_t a, int64_t b) {
      if (values[a] > values[b]) return true;
      if (values[a] < values[b]) return false;
      const bool nan_a = std::isnan(values[a]), nan_b = std::isnan(values[b]);
      return nan_a != nan_b ? nan_b : a < b;
    });
  }
  // The sum of gain * discount in the order.
  double Dcg() const {
    double sum = 0;
    for (size_t k = 0; k < order_.size(); ++k) {
      sum += gain_[static_cast<size_t>(order_[k])] / std::log2(static_cast<double>(k) + 2);
    }
    return sum;
  }

  float Session(const float* y, const float* r, size_t n, float* dy) {
    gain_.resize(n);
    discount_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      gain_[i] = exp_gain_ ? std::exp2(double{r[i]}) : double{r[i]};
      dy[i] = 0;
    }
    SortBy(r, n);
    const double ideal = Dcg();
    SortBy(y, n);
    for (size_t k = 0; k < n; ++k) {
      discount_[static_cast<size_t>(order_[k])] = 1 / std::log2(static_cast<double>(k) + 2);
    }
    // A session without gains has nothing to order.
    const double scale = !normalize_ ? 1 : ideal == 0 ? 0 : 1 / ideal;
    double loss = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (i == j || r[i] < r[j] || (r[i] == r[j])) continue;
        const double weight =
            std::abs((gain_[i] - gain_[j]) * (discount_[i] - discount_[j])) * scale;
        const double difference = double{y[j]} - double{y[i]};
        const auto lambda = static_cast<float>(weight / (1 + std::exp(-difference)));
        dy[i] -= lambda;
        dy[j] += lambda;
        loss +=
            2 * weight * (std::max(difference, 0.0) + std::log1p(std::exp(-std::abs(difference))));
      }
    }
    return static_cast<float>(ndcg_as_loss_ ? (ideal - Dcg()) * scale : loss);
  }

  const bool ndcg_as_loss_, normalize_, exp_gain_;
  SegmentOffsets<CPUContext> segments_;
  std::vector<int64_t> order_;
  std::vector<double> gain_, discount_;
};

class LambdaRankNdcgGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& Y = Input(0);
    const Tensor& lambdas = Input(2);
    const Tensor& dLoss = Input(3);
    CAFFE_ENFORCE_EQ(lambdas.numel(), Y.numel(),
                     "elements of input 2 (dy), want those of input 0 (y)");
    CAFFE_ENFORCE_EQ(dLoss.numel(), Input(1).numel(),
                     "elements of input 3 (dloss), want those of input 1 (lengths)");
    RequireElements<float>(Y);
    RequireElements<float>(lambdas);
    RequireElements<float>(dLoss);
    segments_.Read<int32_t>(*this, 1, "input 1 (lengths)");
    CAFFE_ENFORCE_EQ(segments_.total(), Y.numel(),
                     "sum of input 1 (lengths), want the elements of input 0 (y)");
    const float* const lambda = lambdas.data<float>();
    const float* const dloss = dLoss.data<float>();
    float* const dy = OutputData<float>(0, Y.sizes());
    for (int64_t s = 0; s < segments_.count(); ++s) {
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        dy[i] = dloss[s] * lambda[i];
      }
    }
    return true;
  }

 private:
  SegmentOffsets<CPUContext> segments_;
};

class GetLambdaRankNdcgGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LambdaRankNdcgGradient", "", {I(0), I(2), O(1), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterLambdaRankNdcg() {
  RegisterSchema("LambdaRankNdcg", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Args(kRankNdcgAsLoss, kRankIdcgNormalization, kRankExpGain)
      .Input(0, "y", "[N] float: scores")
      .Input(1, "r", "float, N elements: relevances")
      .Input(2, "lengths", "int32, S elements: the documents of each session; their sum is N")
      .Output(0, "loss", "[S] float")
      .Output(1, "dy", "[N] float: the lambdas, which the gradient operator scales")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(2, UnknownShapeOf(TensorProto_DataType_FLOAT));
        if (!AreKnown(in, 3)) return out;
        out[0] = CreateTensorShape(std::vector<int64_t>{CheckedProduct(GetDimsVector(in[2]))},
                                   TensorProto_DataType_FLOAT);
        out[1] = CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_FLOAT);
        return out;
      })
      .SetDoc(
          "LambdaRank: for the pairs of documents of a session of which one is more relevant, adds "
          "up the logistic loss of their scores, weighted by the change of NDCG if they changed "
          "places, twice. The gradient has constant weights, and is that of half of the loss.");
  RegisterCpuOperator<LambdaRankNdcgOp>("LambdaRankNdcg", __FILE__);
  RegisterSchema("LambdaRankNdcgGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kRankNdcgAsLoss, kRankIdcgNormalization, kRankExpGain)
      .Input(0, "y", "float, N elements")
      .Input(1, "lengths", "int32, S elements")
      .Input(2, "dy", "float, N elements: output 1 of LambdaRankNdcg")
      .Input(3, "dloss", "float, S elements: the gradient of loss")
      .Output(0, "dY", "the shape of y: the gradient of y")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Multiplies the lambdas of each session by the gradient of its loss.");
  RegisterCpuOperator<LambdaRankNdcgGradientOp>("LambdaRankNdcgGradient", __FILE__);
  RegisterGradient<GetLambdaRankNdcgGradient>("LambdaRankNdcg", __FILE__);
}

}  // namespace caffe2rt
