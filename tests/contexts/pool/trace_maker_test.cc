#include "contexts/pool/trace_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "contexts/pool/net_shapes.h"

namespace caffe2rt::trace_maker_test {
namespace {

using internal::Layer;
using Kind = TraceEntry::Kind;

size_t Weights(const std::vector<Layer>& layers) {
  size_t bytes = 0;
  for (const Layer& layer : layers) bytes += layer.weight_bytes;
  return bytes / 4;
}

TEST(TraceMakerTest, NetsHaveTheirPublishedNumberOfWeights) {
  // LeNet: 520 + 25050 + 400500 + 5010. ResNet-50: as published with its ImageNet weights.
  EXPECT_EQ(Weights(internal::LeNetLayers(64)), 431080u);
  EXPECT_EQ(Weights(internal::ResNet50Layers(1)), 25557032u);
}

TEST(TraceMakerTest, LayersHaveTheirPublishedShapes) {
  const std::vector<Layer> lenet = internal::LeNetLayers(64);
  EXPECT_EQ(lenet[1].output_bytes, size_t{64} * 20 * 24 * 24 * 4);
  EXPECT_EQ(lenet[4].output_bytes, size_t{64} * 50 * 4 * 4 * 4);
  const std::vector<Layer> resnet = internal::ResNet50Layers(2);
  EXPECT_EQ(resnet[1].output_bytes, size_t{2} * 64 * 112 * 112 * 4);
  EXPECT_EQ(resnet[3].output_bytes, size_t{2} * 64 * 56 * 56 * 4);
  EXPECT_EQ(resnet.back().output_bytes, size_t{2} * 1000 * 4);
  // 53 convolutions, 53 batch normalizations and one FC have weights.
  EXPECT_EQ(std::count_if(resnet.begin(), resnet.end(),
                          [](const Layer& layer) { return layer.weight_bytes != 0; }),
            107);
}

TEST(TraceMakerTest, StepsEndWithWeightsAndMomentumOnly) {
  for (const Trace& trace :
       {LeNetTrainingTrace(4, 3), ResNet50TrainingTrace(1, 2), TwoStreamTrainingTrace(1, 2)}) {
    std::set<uint32_t> in_use;
    for (const TraceEntry& entry : trace.entries) {
      if (entry.kind == Kind::kAllocate) {
        EXPECT_TRUE(in_use.insert(entry.id).second);
      } else if (entry.kind != Kind::kWait) {
        EXPECT_EQ(in_use.count(entry.id), 1u);
      }
      if (entry.kind == Kind::kFree) in_use.erase(entry.id);
    }
    const bool lenet = trace.name == "lenet_training";
    EXPECT_EQ(in_use.size(), lenet ? 2 * 4u : 2 * 107u) << trace.name;
  }
}

// A column per output for each of the weights of a filter: 25 x 24 x 24 and 20 x 25 x 8 x 8 floats.
TEST(TraceMakerTest, ConvolutionsUseAWorkspaceInBothPasses) {
  const Trace trace = LeNetTrainingTrace(7, 1);
  const auto allocations = [&](size_t bytes) {
    return std::count_if(trace.entries.begin(), trace.entries.end(), [&](const TraceEntry& entry) {
      return entry.kind == Kind::kAllocate && entry.bytes == bytes;
    });
  };
  EXPECT_EQ(allocations(57600), 2);   // forward, gradient of the weights
  EXPECT_EQ(allocations(128000), 3);  // gradient of the input, too
}

TEST(TraceMakerTest, FixedShapesRepeatStepByStep) {
  // The first step also allocates the weights and the momentum. Ids may differ from step to step.
  const Trace one = LeNetTrainingTrace(8, 1), two = LeNetTrainingTrace(8, 2),
              three = LeNetTrainingTrace(8, 3);
  const size_t step = two.entries.size() - one.entries.size();
  EXPECT_EQ(one.entries.size(), step + 2 * 4);
  ASSERT_EQ(three.entries.size(), two.entries.size() + step);
  for (size_t i = 0; i < step; ++i) {
    const TraceEntry &a = three.entries[one.entries.size() + i],
                     &b = three.entries[two.entries.size() + i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.bytes, b.bytes);
  }
}

TEST(TraceMakerTest, TheSameSeedGivesTheSameTrace) {
  EXPECT_EQ(RandomTrace({.seed = 3}).entries, RandomTrace({.seed = 3}).entries);
  EXPECT_NE(RandomTrace({.seed = 3}).entries, RandomTrace({.seed = 4}).entries);
  EXPECT_EQ(VariableBatchTrace(1, 8, 2, 5).entries, VariableBatchTrace(1, 8, 2, 5).entries);
}

TEST(TraceMakerTest, StandardTracesCoverWhatPoolsMeet) {
  std::set<std::string> names;
  size_t fixed = 0, two_streams = 0;
  for (const Trace& trace : StandardTraces()) {
    EXPECT_TRUE(names.insert(trace.name).second) << trace.name;
    fixed += trace.fixed_shapes ? 1 : 0;
    two_streams += trace.StreamCount() == 2 ? 1 : 0;
  }
  EXPECT_EQ(fixed, 4u);
  EXPECT_EQ(two_streams, 3u);
}

}  // namespace
}  // namespace caffe2rt::trace_maker_test
