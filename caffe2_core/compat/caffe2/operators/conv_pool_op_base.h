#pragma once
// ConvPoolOpBase: a base class for operators whose window slides over the spatial axes.
#include <algorithm>
#include <numeric>
#include <vector>

#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/proto/caffe2_legacy.pb.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

template <class Context>
class ConvPoolOpBase : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ConvPoolOpBase(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        legacy_pad_(static_cast<LegacyPadding>(
            this->template GetSingleArgument<int>("legacy_pad", LegacyPadding::NOTSET))),
        global_pooling_(this->template GetSingleArgument<int>("global_pooling", 0) != 0),
        kernel_(this->template GetRepeatedArgument<int>("kernels")),
        dilation_(this->template GetRepeatedArgument<int>("dilations")),
        stride_(this->template GetRepeatedArgument<int>("strides")),
        pads_(this->template GetRepeatedArgument<int>("pads")),
        group_(this->template GetSingleArgument<int>("group", 1)),
        order_(StringToStorageOrder(this->template GetSingleArgument<string>("order", "NCHW"))),
        shared_buffer_(this->template GetSingleArgument<int>("shared_buffer", 0) != 0),
        ws_(ws) {
    CAFFE_ENFORCE(LegacyPadding_IsValid(legacy_pad_), "argument legacy_pad is ",
                  static_cast<int>(legacy_pad_), ", want 0 to 3");
    if (kernel_.empty()) ReadPair("kernel", &kernel_);
    if (stride_.empty()) ReadPair("stride", &stride_);
    if (dilation_.empty()) ReadPair("dilation", &dilation_);
    if (pads_.empty()) ReadPads();
    if (global_pooling_) {
      for (size_t i = 0; i < kernel_.size(); ++i) {
        CAFFE_ENFORCE((i >= dilation_.size() || dilation_[i] == 1) &&
                          (i >= stride_.size() || stride_[i] == 1),
                      "global pooling accepts neither dilations nor strides");
      }
    }
    const size_t axes = std::max<size_t>(kernel_.size(), global_pooling_ ? 2 : 0);
    if (kernel_.empty()) kernel_.assign(axes, 0);
    if (stride_.empty()) stride_.assign(axes, 1);
    if (dilation_.empty()) dilation_.assign(axes, 1);
    if (pads_.empty()) pads_.assign(2 * axes, 0);
    CAFFE_ENFORCE(stride_.size() == axes && dilation_.size() == axes && pads_.size() == 2 * axes,
                  "there are ", axes, " kernels, ", stride_.size(), " strides, ", dilation_.size(),
                  " dilations and ", pads_.size(), " pads");
    for (size_t i = 0; i < axes; ++i) {
      CAFFE_ENFORCE(global_pooling_ || kernel_[i] > 0, "kernel ", i, " is ", kernel_[i]);
      CAFFE_ENFORCE(stride_[i] > 0 && dilation_[i] > 0, "stride ", i, " is ", stride_[i],
                    ", dilation ", dilation_[i], ", want at least 1");
    }
  }
  ~ConvPoolOpBase() override = default;

  // The sizes of the spatial axes.
  vector<int> GetDims(const ::caffe2rt::Tensor& input) const {
    CAFFE_ENFORCE_GE(input.dim(), 3, "rank of the input of a convolution or pool");
    const auto dims = input.sizes();
    return order_ == StorageOrder::NCHW ? vector<int>(dims.begin() + 2, dims.end())
                                        : vector<int>(dims.begin() + 1, dims.end() - 1);
  }
  int GetDimsSize(const ::caffe2rt::Tensor& input) const {
    const vector<int> dims = GetDims(input);
    return std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<int>());
  }

  vector<int64_t> GetOutputSize(const ::caffe2rt::Tensor& input, int output_channel) {
    CAFFE_ENFORCE_GT(input.numel(), -1, "the input was never shaped");
    const vector<int> dims = GetDims(input);
    if (global_pooling_) kernel_ = dims;
    CAFFE_ENFORCE_EQ(kernel_.size(), dims.size(), "kernels for the spatial axes of the input");
    stride_.resize(dims.size(), 1);
    dilation_.resize(dims.size(), 1);
    if (pads_.size() != 2 * dims.size()) pads_.assign(2 * dims.size(), 0);
    vector<int64_t> out;
    out.push_back(input.dim(0));
    if (order_ == StorageOrder::NCHW) out.push_back(output_channel);
    for (size_t i = 0; i < dims.size(); ++i) {
      int size = 1;
      if (!global_pooling_) {
        ComputeSizeAndPad(dims[i], stride_[i], kernel_[i], dilation_[i], legacy_pad_, &pads_[i],
                          &pads_[i + dims.size()], &size);
      }
      out.push_back(size);
    }
    if (order_ == StorageOrder::NHWC) out.push_back(output_channel);
    return out;
  }
  void SetOutputSize(const ::caffe2rt::Tensor& input, ::caffe2rt::Tensor* output,
                     int output_channel) {
    output->Resize(GetOutputSize(input, output_channel));
  }
  // Sets the pads for spatial axes of these sizes, as legacy_pad requires.
  void ComputePads(const vector<int>& dims) {
    for (size_t i = 0; i < dims.size() && i < kernel_.size(); ++i) {
      int size = 1;
      if (global_pooling_) {
        pads_[i] = pads_[i + dims.size()] = 0;
      } else if (legacy_pad_ != LegacyPadding::NOTSET) {
        ComputeSizeAndPad(dims[i], stride_[i], kernel_[i], dilation_[i], legacy_pad_, &pads_[i],
                          &pads_[i + dims.size()], &size);
      }
    }
  }

  bool HasPad() const {
    return std::any_of(pads_.begin(), pads_.end(), [](int pad) { return pad > 0; });
  }
  bool HasStride() const {
    return std::any_of(stride_.begin(), stride_.end(), [](int stride) { return stride > 1; });
  }

  // Copies `data` to `tensor`, on the tensor's device.
  void AllocateAndCopy(const std::vector<int>& data, ::caffe2rt::Tensor& tensor) {
    SetDeviceTensor(data, &tensor);
  }
  void SetDeviceTensor(const std::vector<int>& data, ::caffe2rt::Tensor* tensor) {
    tensor->CopyFrom(data, &context_);
  }
  template <class T>
  void SetBiasMultiplier(const int size, ::caffe2rt::Tensor* bias_multiplier) {
    if (bias_multiplier->numel() == size) return;
    bias_multiplier->Resize(size);
    math::Set<T, Context>(size, static_cast<T>(1), bias_multiplier->template mutable_data<T>(),
                          &context_);
  }

  // Shape inference for the schemas of convolutions, whose input 1 is the filter, and of pools.
  // Further inputs and outputs of the operator are not used.
  static vector<TensorShape> TensorInferenceForConv(const OperatorDef& def,
                                                    const vector<TensorShape>& inputs) {
    return WithSchema("Conv", 2, def, inputs, &OpSchema::InferTensor);
  }
  static vector<TensorShape> TensorInferenceForPool(const OperatorDef& def,
                                                    const vector<TensorShape>& inputs) {
    return WithSchema("MaxPool", 1, def, inputs, &OpSchema::InferTensor);
  }

  // Cost inference for the schemas of convolutions.
  static OpSchema::Cost CostInferenceForConv(const OperatorDef& def,
                                             const vector<TensorShape>& inputs) {
    return WithSchema("Conv", 2, def, inputs, &OpSchema::InferCost);
  }

  bool RunOnDevice() override {
    switch (order_) {
      case StorageOrder::NHWC:
        return RunOnDeviceWithOrderNHWC();
      case StorageOrder::NCHW:
        return RunOnDeviceWithOrderNCHW();
      default:
        CAFFE_THROW("Unknown Storage order: ", static_cast<int>(order_));
    }
  }
  virtual bool RunOnDeviceWithOrderNHWC() { CAFFE_NOT_IMPLEMENTED; }
  virtual bool RunOnDeviceWithOrderNCHW() { CAFFE_NOT_IMPLEMENTED; }

 protected:
  static void ComputeSizeAndPad(int in, int stride, int kernel, int dilation,
                                LegacyPadding legacy_pad, int* head, int* tail, int* out) {
    const int extent = dilation * (kernel - 1) + 1;
    switch (legacy_pad) {
      case LegacyPadding::NOTSET:
        CAFFE_ENFORCE_GE(in + *head + *tail, extent,
                         "size of the padded input, want at least the extent of the kernel");
        *out = (in + *head + *tail - extent) / stride + 1;
        break;
      case LegacyPadding::VALID:
        *head = *tail = 0;
        *out = (in - extent) / stride + 1;
        break;
      case LegacyPadding::SAME: {
        *out = (in + stride - 1) / stride;
        const int need = std::max(0, (*out - 1) * stride + kernel - in);
        *head = need / 2;
        *tail = need - *head;
        break;
      }
      case LegacyPadding::CAFFE_LEGACY_POOLING:
        *out = (in + 2 * *head - kernel + stride - 1) / stride + 1;
        if (*head > 0 && (*out - 1) * stride >= in + *head) --*out;
        *tail = std::max(0, stride * (*out - 1) + kernel - in - *head);
        break;
    }
  }

  int pad_t() const { return At(pads_, 0); }
  int pad_l() const { return At(pads_, 1); }
  int pad_b() const { return At(pads_, pads_.size() / 2); }
  int pad_r() const { return At(pads_, pads_.size() / 2 + 1); }
  int kernel_h() const { return At(kernel_, 0); }
  int kernel_w() const { return At(kernel_, 1); }
  int stride_h() const { return At(stride_, 0); }
  int stride_w() const { return At(stride_, 1); }
  int dilation_h() const { return At(dilation_, 0); }
  int dilation_w() const { return At(dilation_, 1); }

  LegacyPadding legacy_pad_;
  bool global_pooling_;
  vector<int> kernel_;
  vector<int> dilation_;
  vector<int> stride_;
  vector<int> pads_;
  int group_;
  StorageOrder order_;
  bool shared_buffer_;
  Workspace* ws_;

 private:
  // What the schema of the built-in operator `type` infers from the first `count` inputs.
  template <class Result>
  static Result WithSchema(const string& type, size_t count, const OperatorDef& def,
                           const vector<TensorShape>& inputs,
                           Result (OpSchema::*infer)(const OperatorDef&, const vector<TensorShape>&)
                               const) {
    CAFFE_ENFORCE_GE(inputs.size(), count, "inputs of the operator \"", def.type(), "\"");
    OperatorDef window = def;
    window.set_type(type);
    window.clear_input();
    window.clear_output();
    for (size_t i = 0; i < count; ++i) window.add_input(std::to_string(i));
    window.add_output("output");
    const OpSchema* schema = OpSchemaRegistry::Schema(type);
    CAFFE_ENFORCE(schema != nullptr, "the operator \"", type, "\" is not built in");
    return (schema->*infer)(window, {inputs.begin(), inputs.begin() + count});
  }
  static int At(const vector<int>& values, size_t i) {
    CAFFE_ENFORCE_LT(i, values.size(), "spatial axis");
    return values[i];
  }
  // Reads the argument `name`, for both axes, or the arguments name_h and name_w.
  void ReadPair(const string& name, vector<int>* values) {
    if (this->HasArgument(name)) {
      values->assign(2, this->template GetSingleArgument<int>(name, 0));
    } else if (this->HasArgument(name + "_h") && this->HasArgument(name + "_w")) {
      *values = {this->template GetSingleArgument<int>(name + "_h", 0),
                 this->template GetSingleArgument<int>(name + "_w", 0)};
    }
  }
  void ReadPads() {
    if (this->HasArgument("pad")) {
      CAFFE_ENFORCE(legacy_pad_ != LegacyPadding::VALID && legacy_pad_ != LegacyPadding::SAME,
                    "argument pad cannot be combined with legacy_pad VALID or SAME");
      pads_.assign(4, this->template GetSingleArgument<int>("pad", 0));
    } else if (this->HasArgument("pad_t") && this->HasArgument("pad_l") &&
               this->HasArgument("pad_b") && this->HasArgument("pad_r")) {
      for (const char* name : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
        pads_.push_back(this->template GetSingleArgument<int>(name, 0));
      }
    }
  }
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif

