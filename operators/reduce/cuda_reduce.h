#pragma once
// Reduce of reduce_plan.h and the functions of reduction_gradient.h for a CUDAContext. Included by
// the sources that register reductions on CUDA.

#include "operators/reduce/reduce_kernels.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

inline ReduceNest ReduceNestOf(const ReducePlan& plan) {
  ReduceNest nest;
  nest.outputs = plan.output_size();
  nest.elements = plan.reduced_size();
  if (nest.outputs < 2 || nest.elements == 0) return nest;
  nest.side_by_side = plan.inner().y_stride != 0;
  int64_t stride = nest.outputs * nest.elements;
  const auto add = [&](const ReducePlan::Loop& loop) {
    stride /= loop.size;
    (loop.y_stride == 0 ? nest.reduced : nest.kept).Add(loop.size, {stride});
  };
  for (int i = 0; i < plan.outer_count(); ++i) add(plan.outer(i));
  add(plan.middle());
  add(plan.inner());
  return nest;
}

template <class Accumulate, class T>
void Reduce(CUDAContext& context, const ReducePlan& plan, const T* x, T* y, Tensor* scratch) {
  ReduceNested<Accumulate>(context, ReduceNestOf(plan), x, y, scratch);
}

template <class Accumulate, class T>
void ReduceGradient(CUDAContext& context, const ReducePlan& plan, const T* dy, const T* x,
                    const T* y, T* dx) {
  if (plan.output_size() == 0 || plan.reduced_size() == 0) return;
  ReduceGradientNest nest;
  nest.elements = plan.reduced_size();
  const auto add = [&](const ReducePlan::Loop& loop) { nest.y.Add(loop.size, {loop.y_stride}); };
  for (int i = 0; i < plan.outer_count(); ++i) add(plan.outer(i));
  add(plan.middle());
  add(plan.inner());
  ReduceNestedGradient<Accumulate>(context, nest, dy, x, y, dx);
}

}  // namespace caffe2rt
