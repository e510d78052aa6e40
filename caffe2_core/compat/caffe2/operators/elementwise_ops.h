#pragma once
// Base classes of elementwise operators whose function is a functor. Functors of both generations
// work in both:
//
//   struct TwiceFunctor {                            // 2017; in 2019 it is const and returns bool
//     template <class T>
//     void operator()(int n, const T* x, T* y, CPUContext* context) { math::Scale(n, 2.f, x, y, context); }
//   };
//   REGISTER_CPU_OPERATOR(Twice, UnaryElementwiseOp<TensorTypes<float>, CPUContext, TwiceFunctor>);
//
// A functor of two inputs has, in 2017, Run<b_is_scalar>(n, a, b, y, context), RunWithBroadcast(a, b, y,
// pre, n, context) and RunWithBroadcast2(a, b, y, pre, n, post, context); or it has a single function
// (n, a, b, y, context) and is wrapped as WithoutBroadcast<F>. In 2019 it has Forward(A_dims, B_dims,
// a, b, y, context), and Backward for BinaryElementwiseGradientOp. The forms "WithArgs" construct the
// functor from the operator.
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2/core/common_omp.h"
#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/tensor.h"
#include "caffe2/operators/elementwise_ops_utils.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
using NumericTypes = TensorTypes<int32_t, int64_t, float, double>;
using IntTypes = TensorTypes<int32_t, int64_t>;
using BoolTypes = TensorTypes<bool>;
using IntBoolTypes = TensorTypes<int32_t, int64_t, bool>;

struct SameTypeAsInput {
  template <class T>
  using type = T;
};
template <class R>
struct FixedType {
  template <class T>
  using type = R;
};

namespace internal_elementwise {

// The result of a functor that returns whether it succeeded, or nothing.
template <class Call>
bool Succeeds(const Call& call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return true;
  } else {
    return call();
  }
}

// A functor without a constructor for the operator.
template <class Functor>
struct DefaultConstructed : Functor {
  explicit DefaultConstructed(OperatorBase& /*op*/) {}
};

// The arguments that select Caffe2's older broadcasting.
struct LegacyBroadcast {
  bool enabled;
  int axis;
  explicit LegacyBroadcast(OperatorBase& op)
      : enabled(op.GetSingleArgument<bool>("broadcast", false)),
        axis(op.GetSingleArgument<int>("axis", -1)) {
    const string letter = op.GetSingleArgument<string>("axis_str", "");
    if (letter.empty()) return;
    CAFFE_ENFORCE(enabled && axis == -1, "argument axis_str needs broadcast=1, and no axis");
    const size_t found = op.GetSingleArgument<string>("order", "NCHW").find(letter);
    CAFFE_ENFORCE(letter.size() == 1 && found != string::npos, "argument axis_str is \"", letter,
                  "\", want a letter of argument order");
    axis = static_cast<int>(found);
  }
};

inline vector<int> DimsOf(const ::caffe2rt::Tensor& tensor) {
  return vector<int>(tensor.sizes().begin(), tensor.sizes().end());
}

// The shapes that Forward and Backward receive.
inline void BroadcastDims(const LegacyBroadcast& legacy, const ::caffe2rt::Tensor& A,
                          const ::caffe2rt::Tensor& B, vector<int>* A_dims, vector<int>* B_dims) {
  if (!legacy.enabled) {
    *A_dims = DimsOf(A);
    *B_dims = DimsOf(B);
  } else if (B.numel() == 1) {
    *A_dims = {static_cast<int>(A.numel())};
    *B_dims = {1};
  } else {
    const auto [pre, n, post] =
        elementwise_ops_utils::ComputeLegacyBroadcastSizes(A, B, legacy.axis);
    *A_dims = {static_cast<int>(pre), static_cast<int>(n), static_cast<int>(post)};
    *B_dims = {static_cast<int>(n), 1};
  }
}

}  // namespace internal_elementwise

