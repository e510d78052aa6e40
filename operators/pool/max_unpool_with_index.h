#pragma once
// MaxUnpoolWithIndex: writes the elements of X to the places from which MaxPoolWithIndex took them.
//   X [N, C, h, w], Index int32 of that shape (indices in the plane)  ->  Y [N, C, height, width]
// All other elements are 0. Of several elements for one place the last one counts; -1 is no place.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/pool/max_unpool_with_index_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The shape of Y. THROWS if that of X or the arguments are invalid.
std::vector<int64_t> UnpoolDims(const ArgumentHelper& args, const std::vector<int64_t>& in);
#pragma GCC visibility pop

template <class Context>
class MaxUnpoolWithIndexOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(MaxUnpoolWithIndexOp);

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &Index = Input(1);
    const std::vector<int64_t> dims = UnpoolDims(this->args(), X.dims());
    CAFFE_ENFORCE(Index.sizes() == X.sizes(), "input 1 (Index) has shape ", Index.sizes(),
                  ", want that of input 0 (X), ", X.sizes());
    const float* const x = X.template data<float>();
    const int32_t* const index = Index.template data<int32_t>();
    float* const y = this->template OutputData<float>(0, dims);
    if (Output(0)->numel() == 0) return true;
    const UnpoolSizes sizes{
        .planes = dims[0] * dims[1], .in = X.dim(2) * X.dim(3), .out = dims[2] * dims[3]};
    UnpoolByIndex(context_, sizes, x, index, y);
    return true;
  }
};

}  // namespace caffe2rt
