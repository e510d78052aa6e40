#pragma once
// The kernels of ReduceFront... and ReduceBack... with lengths, on the CPU and on CUDA
// (reduce_front_back.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Computes y[i] from the first lengths[i] of `count` elements. They are at distance `stride`; the
// elements of y[i + 1] begin `next` after those of y[i].
template <class Accumulate, class T>
void ReduceLengths(CPUContext&, int64_t outputs, int64_t count, int64_t stride, int64_t next,
                   const int* lengths, const T* x, T* y) {
  for (int64_t i = 0; i < outputs; ++i) {
    const T* element = x + i * next;
    T sum = *element;
    for (int j = 1; j < lengths[i] && j < count; ++j) Accumulate::Combine(sum, element[j * stride]);
    y[i] = Accumulate::Finish(sum, lengths[i]);
  }
}
// The same on CUDA. An invalid length (above `count`, or 0 in a mean of integers) is reported when
// the stream is synchronized (contexts/cuda/cuda_report.h).
template <class Accumulate, class T>
void ReduceLengths(CUDAContext& context, int64_t outputs, int64_t count, int64_t stride,
                   int64_t next, const int* lengths, const T* x, T* y);

}  // namespace caffe2rt
