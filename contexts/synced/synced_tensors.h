#pragma once
// The memory of a SyncedBlob as two Tensors, one on the CPU and one on the device, for operators.
//
//   SyncedTensors<float> tensors(blob, SyncedPart::kData);
//   ws.CreateBlob("x")->ShareExternal(tensors.mutable_device());   // a net on the device writes
//   into the blob's memory net->Run(); blob.cpu_data(); // copies what the net wrote
//
// The tensors have the blob's shape and its very memory: nothing is copied but what the two sides
// need to agree. Asking for a side brings it up to date, as cpu_data() and its siblings do, and
// `mutable_` makes it the head; so whoever writes through a tensor asks for the mutable one first,
// every time after the other side was read.
//
// A tensor keeps the buffer it looks at, also when the blob goes or gets other memory; ask again to
// see the new one. A tensor that is resized beyond the blob's memory gets memory of its own, as any
// tensor that shares. The blob must outlive this object. Used by one thread at a time, as the blob.

#include <memory>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/synced/synced_blob.h"

namespace caffe2rt {

enum class SyncedPart { kData, kDiff };

template <class T>
class SyncedTensors {
 public:
  explicit SyncedTensors(const SyncedBlob<T>& blob, SyncedPart part = SyncedPart::kData)
      : blob_(blob), part_(part) {}
  SyncedTensors(const SyncedTensors&) = delete;
  SyncedTensors& operator=(const SyncedTensors&) = delete;

  // Up to date, for reading. The pointers stay the same; what they point to is brought up to date
  // by each call. THROW what SyncedMemory's cpu_data() and gpu_data() throw, and before the blob's
  // first Reshape.
  const Tensor& cpu();
  const Tensor& device();
  // The same, for writing: that side is the head.
  Tensor* mutable_cpu();
  Tensor* mutable_device();

 private:
  SyncedMemory& memory() const {
    return part_ == SyncedPart::kData ? *blob_.data() : *blob_.diff();
  }
  // Makes the tensor look at the buffer, with the blob's shape.
  void Look(const std::shared_ptr<const DataPtr>& buffer, Tensor* tensor) const;
  Tensor* Device();

  const SyncedBlob<T>& blob_;
  const SyncedPart part_;
  Tensor cpu_{CPU};
  Tensor device_;
};

extern template class SyncedTensors<float>;
extern template class SyncedTensors<double>;
extern template class SyncedTensors<int>;
// Tensors have no unsigned int elements.

}  // namespace caffe2rt
