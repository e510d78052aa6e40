#pragma once
// SumReduceLike: sums A over the dimensions along which B would be broadcast to A by Caffe2's older
// rules (operators/common/broadcast.h), or by numpy's. This is the gradient of a broadcast.
//   A float or double, B of any type and a shape that can be broadcast to that of A  ->  Y, the
//   shape of B

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kSumReduceNumpy{
    "numpy", false,
    "1: B is broadcast by numpy's rules, by which a 1 may also stand between other dimensions; 0: "
    "by "
    "the older rules"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Like MarkBroadcastDims, by numpy's rules.
void MarkNumpyBroadcastDims(IntArrayRef a, IntArrayRef b, std::vector<char>* marks);
#pragma GCC visibility pop

template <class Context>
class SumReduceLikeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SumReduceLikeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(this->args(), true),
        numpy_(this->ReadArgument(kSumReduceNumpy)) {}

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    const Tensor& B = Input(1);
    return DispatchByType<float, double>(A.dtype(), "input 0 (A)", [&](auto element) {
      using T = decltype(element);
      const T* a = A.data<T>();
      if (numpy_) {
        MarkNumpyBroadcastDims(A.sizes(), B.sizes(), &reduced_);
      } else {
        MarkBroadcastDims(A.sizes(), B.sizes(), arguments_, &reduced_);
      }
      plan_.Make(A.sizes(), reduced_);
      Tensor* Y = Output(0);
      Y->ResizeLike(B);
      Reduce<SumOf>(context_, plan_, a, Y->template mutable_data<T>(), &scratch_);
      return true;
    });
  }

 private:
  const BroadcastArguments arguments_;
  const bool numpy_;
  std::vector<char> reduced_;
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
