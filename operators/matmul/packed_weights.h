#pragma once
// The packed form of a weight matrix (operators/primitives/packed_gemm.h), made once and shared by
// all operators that use the same memory in the same way (tensor/prepared_weight.h).
//
//   PackedWeights packed_;                                        // a member
//   const float* form = packed_.Get(W, k, n, /*transposed=*/true);
//   if (form == nullptr) ...                                      // use W itself
//
// Not thread safe. Steady state: no lock and no allocation, as long as W is not written.

#include <cstdint>

#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class PackedWeights {
 public:
  // The packed form of the matrix [k, n] in W, which holds the matrix or, if `transposed`, its
  // transpose. Valid until the next call. Returns null if W was written since it was packed, as in
  // training: then packing costs more than it saves. REQUIRES: W has k * n floats, at least one.
  const float* Get(const Tensor& w, int64_t k, int64_t n, bool transposed);

 private:
  PreparedWeight prepared_{PreparedWeight::IfChanged::kUsePlain};
  int64_t k_ = 0, n_ = 0;
  bool transposed_ = false;
};

}  // namespace caffe2rt
