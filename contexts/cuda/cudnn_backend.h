#pragma once
// Descriptors of cuDNN's backend API: tensors, operations, graphs of operations, engines, execution
// plans and variant packs.
//
//   CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
//   tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, int64_t{1});
//   tensor.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(dims));
//   if (!tensor.Finalize()) return CudnnStatusText(tensor.status());
//
// cuDNN rejects what it does not support with many statuses, and callers have another way to
// compute. So no function throws: a descriptor keeps the status of its first call that failed, and
// later calls do nothing. A failed call leaves no CUDA error behind. Only files that are built if
// cuDNN's headers are found may include this.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contexts/cuda/cudnn_library.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// cuDNN's number of each type of attribute. A cudnnBackendDescriptor_t is also a void*: functions
// with "Descriptor" in their names are for those.
template <class T>
struct CudnnAttributeType;
#define CAFFE2RT_CUDNN_ATTRIBUTE(Type, number)                   \
  template <>                                                    \
  struct CudnnAttributeType<Type> {                              \
    static constexpr cudnnBackendAttributeType_t value = number; \
  }
CAFFE2RT_CUDNN_ATTRIBUTE(int64_t, CUDNN_TYPE_INT64);
CAFFE2RT_CUDNN_ATTRIBUTE(bool, CUDNN_TYPE_BOOLEAN);
CAFFE2RT_CUDNN_ATTRIBUTE(float, CUDNN_TYPE_FLOAT);
CAFFE2RT_CUDNN_ATTRIBUTE(void*, CUDNN_TYPE_VOID_PTR);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnHandle_t, CUDNN_TYPE_HANDLE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE);
CAFFE2RT_CUDNN_ATTRIBUTE(cudnnBackendBehaviorNote_t, CUDNN_TYPE_BEHAVIOR_NOTE);
#undef CAFFE2RT_CUDNN_ATTRIBUTE

// Owns one descriptor. A finalized descriptor does not change any more: cuDNN rejects further
// attributes. Used by one thread at a time. REQUIRES: HasCudnnBackend().
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)), status_(other.status_) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(status_, other.status_);
    return *this;
  }
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  template <class T>
  void Set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    SetValues(name, CudnnAttributeType<T>::value, static_cast<int64_t>(values.size()),
              values.data());
  }
  template <class T>
  void Set(cudnnBackendAttributeName_t name, T value) {
    SetValues(name, CudnnAttributeType<T>::value, 1, &value);
  }
  // This descriptor takes over the status of a descriptor that has failed.
  void SetDescriptor(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    SetDescriptors(name, {&value, 1});
  }
  void SetDescriptors(cudnnBackendAttributeName_t name, std::span<const CudnnDescriptor> values);

  // Returns whether all calls so far have succeeded and the descriptor is complete.
  bool Finalize();

  // Returns the first `most` values of an attribute; empty if cuDNN has none or fails, which status()
  // reports.
  template <class T>
  std::vector<T> Get(cudnnBackendAttributeName_t name, size_t most) {
    std::vector<T> values(most);
    values.resize(GetValues(name, CudnnAttributeType<T>::value, most, values.data()));
    return values;
  }
  // The same for an attribute that consists of descriptors of one type.
  std::vector<CudnnDescriptor> GetDescriptors(cudnnBackendAttributeName_t name,
                                              cudnnBackendDescriptorType_t type, size_t most);
  // The number of descriptors of an attribute, or an upper bound.
  size_t CountDescriptors(cudnnBackendAttributeName_t name);

  cudnnStatus_t status() const { return status_; }
  bool ok() const { return status_ == CUDNN_STATUS_SUCCESS; }
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  // Keeps the status of a call. REQUIRES: ok().
  void Keep(cudnnStatus_t status);
  void SetValues(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                 const void* values);
  // Returns how many values cuDNN has written.
  size_t GetValues(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t count,
                   void* values);

  cudnnBackendDescriptor_t descriptor_ = nullptr;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

// Runs a finalized execution plan on the handle's stream, with the pointers of a variant pack. Returns
// the status of the variant pack if that has failed.
cudnnStatus_t ExecuteCudnnPlan(cudnnHandle_t handle, const CudnnDescriptor& plan,
                               const CudnnDescriptor& pack);

}  // namespace caffe2rt
#pragma GCC visibility pop
