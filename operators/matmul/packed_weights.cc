#include "operators/matmul/packed_weights.h"

#include "caffe2_core/base/enforce.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

const float* PackedWeights::Get(const Tensor& w, int64_t k, int64_t n, bool transposed) {
  if (k != k_ || n != n_ || transposed != transposed_) {
    k_ = k;
    n_ = n;
    transposed_ = transposed;
    prepared_.Clear();
    const auto restore = [k, n, transposed](const void* form, void* data) {
      UnpackMatrix(transposed, k, n, static_cast<const float*>(form), transposed ? k : n,
                   static_cast<float*>(data));
    };
    prepared_.Add(
        MakeString("panels of ", PanelWidth(), ", ", k, " x ", n, transposed ? " transposed" : "",
                   " from 0"),
        static_cast<size_t>(PackedFloats(k, n)) * sizeof(float),
        {.offset = 0, .nbytes = static_cast<size_t>(k * n) * sizeof(float), .restore = restore});
  }
  prepared_.Update(w, [&](size_t, void* to) {
    PackMatrix(transposed, k, n, w.data<float>(), transposed ? k : n, static_cast<float*>(to));
  });
  return prepared_.data<float>(0);
}

}  // namespace caffe2rt
