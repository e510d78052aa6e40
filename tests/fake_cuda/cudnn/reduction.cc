// Reductions over the dimensions in which the result has size 1.

#include <algorithm>
#include <cmath>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

struct Reduction {
  Values values;
  std::vector<size_t> indices;  // of minima and maxima, within the reduced dimensions
};

bool HasIndices(const cudnnReduceTensorStruct& reduce) {
  return reduce.indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES &&
         (reduce.op == CUDNN_REDUCE_TENSOR_MIN || reduce.op == CUDNN_REDUCE_TENSOR_MAX ||
          reduce.op == CUDNN_REDUCE_TENSOR_AMAX);
}

// The result after one more element. `first`: this is the first element, `total` is ignored.
double Combine(cudnnReduceTensorOp_t op, double total, double value, bool first) {
  switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL:
      return first ? value : total * value;
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
      return (first ? 1 : total) * (value == 0 ? 1 : value);
    case CUDNN_REDUCE_TENSOR_MIN:
      return first ? value : std::min(total, value);
    case CUDNN_REDUCE_TENSOR_MAX:
      return first ? value : std::max(total, value);
    case CUDNN_REDUCE_TENSOR_AMAX:
      return first ? std::fabs(value) : std::max(total, std::fabs(value));
    case CUDNN_REDUCE_TENSOR_NORM1:
      return total + std::fabs(value);
    case CUDNN_REDUCE_TENSOR_NORM2:
      return total + value * value;
    default:
      return total + value;
  }
}

Reduction Reduce(cudnnReduceTensorOp_t op, const Values& a, const std::vector<size_t>& target,
                 size_t size) {
  Reduction result{Values(size), std::vector<size_t>(size)};
  std::vector<size_t> seen(size);
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t at = target[i];
    const double next = Combine(op, result.values[at], a[i], seen[at] == 0);
    if (seen[at] == 0 || next != result.values[at]) result.indices[at] = seen[at];
    result.values[at] = next;
    ++seen[at];
  }
  for (size_t i = 0; i < size; ++i) {
    if (op == CUDNN_REDUCE_TENSOR_AVG) result.values[i] /= static_cast<double>(seen[i]);
    if (op == CUDNN_REDUCE_TENSOR_NORM2) result.values[i] = std::sqrt(result.values[i]);
  }
  return result;
}

cudnnStatus_t Check(const cudnnReduceTensorStruct* reduce, const cudnnTensorStruct* a,
                    const cudnnTensorStruct* c) {
  FAKECUDNN_NEED(reduce != nullptr && IsSet(a) && IsSet(c));
  FAKECUDNN_NEED(a->layout.dims.size() == c->layout.dims.size());
  for (size_t d = 0; d < a->layout.dims.size(); ++d) {
    FAKECUDNN_NEED(c->layout.dims[d] == 1 || c->layout.dims[d] == a->layout.dims[d]);
  }
  return CUDNN_STATUS_SUCCESS;
}

// An invented size, about that of a real two-step reduction.
size_t WorkspaceBytes(const cudnnTensorStruct& a, const cudnnTensorStruct& c) {
  return a.layout.dims == c.layout.dims ? 0 : static_cast<size_t>(a.layout.size()) * sizeof(float);
}

size_t IndicesBytes(const cudnnReduceTensorStruct& reduce, const cudnnTensorStruct& c) {
  return HasIndices(reduce) ? static_cast<size_t>(c.layout.size()) * sizeof(uint32_t) : 0;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreateReduceTensorDescriptor(cudnnReduceTensorDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnReduceTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyReduceTensorDescriptor(cudnnReduceTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t descriptor,
                                             cudnnReduceTensorOp_t op, cudnnDataType_t compute_type,
                                             cudnnNanPropagation_t nan,
                                             cudnnReduceTensorIndices_t indices,
                                             cudnnIndicesType_t indices_type) {
  FAKECUDNN_NEED(descriptor != nullptr && op <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS);
  if (indices_type != CUDNN_32BIT_INDICES) return CUDNN_STATUS_NOT_SUPPORTED;
  *descriptor = {op, compute_type, nan, indices, indices_type};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle,
                                           const cudnnReduceTensorDescriptor_t descriptor,
                                           const cudnnTensorDescriptor_t a,
                                           const cudnnTensorDescriptor_t c, size_t* bytes) {
  FAKECUDNN_NEED(handle != nullptr && bytes != nullptr);
  const cudnnStatus_t status = Check(descriptor, a, c);
  *bytes = status == CUDNN_STATUS_SUCCESS ? IndicesBytes(*descriptor, *c) : 0;
  return status;
}

cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle,
                                             const cudnnReduceTensorDescriptor_t descriptor,
                                             const cudnnTensorDescriptor_t a,
                                             const cudnnTensorDescriptor_t c, size_t* bytes) {
  FAKECUDNN_NEED(handle != nullptr && bytes != nullptr);
  const cudnnStatus_t status = Check(descriptor, a, c);
  *bytes = status == CUDNN_STATUS_SUCCESS ? WorkspaceBytes(*a, *c) : 0;
  return status;
}

cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle,
                                const cudnnReduceTensorDescriptor_t descriptor, void* indices,
                                size_t indices_bytes, void* workspace, size_t workspace_bytes,
                                const void* alpha, const cudnnTensorDescriptor_t a_desc,
                                const void* a, const void* beta,
                                const cudnnTensorDescriptor_t c_desc, void* c) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr);
  const cudnnStatus_t status = Check(descriptor, a_desc, c_desc);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const size_t wanted = IndicesBytes(*descriptor, *c_desc);
  if (indices_bytes < wanted || workspace_bytes < WorkspaceBytes(*a_desc, *c_desc)) {
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  }
  if (!CheckRange(__func__, "indices", indices, wanted) ||
      !CheckRange(__func__, "workspace", workspace, WorkspaceBytes(*a_desc, *c_desc))) {
    return CUDNN_STATUS_EXECUTION_FAILED;
  }
  const Blend blend = ReadBlend(alpha, beta, c_desc->layout.type);
  const Tensor ta{"A", a_desc->layout, a}, tc{"C", c_desc->layout, c};
  const cudnnReduceTensorOp_t op = descriptor->op;
  return Run(handle, __func__, {ta, tc}, [=] {
    const std::vector<size_t> target = BroadcastIndices(ta.layout.dims, tc.layout.dims);
    const Reduction result = Reduce(op, Read(ta), target, static_cast<size_t>(tc.layout.size()));
    Write(tc, result.values, blend);
    for (size_t i = 0; wanted > 0 && i < result.indices.size(); ++i) {
      static_cast<uint32_t*>(indices)[i] = static_cast<uint32_t>(result.indices[i]);
    }
  });
}

}  // extern "C"
