// AveragePool, AveragePool1D, AveragePool2D, AveragePool3D, LpPool and their gradients on CUDA.

#include <cmath>

#include "operators/pool/windows.cuh"

namespace caffe2rt {

namespace {

// Sums in double, so that large windows do not lose precision.
struct Mean {
  using State = double;
  using Join = Plus;
  static constexpr const char* kName = "AveragePool";

  bool include_pad;
  float kernel_rows, kernel_columns;

  CAFFE2RT_HOST_DEVICE double Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE void Add(float x, double& sum) const { sum += x; }
  CAFFE2RT_HOST_DEVICE float Finish(double sum, float rows, float columns) const {
    const float count = include_pad ? kernel_columns * kernel_rows : columns * rows;
    return static_cast<float>(sum / count);
  }
  CAFFE2RT_HOST_DEVICE float FinishRun(double sum, const float*, int64_t n) const {
    return static_cast<float>(sum / static_cast<double>(n));
  }
};

struct MeanGradient {
  using Value = float;
  static constexpr const char* kName = "AveragePoolGradient";

  bool include_pad;
  float kernel_size;

  CAFFE2RT_HOST_DEVICE float Start() const { return 0; }
  template <class Term>
  CAFFE2RT_HOST_DEVICE void Add(const Term& term, float& sum) const {
    sum += term.dy / (include_pad ? kernel_size : static_cast<float>(term.rows * term.columns));
  }
  CAFFE2RT_HOST_DEVICE float Finish(float sum, float) const { return sum; }
};

// (sum of |x|^p)^(1/p).
struct Norm {
  using State = double;
  using Join = Plus;
  static constexpr const char* kName = "LpPool";

  float p;

  CAFFE2RT_HOST_DEVICE double Start() const { return 0; }
  CAFFE2RT_HOST_DEVICE void Add(float x, double& sum) const {
    sum += p == 2 ? x * x : powf(fabsf(x), p);
  }
  CAFFE2RT_HOST_DEVICE float Finish(double sum, float, float) const {
    const float total = static_cast<float>(sum);
    return p == 2 ? sqrtf(total) : powf(total, 1 / p);
  }
  CAFFE2RT_HOST_DEVICE float FinishRun(double sum, const float*, int64_t) const {
    return Finish(sum, 0, 0);
  }
};

struct NormGradient {
  using Value = float;
  static constexpr const char* kName = "LpPoolGradient";

  float p;

  CAFFE2RT_HOST_DEVICE float Start() const { return 0; }
  template <class Term>
  CAFFE2RT_HOST_DEVICE void Add(const Term& term, float& sum) const {
    sum += term.dy / (p == 2 ? term.y : powf(term.y, p - 1));
  }
  CAFFE2RT_HOST_DEVICE float Finish(float sum, float x) const {
    return sum * (p == 2 ? x : x * powf(fabsf(x), p - 2));
  }
};

}  // namespace

void RunMeanPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y) {
  const float rows = static_cast<float>(plan.axis[0].kernel * plan.axis[1].kernel);
  const Mean mean{plan.include_pad, rows, static_cast<float>(plan.axis[2].kernel)};
  internal::RunPool(context, plan, mean, x, y);
}

void RunMeanPoolGradient(CUDAContext& context, const PoolPlan& plan, const PoolGradientData& data) {
  float kernel_size = 1;
  for (const WindowAxis& axis : plan.axis) kernel_size *= static_cast<float>(axis.kernel);
  internal::RunPoolGradient(context, plan, MeanGradient{plan.include_pad, kernel_size}, data);
}

void RunLpPool(CUDAContext& context, const PoolPlan& plan, float p, const float* x, float* y) {
  internal::RunPool(context, plan, Norm{p}, x, y);
}

void RunLpPoolGradient(CUDAContext& context, const PoolPlan& plan, float p,
                       const PoolGradientData& data) {
  internal::RunPoolGradient(context, plan, NormGradient{p}, data);
}

}  // namespace caffe2rt
