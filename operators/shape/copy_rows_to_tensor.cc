// CopyRowsToTensor: writes one row over rows of a matrix. CopyRowsToTensorGradient passes the gradient on.
//   input_tensor [N, D] (in place), indices int64 [M], row [D]  ->  input_tensor
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class CopyRowsToTensorOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& matrix = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& row = Input(2);
    CAFFE_ENFORCE_EQ(matrix.dim(), 2, "rank of input 0 (input_tensor) of shape ", matrix.sizes());
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (indices) of shape ", indices.sizes());
    CAFFE_ENFORCE_EQ(row.dim(), 1, "rank of input 2 (row) of shape ", row.sizes());
    CAFFE_ENFORCE_EQ(row.numel(), matrix.dim(1),
                     "elements of input 2 (row), want the columns of input 0 (input_tensor)");
    CAFFE_ENFORCE(row.dtype() == matrix.dtype(), "input 2 (row) has elements of type ",
                  row.dtype().name(), ", want that of input 0, ", matrix.dtype().name());
    const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
    const int64_t* const index = indices.data<int64_t>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows, "element ", i, " of input 1 (indices) is ",
                    index[i], ", want at least 0 and less than ", rows,
                    ", the rows of input 0 (input_tensor)");
    }
    if (columns == 0) return true;
    const TypeMeta type = row.dtype();
    const void* const x = row.raw_data();
    void* const y = Output(0)->raw_mutable_data(type);
    for (int64_t i = 0; i < indices.numel(); ++i)
      CopyRow(context_, type, columns, x, ItemAt(y, type, index[i] * columns));
    return true;
  }
};

class CopyRowsToTensorGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    if (!IsInputOutputAlias(0, 0)) Output(0)->CopyFrom(Input(0), &context_);
    return true;
  }
};

class GetCopyRowsToTensorGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("CopyRowsToTensorGradient", "", {GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterCopyRowsToTensor() {
  RegisterSchema("CopyRowsToTensor", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "input_tensor", "[N, D], elements of any type")
      .Input(1, "indices", "[M] int64: the rows to write")
      .Input(2, "row", "[D], the type of input_tensor: their new elements")
      .Output(0, "output_tensor", "input_tensor, in place")
      .EnforceInplace({{0, 0}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Writes a row over rows of a matrix.");
  RegisterCpuOperator<CopyRowsToTensorOp>("CopyRowsToTensor", __FILE__);
  RegisterSchema("CopyRowsToTensorGradient", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "doutput", "the gradient of output_tensor")
      .Output(
          0, "dinput",
          "the gradient of input_tensor, which is the same: rows that were written count as well")
      .AllowInplace({{0, 0}})
      .IdenticalTypeAndShape()
      .SetDoc("Passes on the gradient of CopyRowsToTensor, as Caffe2 does.");
  RegisterCpuOperator<CopyRowsToTensorGradientOp>("CopyRowsToTensorGradient", __FILE__);
  RegisterGradient<GetCopyRowsToTensorGradient>("CopyRowsToTensor", __FILE__);
}

}  // namespace caffe2rt
