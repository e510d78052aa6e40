#pragma once
// ReduceFrontSum, ReduceFrontMean, ReduceFrontMax reduce the first `num_reduce_dim` dimensions;
// ReduceBackSum, ReduceBackMean, ReduceBackMax the last ones.
//   X of any shape, optional lengths int32  ->  Y, the other dimensions of X
// lengths is only allowed with num_reduce_dim 1 and gives the number of elements that count for
// each output. Without elements the result is 0. With lengths the first element always counts, and
// a mean is divided by the length even if that is 0 or negative, as in Caffe2.

#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_front_back_kernels.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kNumReduceDim{"num_reduce_dim", 1,
                                                 "number of dimensions to reduce"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS unless num_reduce_dim is between 0 and `rank`.
void CheckReduceDims(int num_reduce_dim, int64_t rank);
#pragma GCC visibility pop

// THROWS if a length is above `count`, or is 0 in a mean of integers.
template <class Accumulate, class T>
void CheckLengths(CPUContext&, int64_t outputs, int64_t count, const int* lengths) {
  for (int64_t i = 0; i < outputs; ++i) {
    CAFFE_ENFORCE_LE(lengths[i], count, "element ", i, " of input 1 (lengths), want at most ",
                     count, ", the number of elements");
    if constexpr (std::is_integral_v<T> && std::is_same_v<Accumulate, MeanOf>) {
      CAFFE_ENFORCE_NE(
          lengths[i], 0, "element ", i,
          " of input 1 (lengths), want another number: integers cannot be divided by 0");
    }
  }
}

template <class Context, bool kFront, class Accumulate, class... Types>
class ReduceFrontBackOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceFrontBackOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), num_reduce_dim_(this->ReadArgument(kNumReduceDim)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CheckReduceDims(num_reduce_dim_, X.dim());
    return DispatchByType<Types...>(
        X.dtype(), "input 0 (X)", [&](auto element) { return RunWithType<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool RunWithType(const Tensor& X) {
    const T* x = X.data<T>();
    const int split = kFront ? num_reduce_dim_ : X.dim() - num_reduce_dim_;
    const int64_t front = X.size_to_dim(split), back = X.size_from_dim(split);
    const int64_t count = kFront ? front : back, outputs = kFront ? back : front;
    const int* lengths = InputSize() > 1 ? CheckedLengths<T>(Input(1), outputs, count) : nullptr;
    Tensor* Y = Output(0);
    Y->Resize(kFront ? X.sizes().slice(static_cast<size_t>(split))
                     : X.sizes().slice(0, static_cast<size_t>(split)));
    T* y = Y->template mutable_data<T>();
    if (lengths != nullptr && count > 0) {
      ReduceLengths<Accumulate>(context_, outputs, count, kFront ? back : 1, kFront ? 1 : back,
                                lengths, x, y);
      return true;
    }
    const int64_t dims[] = {front, back};
    plan_.Make(dims, reduced_);
    Reduce<Accumulate>(context_, plan_, x, y, &scratch_);
    return true;
  }

  template <class T>
  const int* CheckedLengths(const Tensor& lengths, int64_t outputs, int64_t count) {
    CAFFE_ENFORCE_EQ(num_reduce_dim_, 1, "argument num_reduce_dim with input 1 (lengths)");
    CAFFE_ENFORCE_EQ(lengths.numel(), outputs, "elements of input 1 (lengths) of shape ",
                     lengths.sizes(), ", want one for each output");
    const int* values = lengths.data<int>();
    CheckLengths<Accumulate, T>(context_, outputs, count, values);
    return values;
  }

  const int num_reduce_dim_;
  const std::vector<char> reduced_ = {kFront, !kFront};
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
