#pragma once
// The memory of a SyncedBlob as two Tensors, one on the CPU and one on the device, for operators.
//
//   SyncedTensors<float> tensors(blob, SyncedPart::kData);
//   ws.CreateBlob("x")->ShareExternal(tensors.mutable_device());
//   net->Run();         // on the device; writes into the blob's memory
//   blob.cpu_data();    // copies what the net wrote
//
// The tensors have the blob's shape and share its memory. Data is copied only between the two sides
// of the blob. Each accessor brings its side up to date, as cpu_data() and its siblings do, and a
// `mutable_` accessor makes its side the head. Before you write through a tensor, call the mutable
// accessor; call it again each time the other side has been read.
//
// A tensor keeps its buffer alive, even if the blob is destroyed or gets other memory; call the
// accessor again to get the new buffer. A tensor that is resized beyond the blob's memory allocates
// its own memory, as any tensor that shares memory does. The blob must outlive this object. Like
// the blob, it is used by one thread at a time.

#include <memory>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/synced/synced_blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class SyncedPart { kData, kDiff };

template <class T>
class SyncedTensors {
 public:
  explicit SyncedTensors(const SyncedBlob<T>& blob, SyncedPart part = SyncedPart::kData)
      : blob_(blob), part_(part) {}
  SyncedTensors(const SyncedTensors&) = delete;
  SyncedTensors& operator=(const SyncedTensors&) = delete;

  // For reading: bring that side up to date. The reference stays the same; each call updates the
  // tensor it refers to. THROW any error of SyncedMemory's cpu_data() and gpu_data(), and if the
  // blob has not been reshaped yet.
  const Tensor& cpu();
  const Tensor& device();
  // The same, for writing: that side becomes the head.
  Tensor* mutable_cpu();
  Tensor* mutable_device();

 private:
  SyncedMemory& memory() const {
    return part_ == SyncedPart::kData ? *blob_.data() : *blob_.diff();
  }
  // Makes the tensor share the buffer, with the blob's shape.
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
#pragma GCC visibility pop
