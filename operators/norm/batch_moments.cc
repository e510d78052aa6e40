// BatchMoments: the mean of each channel over the batch, and the mean of its squares; BatchMomentsGradient.
//   X [N, C, ...] (NCHW) or [N, ..., C] (NHWC), float  ->  mu [C], var [C]: E[X], E[X * X]
//   dmu [C], dvar [C], X  ->  dX = (dmu + 2 * dvar * X) / elements of a channel
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"

namespace caffe2rt {
namespace {

// X as [outer, channels, inner]; inner is 1 in NHWC.
struct ChannelLoops {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t per_channel() const { return outer * inner; }
};

ChannelLoops LoopsOf(const Tensor& X, int i, bool nchw) {
  CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input ", i, " (X) of shape ", X.sizes());
  const int64_t channels = nchw ? X.dim(1) : X.dims().back();
  return nchw ? ChannelLoops{X.dim(0), channels, X.size_from_dim(2)}
              : ChannelLoops{X.size_to_dim(X.dim() - 1), channels};
}

class BatchMomentsOp final : public Operator<CPUContext> {
 public:
  BatchMomentsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), nchw_(ReadStorageOrder(args()) == NCHW) {}
  bool RunOnDevice() override {
    const ChannelLoops loops = LoopsOf(Input(0), 0, nchw_);
    const float* x = Input(0).data<float>();
    float* const mu = OutputData<float>(0, {loops.channels});
    float* const var = OutputData<float>(1, {loops.channels});
    sums_.assign(static_cast<size_t>(2 * loops.channels), 0.0);
    for (int64_t o = 0; o < loops.outer; ++o) {
      for (int64_t c = 0; c < loops.channels; ++c) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < loops.inner; ++i, ++x) {
          sum += *x;
          squares += static_cast<double>(*x) * *x;
        }
        sums_[static_cast<size_t>(2 * c)] += sum;
        sums_[static_cast<size_t>(2 * c + 1)] += squares;
      }
    }
    const auto n = static_cast<double>(loops.per_channel());
    for (int64_t c = 0; c < loops.channels; ++c) {
      mu[c] = static_cast<float>(sums_[static_cast<size_t>(2 * c)] / n);
      var[c] = static_cast<float>(sums_[static_cast<size_t>(2 * c + 1)] / n);
    }
    return true;
  }

 private:
  const bool nchw_;
  std::vector<double> sums_;  // of each channel: its elements, their squares
};

class BatchMomentsGradientOp final : public Operator<CPUContext> {
 public:
  BatchMomentsGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), nchw_(ReadStorageOrder(args()) == NCHW) {}
  bool RunOnDevice() override {
    const Tensor& X = Input(2);
    const ChannelLoops loops = LoopsOf(X, 2, nchw_);
    for (int i = 0; i < 2; ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), loops.channels, "elements of input ", i,
                       ", want the channels of input 2 (X) of shape ", X.sizes());
      RequireElements<float>(Input(i));
    }
    const float* x = X.data<float>();
    const float* const dmu = Input(0).data<float>();
    const float* const dvar = Input(1).data<float>();
    float* dx = OutputData<float>(0, X.sizes());
    const float factor = 1.0f / static_cast<float>(std::max<int64_t>(loops.per_channel(), 1));
    for (int64_t o = 0; o < loops.outer; ++o) {
      for (int64_t c = 0; c < loops.channels; ++c) {
        for (int64_t i = 0; i < loops.inner; ++i) *dx++ = (dmu[c] + 2 * dvar[c] * *x++) * factor;
      }
    }
    return true;
  }

 private:
  const bool nchw_;
};

class GetBatchMomentsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("BatchMomentsGradient", "", {GO(0), GO(1), I(0)}, {GI(0)});
  }
};

std::vector<TensorShape> InferBatchMoments(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() < 2) return UnknownOutputs(def);
  const bool nchw = ReadStorageOrder(ArgumentHelper(def)) == NCHW;
  const std::vector<int64_t> dims = {in[0].dims(nchw ? 1 : in[0].dims_size() - 1)};
  return std::vector<TensorShape>(2, CreateTensorShape(dims, TensorProto_DataType_FLOAT));
}

}  // namespace

void RegisterBatchMoments() {
  RegisterSchema("BatchMoments", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Arg(kStorageOrder)
      .Input(0, "X", "[N, C, ...] or [N, ..., C], float")
      .Output(0, "mu", "[C]: the mean of each channel")
      .Output(1, "var", "[C]: the mean of the squares of each channel")
      .TensorInferenceFunction(InferBatchMoments)
      .SetDoc(
          "Computes the first two moments of each channel over the batch: the means of X and of X "
          "* X.");
  RegisterCpuOperator<BatchMomentsOp>("BatchMoments", __FILE__);
  RegisterSchema("BatchMomentsGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kStorageOrder)
      .Input(0, "dmu", "[C] float: the gradient of mu")
      .Input(1, "dvar", "[C] float: the gradient of var")
      .Input(2, "X", "[N, C, ...] or [N, ..., C], float")
      .Output(0, "dX", "the shape of X: the gradient of X")
      .IdenticalTypeAndShapeOfInput(2)
      .SetDoc("Computes the gradient of BatchMoments.");
  RegisterCpuOperator<BatchMomentsGradientOp>("BatchMomentsGradient", __FILE__);
  RegisterGradient<GetBatchMomentsGradient>("BatchMoments", __FILE__);
}

}  // namespace caffe2rt
