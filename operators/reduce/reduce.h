#pragma once
// ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceL1, ReduceL2: reduce the dimensions `axes`
// (default: all).
//   X of any shape, optional axes (int64)  ->  Y, the shape of X where the reduced dimensions are 1, or
//   removed with keepdims 0
// ReduceSumGradient, ReduceMeanGradient, ...: the gradient of X.
//   dY, X, Y  ->  dX, the shape of X

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/host_input.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_numbers.h"
#include "operators/reduce/reduce_plan.h"
#include "operators/reduce/reduction_gradient.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int> kReduceAxes{
    "axes", "dimensions to reduce, from -rank to rank - 1; default: all"};
inline constexpr ArgumentSpec<int> kReduceKeepDims{
    "keepdims", 1, "1: keep the reduced dimensions with size 1; 0: remove them"};
inline constexpr ArgumentSpec<bool> kReduceNoop{
    "noop_with_empty_axes", false, "1: without axes, no dimension is reduced; 0: all are"};
inline constexpr ArgumentSpec<bool> kReduceInfinite{
    "infinite_if_empty", false,
    "1: no elements have the maximum -inf and the minimum inf, as in ONNX; on the CPU only"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Marks the dimensions in `axes`, or all if it is empty. Negative axes count from the end. THROWS
// if one is out of range.
void MarkAxes(const std::vector<int>& axes, size_t rank, std::vector<char>* reduced);
// Sets *result to `dims` without the reduced dimensions, or with 1 in their place if `keep`.
void ReducedDims(IntArrayRef dims, const std::vector<char>& reduced, bool keep,
                 std::vector<int64_t>* result);
#pragma GCC visibility pop

// Declares the inputs, outputs, arguments and inference of a reduction over axes.
OpSchema& DeclareReduce(OpSchema& schema);

// The dimensions that an operator reduces: those of input 1, if there is one, else of the argument.
class ReduceAxes {
 public:
  explicit ReduceAxes(const OperatorBase& op)
      : axes_(op.ReadArgument(kReduceAxes)),
        keep_(op.ReadArgument(kReduceKeepDims) != 0),
        noop_(op.ReadArgument(kReduceNoop)) {}

  bool keep() const { return keep_; }
  // Marks the dimensions. THROWS if an axis is out of range.
  template <class Context>
  void Mark(Operator<Context>& op, size_t rank, std::vector<char>* reduced) {
    if (op.InputSize() > 1) {
      RequireElementsOf<int64_t, int32_t>(InputAnywhere(op, 1), "input 1 (axes)");
      CAFFE_ENFORCE_LE(InputAnywhere(op, 1).numel(), 64, "elements of input 1 (axes)");
      const Tensor& axes = input_.Read(op, 1);
      axes_.resize(static_cast<size_t>(axes.numel()));
      for (size_t i = 0; i < axes_.size(); ++i) {
        axes_[i] = axes.IsType<int64_t>() ? CheckedCast<int>(axes.data<int64_t>()[i], "axis")
                                          : axes.data<int32_t>()[i];
      }
    }
    if (axes_.empty() && noop_) {
      reduced->assign(rank, 0);
    } else {
      MarkAxes(axes_, rank, reduced);
    }
  }

 private:
  std::vector<int> axes_;
  const bool keep_, noop_;
  HostInput input_;
};

template <class Context, class Accumulate, class... Types>
class ReduceOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axes_(*this),
        infinite_(this->ReadArgument(kReduceInfinite)),
        is_onnx_(InputSize() > 1 || this->HasArgument(kReduceNoop.name)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if constexpr (Context::GetDeviceType() == CPU) {
      if (is_onnx_ && !(X.IsType<Types>() || ...)) return RunOtherNumbers(X);
    }
    return DispatchByType<Types...>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* x = X.data<T>();
      Tensor* Y = Prepare(X);
      T* y = Y->template mutable_data<T>();
      if (infinite_ && plan_.reduced_size() == 0 && plan_.output_size() > 0) return FillEmpty(X, Y);
      Reduce<Accumulate>(context_, plan_, x, y, &scratch_);
      return true;
    });
  }

 private:
  // Plans, and returns the output with its shape.
  Tensor* Prepare(const Tensor& X) {
    axes_.Mark(*this, X.dims().size(), &reduced_);
    ReducedDims(X.sizes(), reduced_, axes_.keep(), &output_dims_);
    plan_.Make(X.sizes(), reduced_);
    Tensor* Y = Output(0);
    Y->Resize(output_dims_);
    return Y;
  }
  bool FillEmpty(const Tensor& X, Tensor* Y) {
    if constexpr (Context::GetDeviceType() == CPU) {
      return ReduceNumbers(Accumulate::kNumbers, plan_, X, Y, &scratch_);
    } else {
      CAFFE_THROW("argument infinite_if_empty is 1 and input 0 (X) has shape ", X.sizes(),
                  ", want elements to reduce: this device does not support the argument");
    }
  }
  bool RunOtherNumbers(const Tensor& X) {
    constexpr bool kExtreme = Accumulate::kNumbers == NumberReduction::kMax ||
                              Accumulate::kNumbers == NumberReduction::kMin;
    if constexpr (kExtreme) {
      RequireElementsOf<Types..., int8_t, uint8_t, bool>(X, "input 0 (X)");
    } else {
      RequireElementsOf<float, double, int32_t, int64_t>(X, "input 0 (X)");
    }
    Tensor* Y = Prepare(X);
    Y->raw_mutable_data(X.dtype());
    return ReduceNumbers(Accumulate::kNumbers, plan_, X, Y, &scratch_);
  }

  ReduceAxes axes_;
  const bool infinite_;
  const bool is_onnx_;  // Caffe2's nets, whose operators reject other types, have neither of both
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
