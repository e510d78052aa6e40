// RowMul: multiplies each row of a matrix by a number.
//   mat [N, *], w with N elements, float  ->  [N, *], output[n] = mat[n] * w[n]
//
// Its gradients are dmat = RowMul(doutput, w), and dw = the sums of the rows of doutput * mat.
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

class RowMulOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& mat = Input(0);
    const Tensor& w = Input(1);
    CAFFE_ENFORCE_GE(mat.dim(), 1, "rank of input 0 (mat), want at least 1");
    const int64_t rows = mat.dim(0), columns = mat.size_from_dim(1);
    CAFFE_ENFORCE_EQ(w.numel(), rows, "elements of input 1 (w), want the rows of input 0 (mat)");
    RequireElements<float>(mat);
    const float* const scale = w.data<float>();
    const float* x = mat.data<float>();
    float* y = OutputData<float>(0, mat.sizes());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) *y++ = *x++ * scale[i];
    }
    return true;
  }
};

class GetRowMulGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const auto op = [](const char* type, std::vector<std::string> inputs,
                       const std::string& output) {
      return CreateOperatorDef(type, "", inputs, std::vector<std::string>{output});
    };
    const std::string product = GI(1) + "before_aggregate";
    return {op("RowMul", {GO(0), I(1)}, GI(0)), op("Mul", {GO(0), I(0)}, product),
            op("ReduceTailSum", {product}, GI(1))};
  }
};

}  // namespace

void RegisterRowMul() {
  RegisterSchema("RowMul", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "mat", "[N, *], float")
      .Input(1, "w", "N elements, float: the factor of each row")
      .Output(0, "output", "[N, *]: mat[n] * w[n]")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Multiplies each row of a matrix by a number.");
  RegisterCpuOperator<RowMulOp>("RowMul", __FILE__);
  RegisterGradient<GetRowMulGradient>("RowMul", __FILE__);
}

}  // namespace caffe2rt
