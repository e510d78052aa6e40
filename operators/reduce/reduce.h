#pragma once
// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceL1, ReduceL2: reduce the dimensions `axes`
// (default: all).
//   X of any shape  ->  Y, the shape of X where the reduced dimensions are 1, or removed with
//   keepdims 0
// ReduceSumGradient, ReduceMeanGradient, ...: the gradient of X.
//   dY, X, Y  ->  dX, the shape of X

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"
#include "operators/reduce/reduction_gradient.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kReduceAxes{
    "axes", "dimensions to reduce, from -rank to rank - 1; default: all"};
inline constexpr ArgumentSpec<int> kReduceKeepDims{
    "keepdims", 1, "1: keep the reduced dimensions with size 1; 0: remove them"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Marks the dimensions in `axes`, or all if it is empty. Negative axes count from the end. THROWS
// if one is out of range.
void MarkAxes(const std::vector<int>& axes, size_t rank, std::vector<char>* reduced);
// Sets *result to `dims` without the reduced dimensions, or with 1 in their place if `keep`.
void ReducedDims(IntArrayRef dims, const std::vector<char>& reduced, bool keep,
                 std::vector<int64_t>* result);
#pragma GCC visibility pop

template <class Context, class Accumulate, class... Types>
class ReduceOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axes_(this->ReadArgument(kReduceAxes)),
        keep_(this->ReadArgument(kReduceKeepDims) != 0) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<Types...>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* x = X.data<T>();
      MarkAxes(axes_, X.dims().size(), &reduced_);
      ReducedDims(X.sizes(), reduced_, keep_, &output_dims_);
      plan_.Make(X.sizes(), reduced_);
      Tensor* Y = Output(0);
      Y->Resize(output_dims_);
      Reduce<Accumulate>(context_, plan_, x, Y->template mutable_data<T>(), &scratch_);
      return true;
    });
  }

 private:
  const std::vector<int> axes_;
  const bool keep_;
  std::vector<char> reduced_;
  std::vector<int64_t> output_dims_;
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

// dY and Y have one element for each output; their dimensions are not checked.
template <class Context, class Accumulate, class... Types>
class ReduceGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axes_(this->ReadArgument(kReduceAxes)) {}

  bool RunOnDevice() override {
    return DispatchByType<Types...>(Input(0).dtype(), "input 0 (dY)", [&](auto element) {
      using T = decltype(element);
      const Tensor& X = Input(1);
      MarkAxes(axes_, X.dims().size(), &reduced_);
      plan_.Make(X.sizes(), reduced_);
      CheckOutputSized(0, "dY");
      RequireElements<T>(X);
      CheckOutputSized(2, "Y");
      RequireElements<T>(Input(2));
      const T* const dy = Input(0).template data<T>();
      const T* const x = X.data<T>();
      const T* const y = Input(2).template data<T>();
      T* dx = this->template OutputData<T>(0, X.sizes());
      ReduceGradient<Accumulate>(context_, plan_, dy, x, y, dx);
      return true;
    });
  }

 private:
  // THROWS unless input `i` has as many elements as the outputs of the reduction.
  void CheckOutputSized(int i, const char* name) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), plan_.output_size(), "elements of input ", i, " (", name,
                     ") of shape ", tensor.sizes(), ", want one for each output");
  }

  const std::vector<int> axes_;
  std::vector<char> reduced_;
  ReducePlan plan_;
};

}  // namespace caffe2rt
