// Sum, Mean, Max, Min and their gradients, and WeightedSum, on CUDA. One pass combines up to eight
// inputs.

#include <algorithm>

#include "operators/elementwise/map.cuh"
#include "operators/elementwise/nary_kernels.h"
#include "operators/elementwise/weighted_sum_kernels.h"

namespace caffe2rt {

namespace {

constexpr size_t kInputsAtATime = 8;

// y = the combined inputs, multiplied by the factor if there is one. The loop has a constant number
// of steps: indices that are known to the compiler keep the pointers out of each thread's memory.
template <class T, class Function, bool kScaled>
struct CombineKernel {
  const T* inputs[kInputsAtATime];
  int count;
  T* y;
  Function function;
  T factor;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    T result = inputs[0][i];
    for (int k = 1; k < static_cast<int>(kInputsAtATime); ++k) {
      if (k < count) result = function(result, inputs[k][i]);
    }
    if constexpr (kScaled) result = result * factor;
    y[i] = result;
  }
};

template <bool kScaled, class T, class Function>
void Launch(CUDAContext& context, const void* const* inputs, int count, const T* first, int64_t n,
            T* y, const Function& function, T factor) {
  CombineKernel<T, Function, kScaled> kernel{{first}, count + 1, y, function, factor};
  for (int k = 0; k < count; ++k) kernel.inputs[k + 1] = static_cast<const T*>(inputs[k]);
  ForEach(context, n, kernel, "Combine");
}

template <bool kScaled, class T, class Function>
void CombineAll(CUDAContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
                const Function& function, T factor) {
  const T* result = static_cast<const T*>(inputs[0]);
  for (size_t k = 1; k < count; k += kInputsAtATime - 1) {
    const size_t left = count - k;
    if (left < kInputsAtATime) {
      return Launch<kScaled>(context, inputs + k, static_cast<int>(left), result, n, y, function,
                             factor);
    }
    Launch<false>(context, inputs + k, kInputsAtATime - 1, result, n, y, function, factor);
    result = y;
  }
}

}  // namespace

template <class T, class Function>
void Combine(CUDAContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
             const Function& function) {
  CombineAll<false>(context, inputs, count, n, y, function, T(1));
}

template <class T, class Function>
void CombineAndScale(CUDAContext& context, const void* const* inputs, size_t count, int64_t n, T* y,
                     const Function& function, T factor) {
  CombineAll<true>(context, inputs, count, n, y, function, factor);
}

namespace internal {

template <NaryKind kKind, class T>
struct NaryKernels {
  void (*combine)(CUDAContext&, const void* const*, size_t, int64_t, T*,
                  const NaryFunction<kKind>&) = &Combine;
};
template <class T>
struct NaryKernels<NaryKind::kMean, T> {
  void (*combine_and_scale)(CUDAContext&, const void* const*, size_t, int64_t, T*,
                            const NaryFunction<NaryKind::kMean>&, T) = &CombineAndScale;
  void (*scale)(CUDAContext&, int64_t, const T*, T*, const TimesFactor<T>&) = &Map;
};
template <NaryKind kKind, class... Ts>
struct RowKernels<NaryRow<kKind, Ts...>> : NaryKernels<kKind, Ts>... {};

}  // namespace internal

namespace {

// y = (adds ? y : 0) + the sum of the weighted inputs.
struct WeightedSumKernel {
  WeightedInput inputs[kInputsAtATime];
  int count;
  bool adds;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    float sum = inputs[0].x[i] * *inputs[0].weight;
    for (int k = 1; k < static_cast<int>(kInputsAtATime); ++k) {
      if (k < count) sum += inputs[k].x[i] * *inputs[k].weight;
    }
    y[i] = adds ? y[i] + sum : sum;
  }
};

}  // namespace

void WeightedSum(CUDAContext& context, const WeightedInput* inputs, size_t count, int64_t n,
                 float* y) {
  for (size_t k = 0; k < count; k += kInputsAtATime) {
    WeightedSumKernel kernel{{}, static_cast<int>(std::min(count - k, kInputsAtATime)), k > 0, y};
    std::copy(inputs + k, inputs + k + kernel.count, kernel.inputs);
    ForEach(context, n, kernel, "WeightedSum");
  }
}

template struct CudaKernels<decltype(kNary)>;
template void Zip(CUDAContext&, int64_t, const float*, const float*, const float*, float*,
                  const ChosenGradient&);

}  // namespace caffe2rt
