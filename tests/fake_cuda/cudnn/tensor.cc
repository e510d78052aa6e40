// Elementwise operations on whole tensors.

#include <algorithm>
#include <cmath>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

// Whether `small` can be broadcast to `dims`.
bool Repeats(const std::vector<int>& small, const std::vector<int>& dims) {
  if (small.size() != dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (small[d] != dims[d] && small[d] != 1) return false;
  }
  return true;
}

double Apply(const cudnnOpTensorStruct& op, double a, double b) {
  switch (op.op) {
    case CUDNN_OP_TENSOR_ADD:
      return a + b;
    case CUDNN_OP_TENSOR_MUL:
      return a * b;
    case CUDNN_OP_TENSOR_MIN:
      return std::min(a, b);
    case CUDNN_OP_TENSOR_MAX:
      return std::max(a, b);
    case CUDNN_OP_TENSOR_SQRT:
      return std::sqrt(a);
    default:
      return 1 - a;
  }
}

bool Unary(cudnnOpTensorOp_t op) { return op == CUDNN_OP_TENSOR_SQRT || op == CUDNN_OP_TENSOR_NOT; }

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha,
                                   const cudnnTensorDescriptor_t x_desc, const void* x,
                                   const void* beta, const cudnnTensorDescriptor_t y_desc,
                                   void* y) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && IsSet(x_desc) && IsSet(y_desc) &&
                 x_desc->layout.dims == y_desc->layout.dims &&
                 x_desc->data_type == y_desc->data_type);
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {tx, ty}, [=] { Write(ty, Read(tx), blend); });
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha,
                             const cudnnTensorDescriptor_t a_desc, const void* a, const void* beta,
                             const cudnnTensorDescriptor_t c_desc, void* c) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && IsSet(a_desc) && IsSet(c_desc) &&
                 Repeats(a_desc->layout.dims, c_desc->layout.dims));
  if (c_desc->layout.dims.size() > 5) return CUDNN_STATUS_NOT_SUPPORTED;
  const Blend blend = ReadBlend(alpha, beta, c_desc->layout.type);
  const Tensor ta{"A", a_desc->layout, a}, tc{"C", c_desc->layout, c};
  return Run(handle, __func__, {ta, tc}, [=] {
    const Values small = Read(ta);
    const std::vector<size_t> at = BroadcastIndices(tc.layout.dims, ta.layout.dims);
    Values values(at.size());
    for (size_t i = 0; i < at.size(); ++i) values[i] = small[at[i]];
    Write(tc, values, blend);
  });
}

cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnOpTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t descriptor, cudnnOpTensorOp_t op,
                                         cudnnDataType_t compute_type, cudnnNanPropagation_t nan) {
  FAKECUDNN_NEED(descriptor != nullptr && op <= CUDNN_OP_TENSOR_NOT);
  *descriptor = {op, compute_type, nan};
  return CUDNN_STATUS_SUCCESS;
}

// C = op(alpha1 * A, alpha2 * B) + beta * C
cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t descriptor,
                            const void* alpha1, const cudnnTensorDescriptor_t a_desc, const void* a,
                            const void* alpha2, const cudnnTensorDescriptor_t b_desc, const void* b,
                            const void* beta, const cudnnTensorDescriptor_t c_desc, void* c) {
  FAKECUDNN_NEED(descriptor != nullptr && alpha1 != nullptr && beta != nullptr && IsSet(a_desc) &&
                 IsSet(c_desc) && a_desc->layout.dims == c_desc->layout.dims);
  const bool unary = Unary(descriptor->op);
  FAKECUDNN_NEED(unary || (alpha2 != nullptr && b != nullptr && IsSet(b_desc) &&
                           Repeats(b_desc->layout.dims, c_desc->layout.dims)));
  const Element type = c_desc->layout.type;
  const Blend blend = {1, ReadBlend(beta, beta, type).beta};
  const double first = ReadBlend(alpha1, alpha1, type).alpha;
  const double second = unary ? 0 : ReadBlend(alpha2, alpha2, type).alpha;
  const Tensor ta{"A", a_desc->layout, a}, tc{"C", c_desc->layout, c};
  const Tensor tb = unary ? ta : Tensor{"B", b_desc->layout, b};
  const cudnnOpTensorStruct op = *descriptor;
  return Run(handle, __func__, {ta, tb, tc}, [=] {
    Values values = Read(ta);
    const Values other = Read(tb);
    const std::vector<size_t> at = BroadcastIndices(tc.layout.dims, tb.layout.dims);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = Apply(op, first * values[i], second * other[at[i]]);
    }
    Write(tc, values, blend);
  });
}

cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t y_desc, void* y,
                             const void* value) {
  FAKECUDNN_NEED(value != nullptr && IsSet(y_desc));
  const double number = Load(y_desc->layout.type, value, 0);
  const Tensor ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {ty},
             [=] { Write(ty, Values(static_cast<size_t>(ty.layout.size()), number), Blend()); });
}

cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t y_desc, void* y,
                               const void* alpha) {
  FAKECUDNN_NEED(alpha != nullptr && IsSet(y_desc));
  const double factor = ReadBlend(alpha, alpha, y_desc->layout.type).alpha;
  const Tensor ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {ty}, [=] { Write(ty, Read(ty), {factor, 0}); });
}

}  // extern "C"
