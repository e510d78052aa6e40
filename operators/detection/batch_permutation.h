#pragma once
// BatchPermutation: row i of Y is row indices[i] of X.
//   X [N, ...] float, indices [N] int32  ->  Y
//
// BatchPermutationGradient: indices, dY  ->  dX. The gradients of a row that was copied several
// times are added up; Caffe2 keeps one of them, and leaves rows that were not copied undefined.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detection/batch_permutation_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The shape of `data`, which is input `place`. THROWS if input `1 - place`, the indices, does not
// fit: the gradient accepts any shape with an index for each row.
struct PermutationSize {
  int64_t rows = 0, columns = 0;
};
PermutationSize SizeOfPermutation(int place, IntArrayRef data, IntArrayRef indices);
#pragma GCC visibility pop

template <class Context, bool kGradient>
class BatchPermutationOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(BatchPermutationOp);

  bool RunOnDevice() override {
    const Tensor& data = Input(kGradient ? 1 : 0);
    const Tensor& indices = Input(kGradient ? 0 : 1);
    const PermutationSize size =
        SizeOfPermutation(kGradient ? 1 : 0, data.sizes(), indices.sizes());
    if (size.rows == 0) {  // of any type, as in Caffe2
      this->template OutputData<float>(0, data.sizes());
      return true;
    }
    const float* const from = data.template data<float>();
    const int32_t* const rows = indices.template data<int32_t>();
    float* const to = this->template OutputData<float>(0, data.sizes());
    if (size.rows * size.columns == 0) return true;
    if constexpr (kGradient) {
      PermuteRowsGradient(context_, size.rows, size.columns, rows, from, to);
    } else {
      PermuteRows(context_, size.rows, size.columns, rows, from, to);
    }
    return true;
  }
};

}  // namespace caffe2rt