#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

template <class InputTypes, class Context, class Functor, class TypeMap = SameTypeAsInput>
class UnaryElementwiseWithArgsOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UnaryElementwiseWithArgsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), functor_(*this) {}
  bool RunOnDevice() override { return DispatchHelper<InputTypes>::call(this, Input(0)); }

  template <class T>
  bool DoRunWithType() {
    using R = typename TypeMap::template type<T>;
    const auto& X = Input(0);
    auto* Y = Output(0);
    Y->ResizeLike(X);
    R* y = Y->template mutable_data<R>();
    return internal_elementwise::Succeeds(
        [&] { return functor_(static_cast<int>(X.numel()), X.template data<T>(), y, &context_); });
  }

 private:
  Functor functor_;
};

template <class Functor>
using WithDefaultConstructor = internal_elementwise::DefaultConstructed<Functor>;
template <class Functor>
using UnaryFunctorWithDefaultCtor = internal_elementwise::DefaultConstructed<Functor>;
template <class Functor>
using BinaryFunctorWithDefaultCtor = internal_elementwise::DefaultConstructed<Functor>;
template <class InputTypes, class Context, class Functor, class TypeMap = SameTypeAsInput>
using UnaryElementwiseOp =
    UnaryElementwiseWithArgsOp<InputTypes, Context, WithDefaultConstructor<Functor>, TypeMap>;

template <class InputTypes, class Context, class Functor, class TypeMap = SameTypeAsInput>
class BinaryElementwiseWithArgsOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryElementwiseWithArgsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), legacy_(*this), functor_(*this) {}
  bool RunOnDevice() override { return DispatchHelper<InputTypes>::call(this, Input(0)); }

  template <class T>
  bool DoRunWithType() {
    using R = typename TypeMap::template type<T>;
    const auto& A = Input(0);
    const auto& B = Input(1);
    auto* C = Output(0);
    CAFFE_ENFORCE(B.template IsType<T>(), "input 1 has elements of type ", B.dtype().name(),
                  ", want those of input 0, ", A.dtype().name());
    const T* a = A.template data<T>();
    const T* b = B.template data<T>();
    if constexpr (requires(vector<int> dims, R * c) {
                    functor_.Forward(dims, dims, a, b, c, &context_);
                  }) {
      vector<int> A_dims, B_dims;
      internal_elementwise::BroadcastDims(legacy_, A, B, &A_dims, &B_dims);
      const vector<int> C_dims =
          legacy_.enabled
              ? internal_elementwise::DimsOf(A)
              : elementwise_ops_utils::ComputeBinaryBroadcastForwardDims(A_dims, B_dims);
      CAFFE_ENFORCE(C != static_cast<const void*>(&A) || C_dims == internal_elementwise::DimsOf(A),
                    "the output cannot be input 0, which has another shape");
      CAFFE_ENFORCE(C != static_cast<const void*>(&B) || C_dims == internal_elementwise::DimsOf(B),
                    "the output cannot be input 1, which has another shape");
      C->Resize(C_dims);
      R* c = C->template mutable_data<R>();
      return functor_.Forward(A_dims, B_dims, a, b, c, &context_);
    } else {
      return RunOlder<T, R>(A, B, C);
    }
  }

 private:
  template <class T, class R, class TensorType>
  bool RunOlder(const TensorType& A, const TensorType& B, TensorType* C) {
    const auto n = static_cast<size_t>(A.numel());
    CAFFE_ENFORCE(&B != C || !legacy_.enabled, "the output cannot be input 1, which is broadcast");
    if (!legacy_.enabled)
      CAFFE_ENFORCE(A.sizes() == B.sizes(), "the inputs have different shapes: ", A.DebugString(),
                    " and ", B.DebugString(), "; argument broadcast=1 allows that");
    C->ResizeLike(A);
    const T* a = A.template data<T>();
    const T* b = B.template data<T>();
    R* c = C->template mutable_data<R>();
    if (!legacy_.enabled) {
      functor_.template Run<false>(n, a, b, c, &context_);
    } else if (B.numel() == 1) {
      functor_.template Run<true>(n, a, b, c, &context_);
    } else {
      const auto [pre, middle, post] =
          elementwise_ops_utils::ComputeLegacyBroadcastSizes(A, B, legacy_.axis);
      if (post == 1) {
        functor_.RunWithBroadcast(a, b, c, pre, middle, &context_);
      } else {
        functor_.RunWithBroadcast2(a, b, c, pre, middle, post, &context_);
      }
    }
    return true;
  }

  const internal_elementwise::LegacyBroadcast legacy_;
  Functor functor_;
};

