// Int8Reshape: the same elements in another shape. The second output is the old shape.

#include <cstring>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/reshaped_dims.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kInt8NewShape{
    "shape",
    "the new shape; 0 copies the dimension, one -1 is computed; required unless input 1 is given"};

class Int8ReshapeOp final : public Int8Operator {
 public:
  Int8ReshapeOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny), shape_(ReadArgument(kInt8NewShape)) {
    CAFFE_ENFORCE(InputSize() == 2 || HasArgument(kInt8NewShape),
                  "argument shape is missing, and input 1 is not given either");
    CAFFE_ENFORCE(InputSize() == 1 || !HasArgument(kInt8NewShape),
                  "argument shape and input 1 are both given: remove one");
  }

  bool RunOnDevice() override {
    if (InputSize() == 1) {
      dims_.assign(shape_.begin(), shape_.end());
      return RunWith<int64_t>();
    }
    const Tensor& shape = Input(1);
    return DispatchByType<int64_t, int32_t>(shape.dtype(), "input 1 (new_shape)", [&](auto value) {
      using T = decltype(value);
      CAFFE_ENFORCE_EQ(shape.dim(), 1, "rank of input 1 (new_shape), want a vector");
      const T* values = shape.template data<T>();
      dims_.assign(values, values + shape.numel());
      return RunWith<T>();
    });
  }

 private:
  // Writes the old shape with elements of type T.
  template <class T>
  bool RunWith() {
    const QuantizedInput x = InputInt8(0, "data");
    CheckKeepsQuantization(x);
    ReshapedDims(x.tensor->sizes(), &dims_);
    T* old_shape = OutputData<T>(1, {x.tensor->dim()});
    for (int i = 0; i < x.tensor->dim(); ++i) old_shape[i] = static_cast<T>(x.tensor->dim(i));
    if (IsInputOutputAlias(0, 0)) {
      OperatorBase::Output<Int8TensorCPU>(0)->t.Reshape(dims_);
      return true;
    }
    uint8_t* y = OutputInt8(0, dims_);
    if (x.tensor->numel() > 0) std::memcpy(y, x.data(), x.tensor->nbytes());
    return true;
  }

  const std::vector<int64_t> shape_;
  std::vector<int64_t> dims_;
};

std::vector<TensorShape> InferInt8Reshape(const OperatorDef& def,
                                          const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> input = GetDimsVector(in[0]);
  const std::vector<int64_t> rank = {static_cast<int64_t>(input.size())};
  if (def.input_size() == 2) {
    return {UnknownShape(),
            CreateTensorShape(
                rank, in[1].has_data_type() ? in[1].data_type() : TensorProto_DataType_INT64)};
  }
  std::vector<int64_t> dims = ArgumentHelper(def).Read(kInt8NewShape);
  ReshapedDims(input, &dims);
  return {CreateTensorShape(dims, in[0].data_type()),
          CreateTensorShape(rank, TensorProto_DataType_INT64)};
}

}  // namespace

void RegisterInt8Reshape() {
  RegisterInt8Schema("Int8Reshape", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2)
      .AllowInplace({{0, 0}})
      .Args(kInt8NewShape, kInt8UnusedOrder)
      .Input(0, "data", "a quantized tensor")
      .Input(1, "new_shape", "(optional) the new shape, a vector of int32 or int64")
      .Output(0, "reshaped", "the elements of data in the new shape, with its scale and zero point")
      .Output(1, "old_shape", "the old shape of data, int64 or the type of new_shape")
      .TensorInferenceFunction(InferInt8Reshape)
      .SetDoc(
          "Changes the shape of a quantized tensor. In the new shape, 0 copies the dimension at "
          "the "
          "same position, and one -1 is computed from the others.");
  RegisterCpuOperator<Int8ReshapeOp>("Int8Reshape", __FILE__);
}

}  // namespace caffe2rt
