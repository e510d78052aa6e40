// RMSNorm: divides the elements from `axis` on by their root mean square (Zhang and Sennrich 2019).
//   X [M.., N..], gamma, beta of N elements, float or double
//   ->  Y = X * rrms * gamma + beta, rrms = 1 / sqrt(mean of X^2 + eps) [M..]
// RMSNormGradient: dY, X, gamma, rrms  ->  dX, dgamma, dbeta

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kRmsNormAxis{
    "axis", 1, "first of the axes to normalize; a negative axis counts from the end"};
constexpr ArgumentSpec<float> kRmsNormEps{"eps",
                                          0.0f,
                                          "added to the mean of the squares, at least 0",
                                          {[](float eps) { return eps >= 0; }, "at least 0"}};
constexpr ArgumentSpec<float> kRmsNormEpsilon{"epsilon", 0.0f, "not used, as in Caffe2: see eps"};

// The sum of a[i] * b[i]. The sums of a block are formed in T, those of the blocks in double.
template <class T>
struct BlockProduct {
  const T *a, *b;
  CAFFE2RT_SIMD_INLINE T operator()(int64_t i) const { return a[i] * b[i]; }
};
struct SumOfProducts {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(const T* a, const T* b, int64_t n, double* total) const {
    constexpr int64_t kBlock = 4096;
    *total = 0;
    for (int64_t i = 0; i < n; i += kBlock) {
      *total += static_cast<double>(
          SumOfTerms<T>(std::min(kBlock, n - i), BlockProduct<T>{a + i, b + i}));
    }
  }
};
// Their mean, 0 if there are none.
template <class T>
double MeanOfProducts(const T* a, const T* b, int64_t n) {
  double total;
  RunSimd(SumOfProducts{}, a, b, n, &total);
  return n > 0 ? total / static_cast<double>(n) : 0;
}

class RmsNormOp final : public Operator<CPUContext> {
 public:
  RmsNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kRmsNormAxis)),
        eps_(ReadArgument(kRmsNormEps)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double>(Input(0).dtype(), "input 0 (X)", [this](auto element) {
      return Normalize<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool Normalize() {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X) of shape ", X.sizes(), ", want at least 2");
    const int axis = X.canonical_axis_index(axis_);
    const int64_t rows = X.size_to_dim(axis), n = X.size_from_dim(axis);
    for (int i = 1; i < 3; ++i) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), n, "elements of input ", i,
                       i == 1 ? " (gamma)" : " (beta)", ", want those of input 0 (X) of shape ",
                       X.sizes(), " from axis ", axis);
    }
    const T *gamma = Input(1).data<T>(), *beta = Input(2).data<T>(), *x = X.data<T>();
    rrms_dims_.assign(X.dims().begin(), X.dims().begin() + axis);
    T* y = OutputData<T>(0, X.sizes());
    T* const rrms = OutputData<T>(1, rrms_dims_);
    for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
      rrms[r] = static_cast<T>(1 / std::sqrt(MeanOfProducts(x, x, n) + double{eps_}));
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] * rrms[r] * gamma[i] + beta[i];
    }
    return true;
  }

  const int axis_;
  const float eps_;
  std::vector<int64_t> rrms_dims_;
};

class RmsNormGradientOp final : public Operator<CPUContext> {
 public:
  RmsNormGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kRmsNormAxis)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double>(Input(1).dtype(), "input 1 (X)", [this](auto element) {
      return Differentiate<decltype(element)>();
    });
  }

 private:
  template <class T>
  const T* Elements(int i, const char* name, int64_t count) const {
    CAFFE_ENFORCE_EQ(Input(i).numel(), count, "elements of input ", i, " (", name, ") of shape ",
                     Input(i).sizes(), ", for input 1 (X) of shape ", Input(1).sizes(),
                     " and axis ", axis_);
    return Input(i).template data<T>();
  }

  template <class T>
  bool Differentiate() {
    const Tensor& X = Input(1);
    const int axis = X.canonical_axis_index(axis_);
    const int64_t rows = X.size_to_dim(axis), n = X.size_from_dim(axis);
    const T* dy = Elements<T>(0, "dY", X.numel());
    const T* const gamma = Elements<T>(2, "gamma", n);
    const T* const rrms = Elements<T>(3, "rrms", rows);
    const T* x = X.data<T>();
    T* dx = OutputData<T>(0, X.sizes());
    T* const dgamma = OutputData<T>(1, Input(2).sizes());
    T* const dbeta = OutputData<T>(2, Input(2).sizes());
    std::fill_n(dgamma, n, T{0});
    std::fill_n(dbeta, n, T{0});
    for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
      for (int64_t i = 0; i < n; ++i) {
        dx[i] = dy[i] * gamma[i];
        dgamma[i] += dy[i] * x[i] * rrms[r];
        dbeta[i] += dy[i];
      }
      const double mean = MeanOfProducts(static_cast<const T*>(dx), x, n);
      const T slope = static_cast<T>(mean) * (rrms[r] * rrms[r] * rrms[r]);
      for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * rrms[r] * gamma[i] - x[i] * slope;
    }
    return true;
  }

  const int axis_;
};

class GetRmsNormGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("RMSNormGradient", "", {GO(0), I(0), I(1), O(1)},
                             {GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void RegisterRmsNorm() {
  RegisterSchema("RMSNorm", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Args(kRmsNormAxis, kRmsNormEps, kRmsNormEpsilon)
      .Input(0, "input", "[M.., N..], float or double, where N.. begins at axis")
      .Input(1, "gamma", "scales, as many as a row has elements")
      .Input(2, "beta", "biases, as many as a row has elements")
      .Output(0, "output", "the shape of the input")
      .Output(1, "rrms", "1 / sqrt(mean of the squares + eps) of each row, [M..]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X), want at least 2");
        dims.resize(static_cast<size_t>(canonical_axis_index_(
            ArgumentHelper(def).Read(kRmsNormAxis), static_cast<int>(dims.size()))));
        return std::vector<TensorShape>{in[0], CreateTensorShape(dims, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<5>)
      .SetDoc(
          "Root mean square normalization: x / sqrt(mean of x^2 + eps) * gamma + beta, where the "
          "mean is computed over all dimensions from axis on.");
  RegisterCpuOperator<RmsNormOp>("RMSNorm", __FILE__);

  RegisterSchema("RMSNormGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(3)
      .Args(kRmsNormAxis, kRmsNormEps, kRmsNormEpsilon)
      .Input(0, "dY", "gradient of output")
      .Input(1, "X", "input of RMSNorm")
      .Input(2, "gamma", "scales")
      .Input(3, "rrms", "output 1 of RMSNorm")
      .Output(0, "dX", "gradient of X")
      .Output(1, "dgamma", "gradient of gamma")
      .Output(2, "dbeta", "gradient of beta, the shape of gamma")
      .IdenticalTypeAndShapeOfMultipleInputs({1, 2, 2})
      .CostInferenceFunction(PointwiseCostInference<9>)
      .SetDoc("Computes the gradients of RMSNorm.");
  RegisterCpuOperator<RmsNormGradientOp>("RMSNormGradient", __FILE__);
  RegisterGradient<GetRmsNormGradient>("RMSNorm", __FILE__);
}

}  // namespace caffe2rt
