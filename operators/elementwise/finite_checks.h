#pragma once
// NanCheck and EnforceFinite: THROW when input 0 holds a NaN or an infinity. NanCheck hands its
// input on, EnforceFinite has no output. NanCheck's further inputs are not looked at.

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/finite_checks_kernels.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// The first value that is not finite; index n when all are. `found` and `scratch` are memory for
// devices.
NotFinite FirstNotFinite(CPUContext& context, int64_t n, const float* x, Tensor* found,
                         Tensor* scratch);
NotFinite FirstNotFinite(CPUContext& context, int64_t n, const double* x, Tensor* found,
                         Tensor* scratch);
NotFinite FirstNotFinite(CUDAContext& context, int64_t n, const float* x, Tensor* found,
                         Tensor* scratch);
NotFinite FirstNotFinite(CUDAContext& context, int64_t n, const double* x, Tensor* found,
                         Tensor* scratch);

template <class Context>
class FiniteCheckOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  FiniteCheckOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (OutputSize() == 0) {
      return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
        return Check(X, X.data<decltype(element)>());
      });
    }
    Check(X, X.data<float>());
    Tensor* Y = Output(0);
    if (Y != &X) Y->CopyFrom(X, &context_);
    return true;
  }

 private:
  template <class T>
  bool Check(const Tensor& X, const T* x) {
    const NotFinite first = FirstNotFinite(context_, X.numel(), x, &found_, &scratch_);
    CAFFE_ENFORCE(first.index == X.numel(), "input 0 (X) of shape ", X.sizes(), " holds ",
                  first.value, " at element ", first.index, ", want finite numbers");
    return true;
  }

  Tensor found_{Context::GetDeviceType()};
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
