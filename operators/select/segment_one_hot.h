#pragma once
// SegmentOneHot: lengths int32 [N], indices int64 [sum of lengths], index_size int64 (one element)
// ->  float [N, index_size]: row i has 1 at each index of its segment, 0 elsewhere.

#include <algorithm>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

template <class Context>
class SegmentOneHotOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SegmentOneHotOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& lengths = Input(0);
    const Tensor& indices = Input(1);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (lengths), want a vector");
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (indices), want a vector");
    CAFFE_ENFORCE_EQ(Input(2).numel(), 1, "elements of input 2 (index_size), want one");
    const int32_t* length = lengths.template data<int32_t>();
    const int64_t* index = indices.template data<int64_t>();
    const int64_t size = *Input(2).template data<int64_t>();
    CAFFE_ENFORCE_GE(size, 0, "input 2 (index_size), want at least 0");
    const int64_t rows = lengths.numel();
    float* out = this->template OutputData<float>(0, {rows, size});
    std::fill(out, out + rows * size, 0.0f);
    int64_t next = 0;
    for (int64_t i = 0; i < rows; ++i) {
      CAFFE_ENFORCE(length[i] >= 0 && length[i] <= indices.numel() - next, "element ", i,
                    " of input 0 (lengths) is ", length[i], ", want 0 to the ",
                    indices.numel() - next, " elements left of input 1 (indices)");
      for (const int64_t end = next + length[i]; next < end; ++next) {
        CAFFE_ENFORCE(index[next] >= 0 && index[next] < size, "element ", next,
                      " of input 1 (indices) is ", index[next],
                      ", want 0 or more and below index_size ", size);
        out[i * size + index[next]] = 1.0f;
      }
    }
    return true;
  }
};

}  // namespace caffe2rt
