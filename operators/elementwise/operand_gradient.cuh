#pragma once
// The CUDA implementation of operand_gradient.h. The order of the additions is fixed, so results do
// not vary from run to run.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/loop_nest.h"
#include "operators/primitives/function_table.h"
#include "operators/elementwise/operand_gradient.h"

namespace caffe2rt {

namespace internal {

// The loops along which the operand advances, outermost first, and inside them the loops that are
// summed. Index o * `summed` + r of the nest is term r of element o. The arrays are A, B and Y.
struct OperandGradientNest {
  LoopNest<3> nest;
  int64_t size = 1;    // elements of the operand
  int64_t summed = 1;  // terms of each

  template <Operand kOperand>
  static OperandGradientNest Make(const BroadcastLoops& loops) {
    OperandGradientNest result;
    const auto add = [&](bool kept) {
      int64_t y_stride = loops.output_size;
      ForEachLoop(loops, [&](const BroadcastLoop& loop) {
        y_stride /= loop.size;
        if ((StrideOf<kOperand>(loop) != 0) != kept) return;
        result.nest.Add(loop.size, {loop.a_stride, loop.b_stride, y_stride});
        (kept ? result.size : result.summed) *= loop.size;
      });
    };
    add(true);
    add(false);
    return result;
  }
};

template <Operand kOperand, class T, class Function>
struct CudaOperandGradient {
  LoopNest<3> nest;
  int64_t summed;
  const T* a;
  const T* b;
  const T* y;
  const T* dy;
  T* out;
  Function function;

  CAFFE2RT_HOST_DEVICE T Term(int64_t i) const {
    int64_t at[3];
    nest.Find(i, at);
    return OperandGradientOf<kOperand>(function, a[at[0]], b[at[1]], y[at[2]], dy[at[2]]);
  }
  // One thread sums the terms of one element.
  CAFFE2RT_HOST_DEVICE void operator()(int64_t o) const {
    T sum = Term(o * summed);
    for (int64_t r = 1; r < summed; ++r) sum = math::WrappingAdd(sum, Term(o * summed + r));
    out[o] = sum;
  }
  // One block of threads sums the terms of one element.
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * summed;
    const auto add = [](T left, T right) { return math::WrappingAdd(left, right); };
    const T sum = row.Reduce(summed, T(0), add, [=, this](int64_t r) { return Term(first + r); });
    row.Once([=, this] { out[row.index()] = sum; });
  }
};

template <class T>
struct CudaSetToZero {
  T* x;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { x[i] = T(0); }
};

template <class Function, class T>
struct BinaryGradientKernels {
  using Gradient = void (*)(CUDAContext&, const BroadcastLoops&, const T*, const T*, const T*,
                            const T*, T*, const Function&);
  Gradient of_a = &OperandGradient<Operand::kA>;
  Gradient of_b = &OperandGradient<Operand::kB>;
};

template <class Row>
struct RowGradientKernels;
template <class Function, class... Ts>
struct RowGradientKernels<BinaryRow<Function, Ts...>> : BinaryGradientKernels<Function, Ts>... {};

template <class... Rows>
struct TableGradientKernels : RowGradientKernels<Rows>... {};

// With fewer terms than this, a block of threads for each element would be mostly idle.
inline constexpr int64_t kFewTerms = 64;

}  // namespace internal

template <Operand kOperand, class T, class Function>
void OperandGradient(CUDAContext& context, const BroadcastLoops& loops, const T* a, const T* b,
                     const T* y, const T* dy, T* out, const Function& f) {
  const auto plan = internal::OperandGradientNest::Make<kOperand>(loops);
  const internal::CudaOperandGradient<kOperand, T, Function> kernel{plan.nest, plan.summed, a,   b,
                                                                    y,         dy,          out, f};
  if (plan.summed < internal::kFewTerms) {
    ForEach(context, plan.size, kernel, "OperandGradient");
  } else {
    ForEachRow(context, plan.size, kernel, "OperandGradient");
  }
}

template <class T>
void SetToZero(CUDAContext& context, int64_t n, T* x) {
  ForEach(context, n, internal::CudaSetToZero<T>{x}, "SetToZero");
}

// The gradient kernels of every row and element type of a table of functions of two elements; like
// CudaKernels (map.cuh).
template <class Table>
struct CudaGradientKernels;
template <class... Rows>
struct CudaGradientKernels<const FunctionTable<Rows...>> {
  static const internal::TableGradientKernels<Rows...> kPointers;
};
template <class... Rows>
const internal::TableGradientKernels<Rows...>
    CudaGradientKernels<const FunctionTable<Rows...>>::kPointers{};

}  // namespace caffe2rt
