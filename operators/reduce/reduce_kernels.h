#pragma once
// The kernels of reductions on CUDA (reduce.cu).

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

}  // namespace caffe2rt
