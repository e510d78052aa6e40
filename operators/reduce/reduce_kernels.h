#pragma once
// The kernels of reductions (reduce.cu) and their gradients (reduction_gradient.cu) on CUDA.

#include <cstdint>

#include "operators/common/loop_nest.h"

namespace caffe2rt {

class CUDAContext;
class Tensor;

// Maps the elements of a dense input to outputs.
struct ReduceNest {
  int64_t outputs = 0;
  int64_t elements = 0;       // for each output
  bool side_by_side = false;  // elements of neighbouring outputs are neighbours
  // The loops over the outputs, and over the elements of one output, with their strides in the
  // input. Set if there are at least two outputs and one element.
  LoopNest<1> kept, reduced;
};

// Reduces x to y, which has nest.outputs elements and must not be x. `scratch` is device memory.
// Accumulate is a struct of accumulate.h.
template <class Accumulate, class T>
void ReduceNested(CUDAContext& context, const ReduceNest& nest, const T* x, T* y, Tensor* scratch);

// Maps the elements of a dense input to outputs, for gradients.
struct ReduceGradientNest {
  int64_t elements = 0;  // for each output
  LoopNest<1> y;         // the loops over the input, with their strides in the output
};

// ReduceGradient and ReduceLengthsGradient of reduction_gradient.h.
template <class Accumulate, class T>
void ReduceNestedGradient(CUDAContext& context, const ReduceGradientNest& nest, const T* dy,
                          const T* x, const T* y, T* dx);
template <class Accumulate, bool kFront, class T>
void ReduceLengthsGradient(CUDAContext& context, int64_t rows, int64_t columns, const int* lengths,
                           const T* dy, const T* x, const T* y, T* dx);

}  // namespace caffe2rt
