// SpatialBN on IDEEP, in test mode only, in the layout of X. The parameters are on the CPU.

#include <cmath>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/channel_functions.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_planes.h"
#include "operators/norm/spatial_bn.h"

namespace caffe2rt {

namespace {

// y = x * factor + term.
struct FactorsOfBatchNorm {
  CAFFE2RT_SIMD_INLINE void operator()(const BatchNormTest* parameters, int64_t n, float* factor,
                                       float* term) const {
    const BatchNormTest p = *parameters;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) {
      factor[i] = p.scale[i] / __builtin_sqrtf(p.var[i] + p.epsilon);
      term[i] = p.bias[i] - p.mean[i] * factor[i];
    }
  }
};

class SpatialBNOnednnOp final : public Operator<IDEEPContext> {
 public:
  SpatialBNOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), epsilon_(ReadArgument(kSpatialBnEpsilon)) {
    CAFFE_ENFORCE(ReadArgument(kSpatialBnIsTest),
                  "argument is_test is 0, want 1: IDEEP is for inference");
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
    CAFFE_ENFORCE_EQ(OutputSize(), 1, "outputs with is_test 1");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (!input_.Matches(X)) Plan(X);
    const ChannelPlanes& planes = input_.planes();
    const int64_t channels = planes.channels;
    const auto vector = [&](int i, const char* name) {
      return ChannelVector(parameters_[i - 1].Read(*this, i), i, name, channels);
    };
    const BatchNormTest parameters{.epsilon = epsilon_,
                                   .scale = vector(1, "scale"),
                                   .bias = vector(2, "bias"),
                                   .mean = vector(3, "mean"),
                                   .var = vector(4, "var")};
    RunSimd(FactorsOfBatchNorm{}, &parameters, channels, factor_.data(), term_.data());
    const float* const x = input_.Read(X);
    Tensor* Y = Output(0);
    const InplaceInput kept(X, Y);
    float* const y = PrepareOutput(Y, X.dims(), layout_);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    MapChannels(planes, ScaleAndShift{-kInfinity}, factor_.data(), term_.data(), 0, x, y);
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Plan(0, X);
    layout_ = LayoutOf(input_.planes());
    // The padding of the last block keeps factor and term 0.
    factor_.assign(static_cast<size_t>(input_.planes().padded_channels()), 0.0f);
    term_ = factor_;
  }

  const float epsilon_;
  PlanesInput input_;
  HostInput parameters_[4];
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> factor_, term_;
};

}  // namespace

void RegisterSpatialBnIdeep() { RegisterOperator<SpatialBNOnednnOp>(IDEEP, "SpatialBN", __FILE__); }

}  // namespace caffe2rt
