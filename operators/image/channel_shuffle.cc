#include "operators/image/channel_shuffle.h"

#include <cstring>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/conv_geometry.h"

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

}  // namespace

void InterleaveChannels(CPUContext&, const Channels& shape, int64_t group, const float* x,
                        float* y) {
  const int64_t per_group = shape.count / group;
  if (shape.last || shape.positions == 1) {
    for (int64_t p = 0; p < shape.batch * shape.positions; ++p) {
      InterleavePixel(x + p * shape.count, group, per_group, y + p * shape.count);
    }
    return;
  }
  const size_t plane_bytes = static_cast<size_t>(shape.positions) * sizeof(float);
  for (int64_t n = 0; n < shape.batch; ++n, x += shape.count * shape.positions) {
    for (int64_t i = 0; i < per_group; ++i) {
      for (int64_t g = 0; g < group; ++g, y += shape.positions) {
        std::memcpy(y, x + (g * per_group + i) * shape.positions, plane_bytes);
      }
    }
  }
}

void RegisterChannelShuffle() {
  OpSchema& schema = RegisterSchema("ChannelShuffle", __FILE__)
                         .NumInputs(1)
                         .NumOutputs(1)
                         .Input(0, "X", "[N, C, *] or [N, *, C]")
                         .Output(0, "Y", "the shape of X")
                         .IdenticalTypeAndShape()
                         .InheritOnnxSchema("ChannelShuffle")
                         .SetDoc(
                             "Splits the channels into groups and interleaves them. Of the "
                             "arguments only group and order have an effect.");
  DeclareWindowArguments(schema, WindowUse::kPool);
  RegisterCpuOperator<ChannelShuffleOp<CPUContext>>("ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
