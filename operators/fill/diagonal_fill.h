#pragma once
// DiagonalFill: writes `value` on the main diagonal and 0 elsewhere. It supports the element types
// of ConstantFill except STRING.
//
// For rank 2, every (columns + 1)-th element in row-major order is on the diagonal. If there are
// more rows than columns, the diagonal therefore continues at column 0 of row `columns` + 1. For
// higher ranks all dimensions must be equal, even if the tensor is empty.

#include <algorithm>

#include "operators/fill/constant_fill.h"

namespace caffe2rt {

template <class Context>
class DiagonalFillOp final : public Filler<Context> {
 public:
  DiagonalFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {
    const TensorProto_DataType type = ConstantFillType(this->args());
    switch (type) {
      case TensorProto_DataType_FLOAT:
        Choose<float>();
        break;
      case TensorProto_DataType_DOUBLE:
        Choose<double>();
        break;
      case TensorProto_DataType_BOOL:
        Choose<bool>();
        break;
      case TensorProto_DataType_INT8:
        Choose<int8_t>();
        break;
      case TensorProto_DataType_INT16:
        Choose<int16_t>();
        break;
      case TensorProto_DataType_INT32:
        Choose<int32_t>();
        break;
      case TensorProto_DataType_INT64:
        Choose<int64_t>();
        break;
      case TensorProto_DataType_UINT8:
        Choose<uint8_t>();
        break;
      case TensorProto_DataType_UINT16:
        Choose<uint16_t>();
        break;
      default:
        CAFFE_THROW("argument \"dtype\" is ", static_cast<int>(type),
                    ", want the number of a numeric type or BOOL");
    }
  }

 private:
  using FillFunction = std::function<void(Tensor*)>;

  void Fill(Tensor* output) override { fill_(output); }

  template <class T>
  void Choose() {
    fill_ = [this, value = this->ReadArgument(kFillValue<T>)](Tensor* output) {
      const int64_t step = Step(*output);
      T* data = output->template mutable_data<T>();
      FillEveryStep(this->context_, output->numel(), step, value, data);
    };
  }

  // Distance in elements between neighbours on the diagonal.
  static int64_t Step(const Tensor& output) {
    CAFFE_ENFORCE_GE(output.dim(), 2, "rank of the output, want at least 2");
    if (output.dim() == 2) return output.dim(1) + 1;
    int64_t step = 1, stride = 1;
    for (int axis = output.dim() - 1; axis > 0; --axis) {
      CAFFE_ENFORCE_EQ(output.dim(axis), output.dim(0), "dim ", axis, " of the output of shape ",
                       output.sizes(), ", want that of dim 0");
      stride *= output.dim(axis);
      step += stride;
    }
    return step;
  }

  FillFunction fill_;
};

}  // namespace caffe2rt
