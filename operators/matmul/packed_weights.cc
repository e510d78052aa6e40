#include "operators/matmul/packed_weights.h"

#include "caffe2_core/base/enforce.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

bool PackedWeights::IsCurrent(const Tensor& w, int64_t k, int64_t n, bool transposed) {
  return w.storage() == storage_ && w.data<float>() == source_ && k == k_ && n == n_ &&
         transposed == transposed_ && storage_->VerifiedVersion(w.nbytes()) == version_;
}

const float* PackedWeights::Get(const Tensor& w, int64_t k, int64_t n, bool transposed) {
  if (IsCurrent(w, k, n, transposed)) return form_ != nullptr ? form_->data<float>() : nullptr;
  const uint64_t version = w.storage()->VerifiedVersion(w.nbytes());
  const bool changes = w.storage() == storage_ && version != version_;
  form_ = nullptr;
  storage_ = w.storage();
  version_ = version;
  source_ = w.data<float>();
  k_ = k;
  n_ = n;
  transposed_ = transposed;
  if (changes) return nullptr;
  const auto offset = source_ - static_cast<const float*>(storage_->data());
  const std::string key = MakeString("panels of ", PanelWidth(), ", ", k, " x ", n,
                                     transposed ? " transposed" : "", " from ", offset);
  form_ = std::static_pointer_cast<const Tensor>(storage_->Derived(key, [&] {
    auto form = std::make_shared<Tensor>(CPU);
    form->Resize(PackedFloats(k, n));
    PackMatrix(transposed, k, n, source_, transposed ? k : n, form->mutable_data<float>());
    return form;
  }));
  return form_->data<float>();
}

}  // namespace caffe2rt
