#include "operators/matmul/reduced_weights.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_source.h"

namespace caffe2rt {

void ReducedWeights::Plan(Precision precision, int64_t k, int64_t n, bool transposed) {
  if (precision == precision_ && k == gemm_.k() && n == gemm_.n() && transposed == transposed_) {
    return;
  }
  prepared_.Clear();
  precision_ = Precision::kFloat32;
  if (precision == Precision::kFloat32) return;
  gemm_ = ReducedGemm(precision, k, n);
  transposed_ = transposed;
  prepared_.Add(
      MakeString(ReducedKernelName(gemm_.kernel()), " panels of ", gemm_.width(), ", ", k, " x ", n,
                 transposed ? " transposed" : ""),
      gemm_.nbytes(),
      {.offset = 0, .nbytes = static_cast<size_t>(k * n) * sizeof(float), .restore = NoRestore()});
  precision_ = precision;  // last: a plan whose memory lacked is made once more
}

const void* ReducedWeights::Get(const Tensor& w) {
  if (!is_used()) return nullptr;
  prepared_.Update(w, [&](size_t, void* to) {
    gemm_.Pack(transposed_, w.data<float>(), transposed_ ? gemm_.k() : gemm_.n(), to);
  });
  return prepared_.data(0);
}

}  // namespace caffe2rt