template <class InputTypes, class Context, class Functor, class TypeMap = SameTypeAsInput>
using BinaryElementwiseOp =
    BinaryElementwiseWithArgsOp<InputTypes, Context, WithDefaultConstructor<Functor>, TypeMap>;

// Inputs: the gradient of the result, A, B and, if there are four, the result. Outputs: the gradients
// of A and of B.
template <class InputTypes, class Context, class Functor, class OutputTypeMap = SameTypeAsInput,
          class GradientTypeMap = SameTypeAsInput>
class BinaryElementwiseWithArgsGradientOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BinaryElementwiseWithArgsGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), legacy_(*this), functor_(*this) {}
  bool RunOnDevice() override { return DispatchHelper<InputTypes>::call(this, Input(1)); }

  template <class T>
  bool DoRunWithType() {
    using R = typename OutputTypeMap::template type<T>;
    using G = typename GradientTypeMap::template type<T>;
    const auto& dC = Input(0);
    const auto& A = Input(1);
    const auto& B = Input(2);
    vector<int> A_dims, B_dims;
    internal_elementwise::BroadcastDims(legacy_, A, B, &A_dims, &B_dims);
    const R* result = InputSize() == 4 ? Input(3).template data<R>() : nullptr;
    auto* dA = Output(0);
    auto* dB = Output(1);
    dA->ResizeLike(A);
    dB->ResizeLike(B);
    G* da = dA->template mutable_data<G>();
    G* db = dB->template mutable_data<G>();
    return functor_.Backward(A_dims, B_dims, dC.template data<G>(), A.template data<T>(),
                             B.template data<T>(), result, da, db, &context_);
  }

 private:
  const internal_elementwise::LegacyBroadcast legacy_;
  Functor functor_;
};

template <class InputTypes, class Context, class Functor, class OutputTypeMap = SameTypeAsInput,
          class GradientTypeMap = SameTypeAsInput>
using BinaryElementwiseGradientOp =
    BinaryElementwiseWithArgsGradientOp<InputTypes, Context, WithDefaultConstructor<Functor>,
                                        OutputTypeMap, GradientTypeMap>;

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif

// Makes a functor of two inputs of one function f(n, a, b, y, context), which has no broadcasting.
template <class Functor>
struct WithoutBroadcast {
  template <bool b_is_scalar, class T, class R, class Context>
  void Run(size_t n, const T* a, const T* b, R* y, Context* context) {
    CAFFE_ENFORCE(!b_is_scalar, "this operator does not broadcast");
    Functor()(n, a, b, y, context);
  }
  template <class T, class R, class Context>
  void RunWithBroadcast(const T* /*a*/, const T* /*b*/, R* /*y*/, size_t /*pre*/, size_t /*n*/,
                        Context* /*context*/) {
    CAFFE_THROW("this operator does not broadcast");
  }
  template <class T, class R, class Context>
  void RunWithBroadcast2(const T* /*a*/, const T* /*b*/, R* /*y*/, size_t /*pre*/, size_t /*n*/,
                         size_t /*post*/, Context* /*context*/) {
    CAFFE_THROW("this operator does not broadcast");
  }
};

}  // namespace caffe2
