#pragma once
// MaxPoolWithIndex: the largest element of each window that slides over 1 to 3 axes of X [N, C, *],
// and its index in the plane. Of several equal elements the first one counts; NaN is ignored.
//   X float or float16  ->  Y, Index int32
// A window without a number gets the lowest finite value and index -1.
//
// MaxPoolWithIndexGradient: X, dY, Index  ->  dX. The gradient of a window goes to the element with
// its index.
//
// Caffe2 has both for CUDA only.

#include <vector>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/runtime/dispatch.h"
#include "operators/pool/pool.h"
#include "operators/pool/pool_kernels.h"

namespace caffe2rt {

void RunMaxPoolWithIndex(CPUContext& context, const PoolPlan& plan, const float* x, float* y,
                         int32_t* index);
void RunMaxPoolWithIndex(CPUContext& context, const PoolPlan& plan, const float16* x, float16* y,
                         int32_t* index);
// THROWS if an index is out of range.
void RunMaxPoolWithIndexGradient(CPUContext& context, const PoolPlan& plan, const float* dy,
                                 const int32_t* index, float* dx, ThreadScratch* scratch);
void RunMaxPoolWithIndexGradient(CPUContext& context, const PoolPlan& plan, const float16* dy,
                                 const int32_t* index, float16* dx, ThreadScratch* scratch);

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Reads the window arguments. THROWS for order NHWC.
WindowArguments ReadIndexedPool(const ArgumentHelper& args);
// THROWS if the plane is too large for int32 indices.
PoolPlan MakeIndexedPoolPlan(const WindowGeometry& geometry, bool global);
#pragma GCC visibility pop

template <class Context, bool kGradient>
class MaxPoolWithIndexOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MaxPoolWithIndexOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), window_(ReadIndexedPool(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (dims_.empty() || dims_ != X.dims()) {
      dims_.clear();  // if a check below throws, the next run plans again
      const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry.OutputDims(geometry.channels);
      plan_ = MakeIndexedPoolPlan(geometry, window_.global_pooling);
      dims_ = X.dims();
    }
    return DispatchByType<float, float16>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      if constexpr (kGradient) return Differentiate<T>();
      return Pool<T>(X.template data<T>());
    });
  }

 private:
  template <class T>
  bool Pool(const T* x) {
    T* const y = this->template OutputData<T>(0, out_dims_);
    int32_t* const index = this->template OutputData<int32_t>(1, out_dims_);
    if (Output(0)->numel() > 0) RunMaxPoolWithIndex(context_, plan_, x, y, index);
    return true;
  }
  template <class T>
  bool Differentiate() {
    CheckPoolGradientShape(1, "dY", Input(1), out_dims_);
    CheckPoolGradientShape(2, "Index", Input(2), out_dims_);
    const T* const dy = Input(1).template data<T>();
    const int32_t* const index = Input(2).template data<int32_t>();
    T* const dx = this->template OutputData<T>(0, dims_);
    if (Output(0)->numel() == 0) return true;
    RunMaxPoolWithIndexGradient(context_, plan_, dy, index, dx, &scratch_);
    return true;
  }

  const WindowArguments window_;
  std::vector<int64_t> dims_, out_dims_;  // shapes of the last X and Y
  PoolPlan plan_;
  ThreadScratch scratch_;
};

}  // namespace caffe2rt
