#pragma once
// SpatialBN: batch normalization of each channel (Ioffe and Szegedy 2015).
//   X [N, C, *] or [N, *, C], scale, bias, mean, var [C]
//   ->  Y = (X - mean) / sqrt(var + epsilon) * scale + bias
// In training (is_test 0), mean and variance are those of the batch. Outputs 1 and 2, which are
// inputs 3 and 4 in place, are running values that move towards them: momentum is the weight of the
// old value. Outputs 3 and 4 are the mean and 1 / sqrt(var + epsilon) of the batch. With
// num_batches above 1, inputs 5 and 6 hold the sums of x and x^2 over that many batches, and mean
// and variance are computed from them.
//
// SpatialBNGradient: X, scale, dY, mean, inv [C]  ->  dX, dscale, dbias
// In training, inv is 1 / sqrt(var + epsilon) of the batch. With num_batches above 1, inputs 5 and 6
// are the sums of dscale and dbias over that many batches (ChannelBackpropStats), which are divided
// by num_batches. With is_test, inputs 3 and 4 are the mean and the variance that the operator used,
// which are constants. (Caffe2 takes that variance for inv and uses the formula of training.)

#include "caffe2_core/base/text.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/norm/spatial_bn_kernels.h"

namespace caffe2rt {

// Engine policy: constructed once for each operator, invoked on every run. This one runs the
// library's own kernels.
class NativeBatchNorm {
 public:
  explicit NativeBatchNorm(const OperatorBase&) {}
  template <class Context, class Parameters>
  void operator()(Context& context, const Channels& shape, const Parameters& parameters,
                  const float* x, float* y) {
    NormalizeBatch(context, shape, parameters, x, &scratch_, y);
  }
  template <class Context>
  void operator()(Context& context, const Channels& shape, float /*epsilon*/,
                  const BatchNormGradient& parameters, const float* x, const float* dy, float* dx) {
    GradientOfBatch(context, shape, parameters, x, dy, &scratch_, dx);
  }

