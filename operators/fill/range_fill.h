#pragma once
// RangeFill: the floats 0, 1, 2, ... in row-major order.

#include "contexts/cpu/cpu_context.h"
#include "operators/fill/constant_fill_kernels.h"
#include "operators/fill/filler.h"

namespace caffe2rt {

// y[i] = i.
inline void CountUp(CPUContext&, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(i);
}

template <class Context>
class RangeFillOp final : public Filler<Context> {
 public:
  RangeFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {}

 private:
  void Fill(Tensor* output) override {
    CountUp(this->context_, output->numel(), output->template mutable_data<float>());
  }
};

}  // namespace caffe2rt
