#pragma once
// OneHot: indices int64 [N], index_size int64 (one element)
//   ->  float [N, index_size], with 1 at each index and 0 elsewhere

#include "caffe2_core/runtime/operator.h"
#include "operators/common/element_type.h"
#include "operators/common/host_input.h"
#include "operators/select/one_hot_kernels.h"

namespace caffe2rt {

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
    RequireElements<int64_t>(index_size);
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
