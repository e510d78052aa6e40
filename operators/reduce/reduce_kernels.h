#pragma once
// The kernels of reductions on CUDA (reduce.cu).

#include <cstdint>

#include "operators/common/loop_nest.h"

namespace caffe2rt {

class CUDAContext;
class Tensor;

// Which elements of a dense input become which output.
struct ReduceNest {
  int64_t outputs = 0;
  int64_t elements = 0;       // that become one output
  bool side_by_side = false;  // neighbouring outputs have neighbouring elements
  // The loops over the outputs and over the elements of one, with their strides in the input. Set
  // when there are at least two outputs and one element.
  LoopNest<1> kept, reduced;
};

// y has nest.outputs elements and is not x. `scratch` is memory of the device. Accumulate: a struct
// of accumulate.h.
template <class Accumulate, class T>
void ReduceNested(CUDAContext& context, const ReduceNest& nest, const T* x, T* y, Tensor* scratch);

}  // namespace caffe2rt
