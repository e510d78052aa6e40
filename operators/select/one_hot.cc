#include "operators/select/one_hot.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void MarkIndices(CPUContext&, int64_t count, int64_t size, const int64_t* index, float* out) {
  std::fill(out, out + count * size, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    CAFFE_ENFORCE(index[i] >= 0 && index[i] < size, "element ", i, " of input 0 (indices) is ",
                  index[i], ", want at least 0 and below index_size ", size);
    out[i * size + index[i]] = 1.0f;
  }
}

void RegisterOneHot() {
  RegisterSchema("OneHot", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "indices", "[N] int64")
      .Input(1, "index_size_tensor", "int64, one element: the number of classes")
      .Output(0, "one_hots", "[N, index_size] float")
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Encodes each index as a row that is 1 at the index and 0 elsewhere.");
  RegisterCpuOperator<OneHotOp<CPUContext>>("OneHot", __FILE__);
  // The inputs are indices.
  RegisterGradient<NoGradient>("OneHot", __FILE__);
}

}  // namespace caffe2rt
