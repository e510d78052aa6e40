// MaxUnpool: writes the elements of X to the positions that ONNX's MaxPool returned; zeros elsewhere.
//   X [N, C, 1 to 3 axes], I int64 of the shape of X, optional output_shape int64  ->  Y
// If output_shape is given, the result that kernel_shape, strides and pads imply is its first part.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/window_attributes.h"

namespace caffe2rt {

namespace {

// The shape that the attributes imply.
void UnpooledDims(const WindowAttributes& attributes, IntArrayRef x, std::vector<int64_t>* dims) {
  Windows windows;
  WindowAxesOf(attributes, x, attributes.kernel_shape, &windows);
  dims->assign({x[0], x[1]});
  for (size_t i = static_cast<size_t>(3 - windows.axes); i < 3; ++i) {
    const WindowAxis& axis = windows.axis[i];
    const int64_t size = (axis.in - 1) * axis.stride + axis.kernel - axis.pad_head - axis.pad_tail;
    CAFFE_ENFORCE_GE(size, 0, "size of an axis of the output, from input 0 (X) of shape ", x);
    dims->push_back(size);
  }
  (void)CheckedProduct(*dims);
}

class MaxUnpoolOp final : public Operator<CPUContext> {
 public:
  MaxUnpoolOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), attributes_(args()) {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &I = Input(1);
    CAFFE_ENFORCE(I.dims() == X.dims(), "input 1 (I) has shape ", I.sizes(), ", want ", X.sizes(),
                  " as input 0 (X)");
    RequireElements<int64_t>(I);
    UnpooledDims(attributes_, X.sizes(), &inner_dims_);
    dims_ = inner_dims_;
    if (InputSize() > 2) {
      RequireElements<int64_t>(Input(2));
      CAFFE_ENFORCE_EQ(Input(2).numel(), X.dim(),
                       "elements of input 2 (output_shape), want the rank of X");
      const int64_t* shape = Input(2).data<int64_t>();
      dims_.assign(shape, shape + X.dim());
      for (size_t i = 0; i < dims_.size(); ++i) {
        CAFFE_ENFORCE_GE(dims_[i], inner_dims_[i], "axis ", i, " of input 2 (output_shape)");
      }
      (void)CheckedProduct(dims_);
    }
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      T* y = OutputData<T>(0, dims_);
      std::fill_n(y, Output(0)->numel(), T(0));
      if (X.numel() == 0) return true;
      const T* x = X.data<T>();
      const int64_t* indices = I.data<int64_t>();
      const int64_t count = CheckedProduct(inner_dims_);
      for (int64_t i = 0; i < X.numel(); ++i) {
        CAFFE_ENFORCE(indices[i] >= 0 && indices[i] < count, "input 1 (I) is ", indices[i],
                      " at element ", i, ", want 0 to ", count - 1);
        y[Place(indices[i])] = x[i];
      }
      return true;
    });
  }

 private:
  // The offset in Y of a position in its first part.
  int64_t Place(int64_t position) const {
    int64_t place = 0, stride = 1;
    for (size_t i = dims_.size(); i-- > 0;) {
      place += position % inner_dims_[i] * stride;
      position /= inner_dims_[i];
      stride *= dims_[i];
    }
    return place;
  }

  const WindowAttributes attributes_;
  std::vector<int64_t> inner_dims_, dims_;
};

}  // namespace

void RegisterMaxUnpool() {
  OpSchema& schema = RegisterSchema("MaxUnpool", __FILE__);
  schema.NumInputs(2, 3)
      .NumOutputs(1)
      .Input(0, "X", "float or double, [N, C, one to three axes]")
      .Input(1, "I", "int64, the shape of X: the positions of its elements in Y")
      .Input(2, "output_shape", "int64: the shape of Y; default: what the windows imply")
      .Output(0, "Y", "the type of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (in.size() != 2 || !AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        std::vector<int64_t> dims;
        UnpooledDims(WindowAttributes(ArgumentHelper(def)), GetDimsVector(in[0]), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kPool})
      .SetDoc("The inverse of a maximum pool, from its Indices, as ONNX's MaxUnpool.");
  DeclareWindowAttributes(schema, false);
  RegisterCpuOperator<MaxUnpoolOp>("MaxUnpool", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MaxUnpool", __FILE__);
}

}  // namespace caffe2rt
