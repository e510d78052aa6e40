#include "contexts/synced/synced_blob.h"

#include <cstring>
#include <type_traits>

#include "caffe2_core/base/enforce.h"
#include "contexts/synced/synced_math.h"

namespace caffe2rt {
namespace {

// Whether arithmetic runs on the device. As in Caffe, SYNCED memory counts as on the device.
bool IsOnDevice(const SyncedMemory& memory) {
  return memory.head() == SyncedMemory::HEAD_AT_GPU ||
         (memory.head() == SyncedMemory::SYNCED && memory.contexts().device != nullptr);
}

const SyncedMath& MathOf(const SyncedMemory& memory) {
  return SyncedMathOf(memory.contexts().device->GetDeviceType());
}

template <class T>
void CheckArithmetic(const char* what) {
  CAFFE_ENFORCE(std::is_floating_point_v<T>, what, " of a blob of ", TypeMeta::Make<T>().name(),
                ", want float or double");
}

using DeviceSum = double (SyncedMath::*)(BaseContext&, TypeMeta, size_t, const void*) const;
using HostSum = double (*)(TypeMeta, size_t, const void*);

template <class T>
T Sum(const char* what, SyncedMemory* memory, int count, DeviceSum device, HostSum host) {
  CheckArithmetic<T>(what);
  if (memory == nullptr || memory->head() == SyncedMemory::UNINITIALIZED) return T(0);
  const TypeMeta type = TypeMeta::Make<T>();
  const size_t n = static_cast<size_t>(count);
  if (!IsOnDevice(*memory)) return static_cast<T>(host(type, n, memory->cpu_data()));
  const void* x = memory->gpu_data();
  return static_cast<T>((MathOf(*memory).*device)(*memory->NewDeviceContext(), type, n, x));
}

template <class T>
void ScaleMemory(const char* what, SyncedMemory* memory, int count, T factor) {
  CheckArithmetic<T>(what);
  if (memory == nullptr || memory->head() == SyncedMemory::UNINITIALIZED) return;
  const TypeMeta type = TypeMeta::Make<T>();
  const size_t n = static_cast<size_t>(count);
  const double wide = static_cast<double>(factor);
  if (!IsOnDevice(*memory)) {
    internal::HostScale(type, n, wide, memory->mutable_cpu_data());
    return;
  }
  void* x = memory->mutable_gpu_data();
  const std::unique_ptr<BaseContext> context = memory->NewDeviceContext();
  MathOf(*memory).Scale(*context, type, n, wide, x);
  context->FinishDeviceComputation();
}

}  // namespace

template <class T>
T SyncedBlob<T>::asum_data() const {
  return Sum<T>("asum_data", data_.get(), count_, &SyncedMath::Asum, &internal::HostAsum);
}
template <class T>
T SyncedBlob<T>::asum_diff() const {
  return Sum<T>("asum_diff", diff_.get(), count_, &SyncedMath::Asum, &internal::HostAsum);
}
template <class T>
T SyncedBlob<T>::sumsq_data() const {
  return Sum<T>("sumsq_data", data_.get(), count_, &SyncedMath::Sumsq, &internal::HostSumsq);
}
template <class T>
T SyncedBlob<T>::sumsq_diff() const {
  return Sum<T>("sumsq_diff", diff_.get(), count_, &SyncedMath::Sumsq, &internal::HostSumsq);
}
template <class T>
void SyncedBlob<T>::scale_data(T factor) {
  ScaleMemory<T>("scale_data", data_.get(), count_, factor);
}
template <class T>
void SyncedBlob<T>::scale_diff(T factor) {
  ScaleMemory<T>("scale_diff", diff_.get(), count_, factor);
}

template <class T>
void SyncedBlob<T>::Update() {
  CheckArithmetic<T>("Update");
  SyncedMemory& memory = *data();
  CAFFE_ENFORCE(memory.head() != SyncedMemory::UNINITIALIZED,
                "Update of a blob whose data was never written");
  const TypeMeta type = TypeMeta::Make<T>();
  const size_t n = static_cast<size_t>(count_);
  if (!IsOnDevice(memory)) {
    const void* step = diff()->cpu_data();
    internal::HostSubtract(type, n, step, memory.mutable_cpu_data());
    return;
  }
  const void* step = diff()->gpu_data();
  void* values = memory.mutable_gpu_data();
  const std::unique_ptr<BaseContext> context = memory.NewDeviceContext();
  MathOf(memory).Subtract(*context, type, n, step, values);
  context->FinishDeviceComputation();
}

template <class T>
void SyncedBlob<T>::CopyFrom(const SyncedBlob& source, bool copy_diff, bool reshape) {
  if (&source == this) return;
  if (shape_ != source.shape_ ||
      count_ != source.count_) {  // distinguishes a blob without a shape from a scalar
    CAFFE_ENFORCE(reshape, "copying a blob of shape ", source.shape_string(), " into one of shape ",
                  shape_string(), ", want equal shapes, or reshape = true");
    ReshapeLike(source);
  }
  SyncedMemory& from = copy_diff ? *source.diff() : *source.data();
  SyncedMemory& to = copy_diff ? *diff() : *data();
  if (&from == &to) return;  // shared
  const size_t nbytes = static_cast<size_t>(count_) * sizeof(T);
  if (IsOnDevice(from) && from.contexts().device == to.contexts().device) {
    const void* values = from.gpu_data();
    void* copy = to.mutable_gpu_data();
    const std::unique_ptr<BaseContext> context = to.NewDeviceContext();
    context->CopyBytesSameDevice(nbytes, values, copy);
    context->FinishDeviceComputation();
    return;
  }
  const void* values = from.cpu_data();
  void* copy = to.mutable_cpu_data();
  if (nbytes > 0) std::memcpy(copy, values, nbytes);
}

template <class T>
const std::shared_ptr<SyncedMemory>& SyncedBlob<T>::data() const {
  CAFFE_ENFORCE(data_ != nullptr, "the blob has no data yet: call Reshape first");
  return data_;
}

template <class T>
const std::shared_ptr<SyncedMemory>& SyncedBlob<T>::diff() const {
  CAFFE_ENFORCE(diff_ != nullptr, "the blob has no diff yet: call Reshape first");
  return diff_;
}

template <class T>
void SyncedBlob<T>::ShareData(const SyncedBlob& other) {
  CAFFE_ENFORCE_EQ(other.count_, count_, "elements of the blob whose data is shared");
  data_ = other.data();
}

template <class T>
void SyncedBlob<T>::ShareDiff(const SyncedBlob& other) {
  CAFFE_ENFORCE_EQ(other.count_, count_, "elements of the blob whose diff is shared");
  diff_ = other.diff();
}

template <class T>
void SyncedBlob<T>::set_cpu_data(T* values) {
  CAFFE_ENFORCE(values != nullptr, "set_cpu_data of null, want a buffer of ", count_, " elements");
  FitMemory();
  data_->set_cpu_data(values);
}

template <class T>
void SyncedBlob<T>::set_gpu_data(T* values) {
  CAFFE_ENFORCE(values != nullptr, "set_gpu_data of null, want a buffer of ", count_, " elements");
  FitMemory();
  data_->set_gpu_data(values);
}

template <class T>
void SyncedBlob<T>::FitMemory() {
  if (data()->size() == static_cast<size_t>(count_) * sizeof(T)) return;
  capacity_ = count_;
  data_ = NewMemory();
  diff_ = NewMemory();
}

template <class T>
std::shared_ptr<SyncedMemory> SyncedBlob<T>::NewMemory() const {
  return std::make_shared<SyncedMemory>(static_cast<size_t>(capacity_) * sizeof(T), contexts_);
}

template class SyncedBlob<float>;
template class SyncedBlob<double>;
template class SyncedBlob<int>;
template class SyncedBlob<unsigned int>;

}  // namespace caffe2rt
