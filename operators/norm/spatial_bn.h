#pragma once
// SpatialBN: batch normalization of each channel (Ioffe and Szegedy 2015).
//   X [N, C, *] or [N, *, C], scale, bias, mean, var [C]  ->  Y = (X - mean) / sqrt(var + epsilon)
//   * scale + bias
// In training (is_test 0) the batch gives mean and variance; the outputs 1 and 2, which are the
// inputs 3 and 4 in place, move towards them by momentum; outputs 3 and 4 are the batch's mean and
// 1 / sqrt(var + epsilon). With num_batches above 1 inputs 5 and 6 hold the sums of x and x^2 over
// that many batches.

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

// y = x * factor[c] + term[c]. x may be y.
void ScaleChannels(CPUContext& context, const Channels& shape, const float* x, const float* factor,
                   const float* term, float* y);
// factor = scale / sqrt(var + epsilon), term = bias - mean * factor, for n channels.
void FoldBatchNorm(CPUContext& context, int64_t n, float epsilon, const float* scale,
                   const float* bias, const float* mean, const float* var, float* factor,
                   float* term);
// Of each channel over batch and positions. `scratch` has room for two floats a channel.
void ChannelMoments(CPUContext& context, const Channels& shape, const float* x, float* scratch,
                    Moments* moments);

template <class Context>
class SpatialBNOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpatialBNOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        is_test_(this->template GetSingleArgument<bool>("is_test", false)),
        epsilon_(this->template GetSingleArgument<float>("epsilon", 1e-5f)),
        momentum_(this->template GetSingleArgument<float>("momentum", 0.9f)),
        num_batches_(this->template GetSingleArgument<int>("num_batches", 1)),
        order_(
            StringToStorageOrder(this->template GetSingleArgument<std::string>("order", "NCHW"))) {
    CAFFE_ENFORCE_EQ(this->OutputSize(), is_test_ ? 1 : 5, "outputs with is_test ", is_test_,
                     ": 1 in testing, 5 in training");
    CAFFE_ENFORCE(epsilon_ > 0, "argument epsilon is ", epsilon_, ", want above 0");
    CAFFE_ENFORCE(momentum_ >= 0 && momentum_ <= 1, "argument momentum is ", momentum_,
                  ", want 0 to 1");
    CAFFE_ENFORCE(is_test_ || num_batches_ <= 1 || this->InputSize() == 7,
                  "argument num_batches is ", num_batches_, " and there are ", this->InputSize(),
                  " inputs, want 7: the last two are the sums over the batches");
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
    if (is_test_ && shape.batch == 0) {  // the original looks no further
      Output(0, X.sizes(), X.dtype());
      return true;
    }
    const size_t n = static_cast<size_t>(shape.count);
    factor_.resize(n);
    term_.resize(n);
    if (is_test_) {
      FoldBatchNorm(context_, shape.count, epsilon_, scale, bias,
                    ChannelVector(Input(3), 3, "mean", shape.count),
                    ChannelVector(Input(4), 4, "var", shape.count), factor_.data(), term_.data());
    } else {
      Train(shape, scale, bias);
    }
    Tensor* Y = Output(0, X.sizes(), X.dtype());
    float* y = Y->template mutable_data<float>();
    if (X.numel() == 0) return true;
    ScaleChannels(context_, shape, X.template data<float>(), factor_.data(), term_.data(), y);
    return true;
  }

 private:
  // A running value: kept when it has one element a channel, else started at zero, as the original
  // does.
  float* Running(int i, int64_t channels) {
    Tensor* tensor = Output(i);
    const bool kept = tensor->numel() == channels;
    tensor->Resize(channels);
    float* values = tensor->template mutable_data<float>();
    if (!kept) std::fill_n(values, channels, 0.0f);
    return values;
  }

  void Train(const Channels& shape, const float* scale, const float* bias) {
    const int64_t c = shape.count;
    moments_.resize(static_cast<size_t>(c));
    const double seen = static_cast<double>(shape.batch * shape.positions);
    if (num_batches_ > 1) {
      const float* sums = ChannelVector(Input(5), 5, "sums", c);
      const float* sumsq = ChannelVector(Input(6), 6, "sumsq", c);
      const double total = seen * num_batches_;
      for (int64_t i = 0; i < c && shape.batch > 0; ++i) {
        const double mean = sums[i] / total;
        moments_[i] = {1, mean, sumsq[i] / total - mean * mean};
      }
    } else if (seen == 0) {
      std::fill(moments_.begin(), moments_.end(), Moments{});
    } else {
      scratch_.resize(2 * static_cast<size_t>(c));
      ChannelMoments(context_, shape, Input(0).template data<float>(), scratch_.data(),
                     moments_.data());
    }
    float* running_mean = Running(1, c);
    float* running_var = Running(2, c);
    float* saved_mean = this->template OutputData<float>(3, {c});
    float* saved_scale = this->template OutputData<float>(4, {c});
    if (shape.batch == 0) {
      std::fill_n(saved_mean, c, 0.0f);
      std::fill_n(saved_scale, c, 0.0f);
      return;
    }
    const float size = static_cast<float>(seen * num_batches_);
    const float unbiased = size / (size - 1);
    for (int64_t i = 0; i < c; ++i) {
      const float mean = static_cast<float>(moments_[i].mean);
      const float var = static_cast<float>(moments_[i].variance());
      running_mean[i] = momentum_ * running_mean[i] + (1 - momentum_) * mean;
      running_var[i] = momentum_ * running_var[i] + (1 - momentum_) * (var * unbiased);
      saved_mean[i] = mean;
      saved_scale[i] = 1 / std::sqrt(var + epsilon_);
      factor_[i] = scale[i] * saved_scale[i];
      term_[i] = bias[i] - mean * factor_[i];
    }
  }

  const bool is_test_;
  const float epsilon_;
  const float momentum_;
  const int num_batches_;
  const StorageOrder order_;
  std::vector<float> factor_, term_, scratch_;
  std::vector<Moments> moments_;
};

}  // namespace caffe2rt
