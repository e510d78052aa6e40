#pragma once
// ReduceFrontSum, ReduceFrontMean, ReduceFrontMax reduce the first `num_reduce_dim` dimensions;
// ReduceBackSum, ReduceBackMean, ReduceBackMax the last ones.
//   X of any shape, optional lengths int32  ->  Y, the other dimensions of X
// lengths is only allowed with num_reduce_dim 1 and gives the number of elements that count for
// each output. Without elements the result is 0. With lengths the first element always counts, and
// a mean is divided by the length even if that is 0 or negative, as in Caffe2.
//
// ReduceFrontSumGradient, ...: the gradient of X.
//   sum and mean: dY, X or its shape (a vector of int64), optional lengths  ->  dX
//   max: dY, X, Y, optional lengths  ->  dX
// With lengths, only the first lengths[i] elements have a gradient.

#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_front_back_kernels.h"
#include "operators/reduce/reduce_plan.h"
#include "operators/reduce/reduction_gradient.h"

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

template <class Context, bool kFront, class Accumulate, class... Types>
class ReduceFrontBackGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceFrontBackGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), num_reduce_dim_(this->ReadArgument(kNumReduceDim)) {}

  bool RunOnDevice() override {
    return DispatchByType<Types...>(Input(0).dtype(), "input 0 (dY)",
                                    [&](auto element) { return RunWithType<decltype(element)>(); });
  }

 private:
  // Whether the inputs include Y.
  static constexpr bool kReadsData = Accumulate::kGradientReadsData;
  static constexpr int kLengths = kReadsData ? 3 : 2;

  template <class T>
  bool RunWithType() {
    ReadDims();
    const int rank = static_cast<int>(dims_.size());
    CheckReduceDims(num_reduce_dim_, rank);
    const int split = kFront ? num_reduce_dim_ : rank - num_reduce_dim_;
    const int64_t front = size_to_dim_(split, dims_), back = size_from_dim_(split, dims_);
    outputs_ = kFront ? back : front;
    const T* dy = OutputSized<T>(0, "dY");
    const T* x = nullptr;
    const T* y = nullptr;
    if constexpr (kReadsData) {
      x = Input(1).template data<T>();
      y = OutputSized<T>(2, "Y");
    }
    const int* lengths = nullptr;
    if (InputSize() > kLengths) {
      CAFFE_ENFORCE_EQ(num_reduce_dim_, 1, "argument num_reduce_dim with input ", kLengths,
                       " (lengths)");
      lengths = OutputSized<int>(kLengths, "lengths");
    }
    T* dx = this->template OutputData<T>(0, dims_);
    if (front * back == 0) return true;
    if (lengths != nullptr) {
      ReduceLengthsGradient<Accumulate, kFront>(context_, front, back, lengths, dy, x, y, dx);
      return true;
    }
    const int64_t dims[] = {front, back};
    plan_.Make(dims, reduced_);
    ReduceGradient<Accumulate>(context_, plan_, dy, x, y, dx);
    return true;
  }

  // Sets dims_ to the shape of X. In old nets, input 1 of a sum or a mean is the shape itself.
  void ReadDims() {
    if constexpr (!kReadsData) {
      const Tensor& X = InputAnywhere(*this, 1);
      if (X.dim() == 1 && X.template IsType<int64_t>()) {
        const Tensor& shape = shape_input_.Read(*this, 1);
        const int64_t* values = shape.template data<int64_t>();
        dims_.assign(values, values + shape.numel());
        return;
      }
    }
    const Tensor& X = Input(1);
    dims_.assign(X.dims().begin(), X.dims().end());
  }

  // The elements of input `i`, which must be as many as the outputs of the reduction.
  template <class T>
  const T* OutputSized(int i, const char* name) {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), outputs_, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want one for each output");
    return tensor.template data<T>();
  }

  const int num_reduce_dim_;
  const std::vector<char> reduced_ = {kFront, !kFront};
  std::vector<int64_t> dims_;  // the shape of X
  int64_t outputs_ = 0;        // elements of the output of the reduction
  ReducePlan plan_;
  HostInput shape_input_;
};

}  // namespace caffe2rt
