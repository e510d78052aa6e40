// Trilu: ONNX's operator (opset 14): the upper or lower triangle of matrices, 0 elsewhere.
//   X [..., M, N], k (argument, or one int32 or int64 as input 1)  ->  Y, the shape of X
//
// The diagonal k is kept: 0 is the main one, positive ones lie above it.

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kTriluUpper{"upper", true,
                                         "1: keeps the upper triangle; 0: the lower one"};
constexpr ArgumentSpec<int64_t> kTriluDiagonal{
    "k", 0, "the diagonal that ends the triangle; positive ones lie above the main diagonal"};

class TriluOp final : public Operator<CPUContext> {
 public:
  TriluOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        upper_(ReadArgument(kTriluUpper)),
        diagonal_(ReadArgument(kTriluDiagonal)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X)");
    const int64_t k = IntegerOf(*this, 1, "input 1 (k)", diagonal_);
    Tensor* const Y = Output(0);
    Y->Resize(X.sizes());
    void* const y = OutputMemory(Y, X.dtype());
    if (X.numel() == 0) return true;
    const int64_t height = X.dim(X.dim() - 2), width = X.dim(X.dim() - 1);
    // Diagonals outside the matrix keep all or nothing.
    const int64_t diagonal = std::clamp(k, -height - 1, width + 1);
    DispatchBySize(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* const x = static_cast<const T*>(X.raw_data());
      T* const out = static_cast<T*>(y);
      ParallelRanges(X.numel() / width, width, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          // Columns [cut, width) are above the diagonal or on it; of the lower triangle, after it.
          const int64_t cut =
              std::clamp<int64_t>(row % height + diagonal + (upper_ ? 0 : 1), 0, width);
          const T* const from = x + row * width;
          T* const to = out + row * width;
          if (upper_) {
            std::fill_n(to, cut, T{});
            if (to != from) std::copy(from + cut, from + width, to + cut);
          } else {
            if (to != from) std::copy_n(from, cut, to);
            std::fill(to + cut, to + width, T{});
          }
        }
      });
    });
    return true;
  }

 private:
  const bool upper_;
  const int64_t diagonal_;
};

class GetTriluGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {GO(0)};
    if (def_.input_size() > 1) inputs.push_back(I(1));
    return SingleGradientDef("Trilu", "", inputs, {GI(0)});
  }
};

}  // namespace

void RegisterTrilu() {
  RegisterSchema("Trilu", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kTriluUpper, kTriluDiagonal)
      .Input(0, "X", "[..., M, N], of any type")
      .Input(1, "k", "(optional) one int32 or int64: the diagonal, instead of the argument")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc(
          "Keeps the upper or the lower triangle of the matrices in the last two dimensions, and "
          "sets "
          "the other elements to 0, as ONNX's Trilu does.");
  RegisterCpuOperator<TriluOp>("Trilu", __FILE__);
  RegisterGradient<GetTriluGradient>("Trilu", __FILE__);
}

}  // namespace caffe2rt
