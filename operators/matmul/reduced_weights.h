#pragma once
// The form of a weight matrix in bf16 or bytes (operators/primitives/reduced_gemm.h), made once and
// shared by all operators that use the same memory in the same way (tensor/prepared_weight.h).
//
//   ReducedWeights reduced_;                                       // a member
//   reduced_.Plan(Precision::kInt8, k, n, /*transposed=*/true);    // for each new shape of W
//   const void* form = reduced_.Get(W);
//   if (form == nullptr) ...                                       // use W itself
//   reduced_.gemm().Multiply({.b = form, ...}, scratch);
//
// Not thread safe. Steady state: no lock and no allocation, as long as W is not written.

#include <cstdint>

#include "caffe2_core/graph/precision.h"
#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/primitives/reduced_gemm.h"

namespace caffe2rt {

class ReducedWeights {
 public:
  // For the matrix [k, n] in W, which holds the matrix or, if `transposed`, its transpose. With
  // kFloat32 there is no form. REQUIRES: k and n are above 0; MayReduce(precision, k).
  void Plan(Precision precision, int64_t k, int64_t n, bool transposed);
  bool is_used() const { return precision_ != Precision::kFloat32; }
  const ReducedGemm& gemm() const { return gemm_; }
  // The form, valid until the next call. Returns null if there is none, or if W was written since it
  // was made, as in training: then making it costs more than it saves. REQUIRES: W has k * n floats.
  const void* Get(const Tensor& w);

 private:
  PreparedWeight prepared_{PreparedWeight::IfChanged::kUsePlain};
  Precision precision_ = Precision::kFloat32;
  ReducedGemm gemm_;
  bool transposed_ = false;
};

}  // namespace caffe2rt