#define USE_CONV_POOL_BASE_FUNCTIONS(Context)     \
  USE_OPERATOR_FUNCTIONS(Context);                \
  using ConvPoolOpBase<Context>::pads_;           \
  using ConvPoolOpBase<Context>::pad_t;           \
  using ConvPoolOpBase<Context>::pad_l;           \
  using ConvPoolOpBase<Context>::pad_b;           \
  using ConvPoolOpBase<Context>::pad_r;           \
  using ConvPoolOpBase<Context>::legacy_pad_;     \
  using ConvPoolOpBase<Context>::global_pooling_; \
  using ConvPoolOpBase<Context>::kernel_;         \
  using ConvPoolOpBase<Context>::kernel_h;        \
  using ConvPoolOpBase<Context>::kernel_w;        \
  using ConvPoolOpBase<Context>::dilation_;       \
  using ConvPoolOpBase<Context>::dilation_h;      \
  using ConvPoolOpBase<Context>::dilation_w;      \
  using ConvPoolOpBase<Context>::stride_;         \
  using ConvPoolOpBase<Context>::stride_h;        \
  using ConvPoolOpBase<Context>::stride_w;        \
  using ConvPoolOpBase<Context>::group_;          \
  using ConvPoolOpBase<Context>::order_;          \
  using ConvPoolOpBase<Context>::shared_buffer_;  \
  using ConvPoolOpBase<Context>::GetDims;         \
  using ConvPoolOpBase<Context>::GetDimsSize;     \
  using ConvPoolOpBase<Context>::SetDeviceTensor; \
  using ConvPoolOpBase<Context>::ws_

}  // namespace caffe2
