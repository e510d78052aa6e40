#pragma once
// OneHot: indices int64 [N], index_size int64 (one element)  ->  float [N, index_size], 1 at each
// index, 0 elsewhere.

#include <algorithm>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

// A row of out for each index. THROWS for an index that is no column; a device does at its next
// wait, and leaves its row 0.
inline void MarkIndices(CPUContext&, int64_t count, int64_t size, const int64_t* index,
                        float* out) {
  std::fill(out, out + count * size, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    CAFFE_ENFORCE(index[i] >= 0 && index[i] < size, "element ", i, " of input 0 (indices) is ",
                  index[i], ", want 0 or more and below index_size ", size);
    out[i * size + index[i]] = 1.0f;
  }
}

template <class Context>
class OneHotOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  OneHotOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& indices = Input(0);
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 0 (indices), want a vector");
    const Tensor& index_size = size_input_.Read(*this, 1);
    CAFFE_ENFORCE_EQ(index_size.numel(), 1, "elements of input 1 (index_size), want one");
    const int64_t* index = indices.template data<int64_t>();
    const int64_t size = *index_size.template data<int64_t>();
    CAFFE_ENFORCE_GE(size, 0, "input 1 (index_size), want at least 0");
    const int64_t count = indices.numel();
    float* out = this->template OutputData<float>(0, {count, size});
    if (size == 0) return true;
    MarkIndices(context_, count, size, index, out);
    return true;
  }

 private:
  HostInput size_input_;
};

}  // namespace caffe2rt
