#include "contexts/synced/synced_tensors.h"

namespace caffe2rt {
namespace {

using Buffer = std::shared_ptr<const DataPtr>;

void LetGo(void*, void* state) { delete static_cast<Buffer*>(state); }

}  // namespace

template <class T>
void SyncedTensors<T>::Look(const Buffer& buffer, Tensor* tensor) const {
  const std::vector<int64_t> dims(blob_.shape().begin(), blob_.shape().end());
  const size_t capacity = memory().size();
  const bool same = tensor->storage() != nullptr && tensor->storage()->data() == buffer->get() &&
                    tensor->capacity_nbytes() == capacity;
  if (same && tensor->dims() == dims) return;
  tensor->FreeMemory();  // before the shape changes, so that it cannot reallocate
  tensor->Resize(dims);
  // Storage never frees a null pointer, so a null pointer must not own a Buffer.
  const MemoryDeleter deleter =
      buffer->get() != nullptr ? MemoryDeleter(&LetGo, new Buffer(buffer)) : MemoryDeleter();
  tensor->ShareExternalPointer(buffer->get(), TypeMeta::Make<T>(), capacity, deleter);
}

template <class T>
const Tensor& SyncedTensors<T>::cpu() {
  memory().cpu_data();
  Look(memory().cpu_buffer(), &cpu_);
  return cpu_;
}

template <class T>
Tensor* SyncedTensors<T>::mutable_cpu() {
  memory().mutable_cpu_data();
  Look(memory().cpu_buffer(), &cpu_);
  return &cpu_;
}

template <class T>
Tensor* SyncedTensors<T>::Device() {
  const DeviceType type = memory().contexts().device->GetDeviceType();
  if (device_.GetDeviceType() != type) device_ = Tensor(type);
  Look(memory().gpu_buffer(), &device_);
  return &device_;
}

template <class T>
const Tensor& SyncedTensors<T>::device() {
  memory().gpu_data();
  return *Device();
}

template <class T>
Tensor* SyncedTensors<T>::mutable_device() {
  memory().mutable_gpu_data();
  return Device();
}

template class SyncedTensors<float>;
template class SyncedTensors<double>;
template class SyncedTensors<int>;

}  // namespace caffe2rt
