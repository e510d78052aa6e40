#pragma once
// caffe2::Operator<Context> for sources in which Tensor is a template: inputs and outputs have the
// type Tensor<Context>, from which a function template can deduce the context.
#include "caffe2_core/compat/caffe2rt_templated/tensor.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2 {

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

}  // namespace caffe2

// The macros of caffe2_core/runtime/operator.h, for this base class.
#undef USE_OPERATOR_FUNCTIONS
#define USE_OPERATOR_FUNCTIONS(context)        \
  USE_OPERATOR_BASE_FUNCTIONS;                 \
  using ::caffe2::Operator<context>::context_; \
  using ::caffe2::Operator<context>::Input;    \
  using ::caffe2::Operator<context>::Output

#undef USE_SIMPLE_CTOR_DTOR
#define USE_SIMPLE_CTOR_DTOR(name)                                    \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2::Operator<Context>(def, ws) {}                       \
  virtual ~name() noexcept {}
