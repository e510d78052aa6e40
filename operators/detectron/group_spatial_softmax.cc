#include "operators/detectron/group_spatial_softmax.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

int ReadGroupSoftmaxClasses(const ArgumentHelper& args) {
  CAFFE_ENFORCE(ReadStorageOrder(args) == StorageOrder::NCHW,
                "argument \"order\" is \"NHWC\", want NCHW");
  return args.Read(kGroupSoftmaxClasses);
}

namespace {

// Processes `n` adjacent positions; channels are `step` floats apart.
CAFFE2RT_SIMD void SoftmaxGradientOfPositions(int64_t n, int64_t channels, int64_t step,
                                              const float* y, const float* dy, float* sums,
                                              float* dx) {
  for (int64_t i = 0; i < n; ++i) sums[i] = 0;
  for (int64_t c = 0; c < channels; ++c) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) sums[i] += y[c * step + i] * dy[c * step + i];
  }
  for (int64_t c = 0; c < channels; ++c) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i)
      dx[c * step + i] = (dy[c * step + i] - sums[i]) * y[c * step + i];
  }
}

class GetGroupSpatialSoftmaxGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("GroupSpatialSoftmaxGradient", "", {O(0), GO(0)}, {GI(0)});
  }
};

}  // namespace

void SoftmaxChannelsGradient(CPUContext&, int64_t batch, int64_t channels, int64_t positions,
                             const float* y, const float* dy, float* dx) {
  constexpr int64_t kTile = 512;  // positions that are processed together
  float sums[kTile];
  for (int64_t item = 0; item < batch; ++item) {
    for (int64_t start = 0; start < positions; start += kTile) {
      const int64_t at = item * channels * positions + start;
      SoftmaxGradientOfPositions(std::min(kTile, positions - start), channels, positions, y + at,
                                 dy + at, sums, dx + at);
    }
  }
}

void RegisterGroupSpatialSoftmax() {
  RegisterSchema("GroupSpatialSoftmax", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kGroupSoftmaxClasses, kStorageOrder)
      .Input(0, "scores", "[N, A * num_classes, H, W] float")
      .Output(0, "probabilities", "the shape of scores")
      .IdenticalTypeAndShape()
      .Traits({.family = OperatorFamily::kActivation})
      .SetDoc("Computes the softmax over each group of num_classes channels at each position.");
  RegisterSchema("GroupSpatialSoftmaxGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kGroupSoftmaxClasses, kStorageOrder)
      .Input(0, "probabilities", "the output of GroupSpatialSoftmax")
      .Input(1, "d_probabilities", "their gradient")
      .Output(0, "d_scores", "the gradient of the scores")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of GroupSpatialSoftmax.");
  RegisterCpuOperator<GroupSpatialSoftmaxOp<CPUContext>>("GroupSpatialSoftmax", __FILE__);
  RegisterCpuOperator<GroupSpatialSoftmaxGradientOp<CPUContext>>("GroupSpatialSoftmaxGradient",
                                                                 __FILE__);
  RegisterGradient<GetGroupSpatialSoftmaxGradient>("GroupSpatialSoftmax", __FILE__);
}

}  // namespace caffe2rt
