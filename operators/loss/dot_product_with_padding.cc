#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kDotPadValue{"pad_value", 0.0f,
                                                  "the value that extends the shorter rows"};
inline constexpr ArgumentSpec<bool> kDotReplicate{
    "replicate", false,
    "1: repeat the shorter rows; the rest of a longer row after the last whole repetition counts "
    "as 0; 0: extend them by pad_value"};

namespace {

// Rows of the longer and of the shorter input.
struct PaddedRows {
  int64_t rows = 0, longer = 0, shorter = 0;
  bool x_is_longer = false;
  int64_t Repetitions() const { return shorter == 0 ? 0 : longer / shorter; }
};

PaddedRows SizeOfPaddedRows(IntArrayRef x, IntArrayRef y) {
  CAFFE_ENFORCE(!x.empty(), "input 0 (X) is a scalar, want rank 1 or more");
  CAFFE_ENFORCE(y.size() == x.size() && y[0] == x[0], "input 1 (Y) has shape ", y, ", want rank ",
                x.size(), " and ", x[0], " rows as input 0 (X) of shape ", x);
  const int64_t x_cols = CheckedProduct(x.slice(1)), y_cols = CheckedProduct(y.slice(1));
  // As in Caffe2, there are no rows if those of X have no elements.
  return {x_cols == 0 ? 0 : x[0], std::max(x_cols, y_cols), std::min(x_cols, y_cols),
          x_cols > y_cols};
}

struct PaddedProduct {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return x[i] * y[i]; }
};
struct PaddedElement {
  const float* x;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return x[i]; }
};

struct DotRows {
  PaddedRows size;
  float pad_value;
  bool replicate;
  CAFFE2RT_SIMD_INLINE void operator()(const float* a, const float* b, float* z) const {
    const int64_t shorter = size.shorter, longer = size.longer;
    const int64_t repetitions = replicate ? size.Repetitions() : 1;
    for (int64_t i = 0; i < size.rows; ++i, a += longer, b += shorter) {
      float sum = 0;
      for (int64_t k = 0; k < repetitions; ++k) {
        sum += SumOfTerms(shorter, PaddedProduct{a + k * shorter, b});
      }
      if (!replicate) {
        sum += pad_value * SumOfTerms(longer - shorter, PaddedElement{a + shorter});
      }
      z[i] = sum;
    }
  }
};

// With `replicate`, the longer rows are whole repetitions.
struct DotRowsGradient {
  PaddedRows size;
  float pad_value;
  bool replicate;
  CAFFE2RT_SIMD_INLINE void operator()(const float* a, const float* b, const float* dz, float* da,
                                       float* db) const {
    const int64_t shorter = size.shorter, longer = size.longer;
    const int64_t repetitions = replicate ? size.Repetitions() : 1;
    for (int64_t i = 0; i < size.rows; ++i) {
      const float scale = dz[i];
      for (int64_t j = 0; j < shorter; ++j) db[j] = 0;
      for (int64_t k = 0; k < repetitions; ++k) {
        const float* const part = a + k * shorter;
        float* const result = da + k * shorter;
        CAFFE2RT_SIMD_LOOP
        for (int64_t j = 0; j < shorter; ++j) {
          result[j] = scale * b[j];
          db[j] += scale * part[j];
        }
      }
      const float rest = scale * pad_value;
      for (int64_t j = repetitions * shorter; j < longer; ++j) da[j] = rest;
      a += longer;
      da += longer;
      b += shorter;
      db += shorter;
    }
  }
};

class DotProductWithPaddingOp final : public Operator<CPUContext> {
 public:
  DotProductWithPaddingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        pad_value_(ReadArgument(kDotPadValue)),
        replicate_(ReadArgument(kDotReplicate)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& Y = Input(1);
    const PaddedRows size = SizeOfPaddedRows(X.sizes(), Y.sizes());
    const float* const x = X.data<float>();
    const float* const y = Y.data<float>();
    const int64_t dims[] = {size.rows};
    float* const z = OutputData<float>(0, dims);
    RunSimd(DotRows{size, pad_value_, replicate_}, size.x_is_longer ? x : y,
            size.x_is_longer ? y : x, z);
    return true;
  }

