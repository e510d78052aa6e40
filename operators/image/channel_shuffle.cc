#include "operators/image/channel_shuffle.h"

#include <cstring>
#include <string>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void InterleaveTwo(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[2 * i] = x[i];
    y[2 * i + 1] = x[n + i];
  }
}

void InterleavePixel(const float* x, int64_t group, int64_t per_group, float* y) {
  if (group == 2) {
    InterleaveTwo(x, per_group, y);
    return;
  }
  for (int64_t g = 0; g < group; ++g, x += per_group) {
    for (int64_t i = 0; i < per_group; ++i) y[i * group + g] = x[i];
  }
}

// Caffe2 accepts all window arguments.
void DeclareUnusedArguments(OpSchema& schema) {
  for (const char* name :
       {"kernels",       "kernel",          "kernel_h",     "kernel_w",   "strides",
        "stride",        "stride_h",        "stride_w",     "pads",       "pad",
        "pad_t",         "pad_l",           "pad_b",        "pad_r",      "dilations",
        "dilation",      "dilation_h",      "dilation_w",   "legacy_pad", "global_pooling",
        "shared_buffer", "float16_compute", "deterministic"}) {
    schema.Arg(name, "has no effect");
  }
}

class GetChannelShuffleGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ChannelShuffleGradient", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void InterleaveChannels(CPUContext&, int64_t outer, int64_t channels, int64_t inner, int64_t group,
                        const float* x, float* y) {
  const int64_t per_group = channels / group;
  if (inner == 1) {
    ParallelRanges(outer, channels, [&](int64_t first, int64_t last) {
      for (int64_t at = first * channels; at < last * channels; at += channels) {
        InterleavePixel(x + at, group, per_group, y + at);
      }
    });
    return;
  }
  const size_t plane_bytes = static_cast<size_t>(inner) * sizeof(float);
  ParallelRanges(outer * channels, inner, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t image = p / channels, c = p % channels;
      const int64_t source = c % group * per_group + c / group;
      std::memcpy(y + p * inner, x + (image * channels + source) * inner, plane_bytes);
    }
  });
}

void RegisterChannelShuffle() {
  OpSchema& schema = RegisterSchema("ChannelShuffle", __FILE__)
                         .NumInputs(1)
                         .NumOutputs(1)
                         .Args(kShuffleGroup, kStorageOrder)
                         .Input(0, "X", "[N, C, *] or [N, *, C]")
                         .Output(0, "Y", "the shape of X")
                         .IdenticalTypeAndShape()
                         .InheritOnnxSchema("ChannelShuffle")
                         .Traits({.family = OperatorFamily::kShape,
                                  .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kNchw}})
                         .SetDoc("Splits the channels into groups and interleaves them.");
  DeclareUnusedArguments(schema);
  RegisterCpuOperator<ChannelShuffleOp<CPUContext, false>>("ChannelShuffle", __FILE__);

  OpSchema& gradient =
      RegisterSchema("ChannelShuffleGradient", __FILE__)
          .NumInputs(1)
          .NumOutputs(1)
          .Args(kShuffleGroup, kStorageOrder)
          .Input(0, "dY", "the gradient of the output of ChannelShuffle")
          .Output(0, "dX", "the gradient of its input, the shape of dY")
          .IdenticalTypeAndShape()
          .SetDoc("The gradient of ChannelShuffle: moves the channels back to their places.");
  DeclareUnusedArguments(gradient);
  RegisterCpuOperator<ChannelShuffleOp<CPUContext, true>>("ChannelShuffleGradient", __FILE__);
  RegisterGradient<GetChannelShuffleGradient>("ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
