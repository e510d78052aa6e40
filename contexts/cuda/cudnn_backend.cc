#include "contexts/cuda/cudnn_backend.h"

#include <algorithm>

namespace caffe2rt {

namespace {

cudnnStatus_t WithoutCudaError(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) (void)cudaGetLastError();
  return status;
}

}  // namespace

void CudnnDescriptor::Keep(cudnnStatus_t status) { status_ = WithoutCudaError(status); }

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  Keep(Cudnn().BackendCreateDescriptor(type, &descriptor_));
  if (!ok()) descriptor_ = nullptr;
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) (void)Cudnn().BackendDestroyDescriptor(descriptor_);
}

void CudnnDescriptor::SetValues(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                int64_t count, const void* values) {
  if (!ok()) return;
  Keep(Cudnn().BackendSetAttribute(descriptor_, name, type, count, values));
}

void CudnnDescriptor::SetDescriptors(cudnnBackendAttributeName_t name,
                                     std::span<const CudnnDescriptor> values) {
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (const CudnnDescriptor& value : values) {
    if (ok()) status_ = value.status_;
    descriptors.push_back(value.descriptor_);
  }
  SetValues(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(descriptors.size()),
            descriptors.data());
}

bool CudnnDescriptor::Finalize() {
  if (ok()) Keep(Cudnn().BackendFinalize(descriptor_));
  return ok();
}

size_t CudnnDescriptor::CountDescriptors(cudnnBackendAttributeName_t name) {
  int64_t count = 0;
  if (ok()) {
    Keep(Cudnn().BackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                                     nullptr));
  }
  return ok() ? static_cast<size_t>(std::max<int64_t>(count, 0)) : 0;
}

size_t CudnnDescriptor::GetValues(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type, size_t count, void* values) {
  if (!ok() || count == 0) return 0;
  int64_t written = 0;
  Keep(Cudnn().BackendGetAttribute(descriptor_, name, type, static_cast<int64_t>(count), &written,
                                   values));
  return ok() ? std::min(count, static_cast<size_t>(std::max<int64_t>(written, 0))) : 0;
}

// cuDNN fills descriptors that the caller creates.
std::vector<CudnnDescriptor> CudnnDescriptor::GetDescriptors(cudnnBackendAttributeName_t name,
                                                             cudnnBackendDescriptorType_t type,
                                                             size_t most) {
  std::vector<CudnnDescriptor> values;
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (size_t i = 0; i < most; ++i) {
    values.emplace_back(type);
    if (ok()) status_ = values.back().status();
    descriptors.push_back(values.back().get());
  }
  const size_t written =
      GetValues(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, descriptors.size(), descriptors.data());
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(written), values.end());
  return values;
}

cudnnStatus_t ExecuteCudnnPlan(cudnnHandle_t handle, const CudnnDescriptor& plan,
                               const CudnnDescriptor& pack) {
  if (!pack.ok()) return pack.status();
  return WithoutCudaError(Cudnn().BackendExecute(handle, plan.get(), pack.get()));
}

}  // namespace caffe2rt