 private:
  const float pad_value_;
  const bool replicate_;
};

class DotProductWithPaddingGradientOp final : public Operator<CPUContext> {
 public:
  DotProductWithPaddingGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        pad_value_(ReadArgument(kDotPadValue)),
        replicate_(ReadArgument(kDotReplicate)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& Y = Input(1);
    const Tensor& dZ = Input(2);
    const PaddedRows size = SizeOfPaddedRows(X.sizes(), Y.sizes());
    CAFFE_ENFORCE(dZ.dim() == 1 && dZ.dim(0) == size.rows, "input 2 (dZ) has shape ", dZ.sizes(),
                  ", want [", size.rows, "], the rows of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE(!replicate_ || size.Repetitions() * size.shorter == size.longer,
                  "rows of inputs 0 (X) and 1 (Y) have ", size.longer, " and ", size.shorter,
                  " elements, want a multiple with argument replicate");
    const float* const x = X.data<float>();
    const float* const y = Y.data<float>();
    const float* const dz = dZ.data<float>();
    float* const dx = OutputData<float>(0, X.sizes());
    float* const dy = OutputData<float>(1, Y.sizes());
    if (size.rows == 0) {  // Y may have elements, on which the result does not depend
      std::fill_n(dy, Y.numel(), 0.0f);
      return true;
    }
    const DotRowsGradient kernel{size, pad_value_, replicate_};
    if (size.x_is_longer) {
      RunSimd(kernel, x, y, dz, dx, dy);
    } else {
      RunSimd(kernel, y, x, dz, dy, dx);
    }
    return true;
  }

 private:
  const float pad_value_;
  const bool replicate_;
};

std::vector<TensorShape> InferPaddedDot(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const PaddedRows size = SizeOfPaddedRows(GetDimsVector(in[0]), GetDimsVector(in[1]));
  return {CreateTensorShape(std::vector<int64_t>{size.rows}, in[0].data_type())};
}

class GetDotProductWithPaddingGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  // As in Caffe2, the operator has its arguments twice if the forward operator has them.
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    return SingleGradientDef(
        "DotProductWithPaddingGradient", "", std::vector<std::string>{I(0), I(1), GO(0)},
        std::vector<std::string>{GI(0), GI(1)},
        std::vector<Argument>{MakeArgument(kDotPadValue.name, args.Read(kDotPadValue)),
                              MakeArgument(kDotReplicate.name, args.Read(kDotReplicate))});
  }
};

}  // namespace

void RegisterDotProductWithPadding() {
  RegisterSchema("DotProductWithPadding", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kDotPadValue, kDotReplicate)
      .Input(0, "X", "[N, D..] float")
      .Input(1, "Y", "[N, E..] float, the rank of X")
      .Output(0, "Z", "[N]: the dot product of each pair of rows; [0] if X has no elements")
      .TensorInferenceFunction(InferPaddedDot)
      .SetDoc(
          "Computes the dot product of each row of X and the same row of Y. If they have different "
          "lengths, the shorter ones are extended by pad_value, or repeated with replicate.");
  RegisterCpuOperator<DotProductWithPaddingOp>("DotProductWithPadding", __FILE__);
  RegisterGradient<GetDotProductWithPaddingGradient>("DotProductWithPadding", __FILE__);

  RegisterSchema("DotProductWithPaddingGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Args(kDotPadValue, kDotReplicate)
      .Input(0, "X", "as in DotProductWithPadding")
      .Input(1, "Y", "as in DotProductWithPadding")
      .Input(2, "dZ", "[N]: the gradient of Z")
      .Output(0, "dX", "the gradient of X")
      .Output(1, "dY", "the gradient of Y")
      .IdenticalTypeAndShapeOfMultipleInputs({0, 1})
      .SetDoc(
          "Computes the gradients of the inputs of DotProductWithPadding. With replicate, the "
          "longer rows must be a multiple of the shorter ones.");
  RegisterCpuOperator<DotProductWithPaddingGradientOp>("DotProductWithPaddingGradient", __FILE__);
}

}  // namespace caffe2rt
