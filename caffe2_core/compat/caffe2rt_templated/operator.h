#pragma once
// caffe2::Operator<Context>, the base class of operators in both generations of sources.
#include "c10/core/TensorOptions.h"
#include "caffe2_core/compat/caffe2rt_templated/generation.h"
#include "caffe2_core/runtime/operator.h"
#if CAFFE2RT_TEMPLATED_TENSOR
#include "caffe2_core/compat/caffe2rt_templated/tensor.h"
#endif

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {

// Inputs and outputs have the type Tensor<Context>, from which a function template can deduce the
// context.
template <class Context>
class Operator : public ::caffe2rt::Operator<Context> {
 public:
  using ::caffe2rt::Operator<Context>::Operator;
  using ::caffe2rt::Operator<Context>::Input;
  using ::caffe2rt::Operator<Context>::Output;

  const Tensor<Context>& Input(int i) const {
    return static_cast<const Tensor<Context>&>(this->InputTensor(i, Context::GetDeviceType()));
  }
  Tensor<Context>* Output(int i) {
    return static_cast<Tensor<Context>*>(this->OutputTensor(i, Context::GetDeviceType()));
  }
};

}  // namespace templated
#else

// Outputs can be requested with TensorOptions. Without a device in them, the tensor is on the
// device of the context.
template <class Context>
class Operator : public ::caffe2rt::Operator<Context> {
 public:
  using ::caffe2rt::Operator<Context>::Operator;
  using ::caffe2rt::Operator<Context>::Output;
  using ::caffe2rt::Operator<Context>::OutputTensor;
  using ::caffe2rt::Operator<Context>::OutputTensorCopyFrom;

  ::caffe2rt::Tensor* Output(int i, ::caffe2rt::IntArrayRef dims, ::c10::TensorOptions options) {
    return OutputTensor(i, dims, options);
  }
  ::caffe2rt::Tensor* OutputTensor(int i, ::caffe2rt::IntArrayRef dims,
                                   ::c10::TensorOptions options) {
    return OutputTensor(i, DeviceOf(options), dims, options.dtype());
  }
  ::caffe2rt::Tensor* OutputTensorCopyFrom(int i, ::c10::TensorOptions options,
                                           const ::caffe2rt::Tensor& source,
                                           bool /*async*/ = false) {
    return OutputTensorCopyFrom(i, DeviceOf(options), source);
  }
  // The same tensor as a value that shares its memory.
  ::caffe2rt::Tensor XOutput(int i, ::caffe2rt::IntArrayRef dims, ::c10::TensorOptions options) {
    return *OutputTensor(i, dims, options);
  }

 private:
  static ::caffe2rt::DeviceType DeviceOf(const ::c10::TensorOptions& options) {
    return options.has_device() ? options.device().type() : Context::GetDeviceType();
  }
};

#endif
}  // namespace caffe2

// The macros of caffe2_core/runtime/operator.h, for this base class.
#undef USE_OPERATOR_FUNCTIONS
#define USE_OPERATOR_FUNCTIONS(context)        \
  USE_OPERATOR_BASE_FUNCTIONS;                 \
  using ::caffe2::Operator<context>::context_; \
  using ::caffe2::Operator<context>::Input;    \
  using ::caffe2::Operator<context>::Output;   \
  using ::caffe2::Operator<context>::OutputTensorCopyFrom

#undef USE_SIMPLE_CTOR_DTOR
#define USE_SIMPLE_CTOR_DTOR(name)                                    \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2::Operator<Context>(def, ws) {}                       \
  virtual ~name() noexcept {}
