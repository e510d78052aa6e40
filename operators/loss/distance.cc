// SquaredL2Distance, L1Distance, DotProduct, CosineSimilarity, and their gradients.

#include "operators/loss/distance.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

DistanceSize SizeOfDistance(Distance distance, IntArrayRef x, IntArrayRef y) {
  CAFFE_ENFORCE(y == x, "input 1 (Y) has shape ", y, ", want ", x, " as input 0 (X)");
  if (x.empty()) return {1, 1};
  const int64_t cols = CheckedProduct(x.slice(1));
  return {distance == Distance::kDotProduct && cols == 0 ? 0 : x[0], cols};
}

DistanceSize SizeOfDistanceGradient(Distance distance, IntArrayRef x, IntArrayRef y,
                                    IntArrayRef dz) {
  const DistanceSize size = SizeOfDistance(distance, x, y);
  CAFFE_ENFORCE(dz.size() == 1 && dz[0] == size.rows, "input 2 (dZ) has shape ", dz, ", want [",
                size.rows, "], the rows of input 0 (X) of shape ", x);
  return size;
}

namespace {

struct SquaredDifference {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    const float difference = x[i] - y[i];
    return 0.5f * (difference * difference);
  }
};
struct AbsoluteDifference {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    const float difference = x[i] - y[i];
    return difference < 0.0f ? -difference : difference;
  }
};
struct Product {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return x[i] * y[i]; }
};

template <class Term>
struct SumRows {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* y,
                                       float* z) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols) z[i] = SumOfTerms(cols, Term{x, y});
  }
};

struct CosineRows {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* y,
                                       float* z) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols) {
      const float xx = SumOfTerms(cols, Product{x, x}), yy = SumOfTerms(cols, Product{y, y});
      z[i] = SumOfTerms(cols, Product{x, y}) / (NormOf(xx) * NormOf(yy));
    }
  }
};

// The slope of a function of x - y.
struct Difference {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float y) const { return x - y; }
};
struct DifferenceSign {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float y) const { return SignOfDifference(x, y); }
};

template <class Slope>
struct DifferenceGradient {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* y,
                                       const float* dz, float* dx, float* dy) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols, dx += cols, dy += cols) {
      const float scale = dz[i];
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) {
        const float gradient = scale * Slope{}(x[j], y[j]);
        dx[j] = gradient;
        dy[j] = -gradient;
      }
    }
  }
};

struct ProductGradient {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* y,
                                       const float* dz, float* dx, float* dy) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols, dx += cols, dy += cols) {
      const float scale = dz[i];
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) {
        dx[j] = scale * y[j];
        dy[j] = scale * x[j];
      }
    }
  }
};

struct CosineGradient {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t cols, const float* x, const float* y,
                                       const float* dz, float* dx, float* dy) const {
    for (int64_t i = 0; i < rows; ++i, x += cols, y += cols, dx += cols, dy += cols) {
      const CosineSlopes slopes =
          CosineSlopes::Make(SumOfTerms(cols, Product{x, x}), SumOfTerms(cols, Product{y, y}),
                             SumOfTerms(cols, Product{x, y}), dz[i]);
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < cols; ++j) {
        dx[j] = slopes.other * y[j] - slopes.of_x * x[j];
        dy[j] = slopes.other * x[j] - slopes.of_y * y[j];
      }
    }
  }
};

}  // namespace

void RowDistances(CPUContext&, Distance distance, int64_t rows, int64_t cols, const float* x,
                  const float* y, float* z) {
  switch (distance) {
    case Distance::kSquaredL2:
      return RunSimd(SumRows<SquaredDifference>{}, rows, cols, x, y, z);
    case Distance::kL1:
      return RunSimd(SumRows<AbsoluteDifference>{}, rows, cols, x, y, z);
    case Distance::kDotProduct:
      return RunSimd(SumRows<Product>{}, rows, cols, x, y, z);
    case Distance::kCosine:
      return RunSimd(CosineRows{}, rows, cols, x, y, z);
  }
}

void RowDistancesGradient(CPUContext&, Distance distance, int64_t rows, int64_t cols,
                          const float* x, const float* y, const float* dz, float* dx, float* dy) {
  switch (distance) {
    case Distance::kSquaredL2:
      return RunSimd(DifferenceGradient<Difference>{}, rows, cols, x, y, dz, dx, dy);
    case Distance::kL1:
      return RunSimd(DifferenceGradient<DifferenceSign>{}, rows, cols, x, y, dz, dx, dy);
    case Distance::kDotProduct:
      return RunSimd(ProductGradient{}, rows, cols, x, y, dz, dx, dy);
    case Distance::kCosine:
      return RunSimd(CosineGradient{}, rows, cols, x, y, dz, dx, dy);
  }
}

namespace {

template <Distance kDistance>
std::vector<TensorShape> InferDistance(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> x = GetDimsVector(in[0]);
  const int64_t rows = SizeOfDistance(kDistance, x, x).rows;
  return {CreateTensorShape(std::vector<int64_t>{rows}, in[0].data_type())};
}

class GetDistanceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(def_.type() + "Gradient", "",
                             std::vector<std::string>{I(0), I(1), GO(0)},
                             std::vector<std::string>{GI(0), GI(1)});
  }
};

template <Distance kDistance>
void RegisterDistanceAs(const std::string& type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "[N, D..] float")
      .Input(1, "Y", "the shape of X")
      .Output(0, "Z",
              kDistance == Distance::kDotProduct
                  ? "[N]: one number for each row; [0] if the rows have no elements"
                  : "[N]: one number for each row")
      .TensorInferenceFunction(InferDistance<kDistance>)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Traits({.family = kDistance == Distance::kDotProduct ? OperatorFamily::kMatMul
                                                            : OperatorFamily::kLoss})
      .SetDoc(doc);
  RegisterCpuOperator<DistanceOp<CPUContext, kDistance>>(type, __FILE__);
  RegisterGradient<GetDistanceGradient>(type, __FILE__);

  const std::string gradient = type + "Gradient";
  RegisterSchema(gradient, __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Input(0, "X", "as in " + type)
      .Input(1, "Y", "as in " + type)
      .Input(2, "dZ", "[N]: the gradient of Z")
      .Output(0, "dX", "the gradient of X")
      .Output(1, "dY", "the gradient of Y")
      .IdenticalTypeAndShapeOfMultipleInputs({0, 1})
      .SetDoc("Computes the gradients of the inputs of " + type + ".");
  RegisterCpuOperator<DistanceGradientOp<CPUContext, kDistance>>(gradient, __FILE__);
}

}  // namespace

void RegisterDistance() {
  ForEachDistance([]<Distance kDistance>(const char* type, const char* doc) {
    RegisterDistanceAs<kDistance>(type, doc);
  });
}

}  // namespace caffe2rt
