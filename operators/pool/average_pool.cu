// AveragePool, AveragePool1D, AveragePool2D, AveragePool3D on CUDA.

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

}  // namespace

void RunMeanPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y) {
  const float rows = static_cast<float>(plan.axis[0].kernel * plan.axis[1].kernel);
  const Mean mean{plan.include_pad, rows, static_cast<float>(plan.axis[2].kernel)};
  internal::RunPool(context, plan, mean, x, y);
}

}  // namespace caffe2rt