 private:
  BatchNormScratch scratch_;
};

inline constexpr ArgumentSpec<bool> kSpatialBnIsTest{
    "is_test", false, "1: use the given mean and variance; 0: those of the batch", {}, true};
inline constexpr ArgumentSpec<float> kSpatialBnEpsilon{
    "epsilon",
    1e-5f,
    "added to the variance",
    {[](float epsilon) { return epsilon > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kSpatialBnMomentum{
    "momentum",
    0.9f,
    "weight of the old values of the running mean and variance",
    {[](float momentum) { return momentum >= 0 && momentum <= 1; }, "0 to 1"}};
inline constexpr ArgumentSpec<int> kSpatialBnNumBatches{
    "num_batches", 1, "number of batches over which the sums in inputs 5 and 6 were computed"};

inline constexpr ArgumentSpec<bool> kSpatialBnGradientIsTest{
    "is_test", false, "1: inputs 3 and 4 are the given mean and variance; 0: those of the batch"};

template <class Context, class Kernel = NativeBatchNorm>
class SpatialBNOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpatialBNOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        is_test_(this->ReadArgument(kSpatialBnIsTest)),
        epsilon_(this->ReadArgument(kSpatialBnEpsilon)),
        momentum_(this->ReadArgument(kSpatialBnMomentum)),
        num_batches_(this->ReadArgument(kSpatialBnNumBatches)),
        order_(ReadStorageOrder(this->args())),
        kernel_(*this) {
    CAFFE_ENFORCE_EQ(this->OutputSize(), is_test_ ? 1 : 5, "outputs with is_test ", is_test_,
                     ": 1 in testing, 5 in training");
    CAFFE_ENFORCE(is_test_ || num_batches_ <= 1 || this->InputSize() == 7,
                  "argument num_batches is ", num_batches_, " and the operator has ",
                  CountText(this->InputSize(), "input"),
                  ", want 7: inputs 5 and 6 are the sums over the batches");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_GT(shape.count, 0, "channels of input 0 (X) of shape ", X.sizes(),
                     ", want at least 1");
    CAFFE_ENFORCE(X.template IsType<float>(), "Unsupported type of tensor: input 0 (X) holds ",
                  X.dtype().name(), ", want float");
    const float* scale = ChannelVector(Input(1), 1, "scale", shape.count);
    const float* bias = ChannelVector(Input(2), 2, "bias", shape.count);
    if (is_test_ && shape.batch == 0) {  // Caffe2 does not check mean and var here
      Output(0, X.sizes(), X.dtype());
      return true;
    }
    if (!is_test_) {
      Train(shape, scale, bias);
      return true;
    }
    const BatchNormTest parameters{
        .epsilon = epsilon_,
        .scale = scale,
        .bias = bias,
        .mean = ChannelVector(Input(3), 3, "mean", shape.count),
        .var = ChannelVector(Input(4), 4, "var", shape.count),
    };
    float* y = Output(0, X.sizes(), X.dtype())->template mutable_data<float>();
    if (X.numel() > 0) kernel_(context_, shape, parameters, X.template data<float>(), y);
    return true;
  }

 private:
  void Train(const Channels& shape, const float* scale, const float* bias) {
    const Tensor& X = Input(0);
    const int64_t c = shape.count;
    BatchNormTraining parameters{.epsilon = epsilon_,
                                 .momentum = momentum_,
                                 .num_batches = num_batches_,
                                 .scale = scale,
                                 .bias = bias};
    if (num_batches_ > 1) {
      parameters.sums = ChannelVector(Input(5), 5, "sums", c);
      parameters.sumsq = ChannelVector(Input(6), 6, "sumsq", c);
    }
    parameters.running_mean = Running(1, c, &parameters.keep_mean);
    parameters.running_var = Running(2, c, &parameters.keep_var);
    parameters.saved_mean = this->template OutputData<float>(3, {c});
    parameters.saved_scale = this->template OutputData<float>(4, {c});
    float* y = Output(0, X.sizes(), X.dtype())->template mutable_data<float>();
    kernel_(context_, shape, parameters, X.template data<float>(), y);
  }

  // Returns output i, a running value, resized to one element for each channel. As in Caffe2, *keep
  // is whether it already has this size; otherwise it starts at zero. THROWS if it holds no floats then.
  float* Running(int i, int64_t channels, bool* keep) {
    Tensor* tensor = Output(i);
    *keep = tensor->numel() == channels;
    CAFFE_ENFORCE(!*keep || tensor->template IsType<float>(), "input ", i + 2,
                  i == 1 ? " (mean)" : " (var)", " holds ", tensor->dtype().name(), ", want float");
    tensor->Resize(channels);
    return tensor->template mutable_data<float>();
  }

  const bool is_test_;
  const float epsilon_;
  const float momentum_;
  const int num_batches_;
  const StorageOrder order_;
  Kernel kernel_;
};

template <class Context, class Kernel = NativeBatchNorm>
class SpatialBNGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpatialBNGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        is_test_(this->ReadArgument(kSpatialBnGradientIsTest)),
        epsilon_(this->ReadArgument(kSpatialBnEpsilon)),
        num_batches_(is_test_ ? 1 : this->ReadArgument(kSpatialBnNumBatches)),
        order_(ReadStorageOrder(this->args())),
        kernel_(*this) {
    CAFFE_ENFORCE(num_batches_ <= 1 || this->InputSize() == 7, "argument num_batches is ",
                  num_batches_, " and the operator has ", this->InputSize(),
                  " inputs, want 7: inputs 5 and 6 are the sums over the batches");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(2);
    CAFFE_ENFORCE_GE(X.dim(), 3, "rank of input 0 (X) of shape ", X.sizes(), ", want at least 3");
    const Channels shape = ChannelsOf(X, order_);
    const int64_t c = shape.count;
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 2 (dY) of shape ", dY.sizes(),
                     ", want as many as input 0 (X) of shape ", X.sizes());
    const float* x = X.template data<float>();
    const float* dy = dY.template data<float>();
    BatchNormGradient parameters{.num_batches = num_batches_,
                                 .scale = ChannelVector(Input(1), 1, "scale", c),
                                 .mean = ChannelVector(Input(3), 3, "mean", c)};
    if (is_test_) {
      parameters.var = ChannelVector(Input(4), 4, "var", c);
      parameters.epsilon = epsilon_;
    } else {
      parameters.inverse = ChannelVector(Input(4), 4, "inv", c);
    }
    if (num_batches_ > 1) {
      parameters.dscale_sum = ChannelVector(Input(5), 5, "dscale_sum", c);
      parameters.dbias_sum = ChannelVector(Input(6), 6, "dbias_sum", c);
    }
    float* dx = this->template OutputData<float>(0, X.sizes());
    parameters.dscale = this->template OutputData<float>(1, Input(1).sizes());
    parameters.dbias = this->template OutputData<float>(2, Input(1).sizes());
    kernel_(context_, shape, epsilon_, parameters, x, dy, dx);
    return true;
  }

 private:
  const bool is_test_;
  const float epsilon_;
  const int num_batches_;
  const StorageOrder order_;
  Kernel kernel_;
};

}  // namespace caffe2rt
