#pragma once
// NanCheck and EnforceFinite: THROW if input 0 contains a NaN or an infinity. NanCheck copies input
// 0 to its output and ignores its other inputs. EnforceFinite has no output.

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/finite_checks_kernels.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Returns the first value that is not finite, or index n if all are finite. On a device the
// operator owns `found` and `scratch`, which are scratch memory; the CPU does not use them.
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
