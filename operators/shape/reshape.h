#pragma once
// Reshape: the same elements in another shape. The second output is the old shape.
//   X, shape (argument, or int32 or int64 input 1)
//   ->  Y, old_shape [rank of X] (int64, or int32 if input 1 is int32)
//
// old_shape is on the CPU for every device; input 1 may be on the CPU or on the device. In the
// shape, 0 copies the dimension of the input at the same position, and one -1 is computed from the
// others. If the input has no elements, 0 means size 0, and -1 becomes 0.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"
#include "operators/common/reshaped_dims.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<int64_t> kNewShape{
    "shape",
    "the new shape; 0 copies the dimension, one -1 is computed; required unless input 1 is given"};

inline constexpr ArgumentSpec<bool> kReshapeAllowZero{
    "allowzero", false, "1: a 0 in the shape means size 0, as ONNX's allowzero"};

template <class Context>
class ReshapeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReshapeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        shape_(this->ReadArgument(kNewShape)),
        allow_zero_(this->ReadArgument(kReshapeAllowZero)),
        is_onnx_(HasArgument(kReshapeAllowZero)) {
    if (InputSize() == 1) {
      CAFFE_ENFORCE(HasArgument(kNewShape),
                    "argument shape is missing, and input 1 is not given either");
    } else {
      CAFFE_ENFORCE(!HasArgument(kNewShape),
                    "argument shape and input 1 are both given: remove one");
    }
  }

  bool RunOnDevice() override {
    if (InputSize() == 1) {
      dims_.assign(shape_.begin(), shape_.end());
      return RunWith<int64_t>();
    }
    const Tensor& shape = shape_input_.Read(*this, 1);
    return DispatchByType<int64_t, int32_t>(shape.dtype(), "input 1 (shape)", [&](auto element) {
      using T = decltype(element);
      CAFFE_ENFORCE_EQ(shape.dim(), 1, "rank of input 1 (shape), want a vector");
      // ONNX reshapes one element to a scalar.
      CAFFE_ENFORCE(is_onnx_ || shape.numel() > 0,
                    "input 1 (shape) has no elements, want at least one");
      const T* values = shape.template data<T>();
      dims_.assign(values, values + shape.numel());
      return RunWith<T>();
    });
  }

 private:
  // Writes the old shape with elements of type T.
  template <class T>
  bool RunWith() {
    const Tensor& X = Input(0);
    ReshapedDims(X.sizes(), &dims_, allow_zero_);
    T* old_shape =
        this->OutputTensor(1, CPU, {X.dim()}, TypeMeta::Make<T>())->template mutable_data<T>();
    for (int i = 0; i < X.dim(); ++i) old_shape[i] = static_cast<T>(X.dim(i));
    CopyReshaped(context_, X, dims_, Output(0));
    return true;
  }

  const std::vector<int64_t> shape_;
  const bool allow_zero_, is_onnx_;
  std::vector<int64_t> dims_;
  HostInput shape_input_;
};

}  // namespace caffe2rt
