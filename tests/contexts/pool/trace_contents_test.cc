// The entries of the generated traces: what a step allocates and frees, in which order and on which
// stream, and the bounds of random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "contexts/pool/net_shapes.h"
#include "contexts/pool/trace_maker.h"

namespace caffe2rt::trace_contents_test {
namespace {

using internal::Layer;
using Kind = TraceEntry::Kind;

// The bytes that are allocated, and -bytes of what is freed; 0 for a wait.
std::vector<int64_t> BytesOf(const Trace& trace) {
  std::map<uint32_t, int64_t> sizes;
  std::vector<int64_t> bytes;
  for (const TraceEntry& entry : trace.entries) {
    if (entry.kind == Kind::kAllocate) sizes[entry.id] = static_cast<int64_t>(entry.bytes);
    bytes.push_back(entry.kind == Kind::kAllocate ? sizes[entry.id]
                    : entry.kind == Kind::kFree   ? -sizes[entry.id]
                                                  : 0);
  }
  return bytes;
}

// LeNet with one image. The weights are 20 x 26, 50 x 501, 500 x 801 and 10 x 501 floats.
TEST(TraceContentsTest, AStepAllocatesAndFreesInTheOrderOfTraining) {
  const int64_t w1 = 2080, w3 = 100200, w5 = 1602000, w6 = 20040;
  // The images, the outputs of convolutions and pools, and those of FC 500, FC 10 and the softmax.
  const int64_t y0 = 3136, y1 = 46080, y2 = 11520, y3 = 12800, y4 = 3200, y5 = 2000, y6 = 40;
  const int64_t columns1 = 57600, columns3 = 128000;
  const std::vector<int64_t> first = {w1, w3, w5, w6};
  const std::vector<int64_t> passes = {
      y0, y1, columns1, -columns1, y2, y3, columns3, -columns3, y4, y5, y6, y6,  // forward
      y6,                                                                        // of the softmax
      y6, -y6, -y6,                                                              // its input's
      w6, y5, -y6, -y6,                                                          //
      w5, y4, -y5, -y5,                                                          //
      y3, -y4, -y4,                                                              //
      columns3, -columns3, w3, columns3, -columns3, y2, -y3, -y3,                //
      y1, -y2, -y2,                                                              //
      columns1, -columns1, w1, -y1, -y1, -y0};
  std::vector<int64_t> want = first, second;
  want.insert(want.end(), passes.begin(), passes.end());
  for (const int64_t w : first) want.insert(want.end(), {w, w, -w, -w});  // momentum, step, both
  want.push_back(0);
  EXPECT_EQ(BytesOf(LeNetTrainingTrace(1, 1)), want);
  want.insert(want.end(), passes.begin(), passes.end());
  for (const int64_t w : first) want.insert(want.end(), {w, -w, -w});
  want.push_back(0);
  const Trace two = LeNetTrainingTrace(1, 2);
  EXPECT_EQ(BytesOf(two), want);
  for (const TraceEntry& entry : two.entries) EXPECT_EQ(entry.stream, 0);
  EXPECT_EQ(two.name, "lenet_training");
}

struct WantedLayer {
  std::vector<size_t> inputs;
  size_t channels, side;
  size_t weights = 0;    // floats
  size_t columns = 0;    // floats of the workspace
  bool is_norm = false;  // which saves as many floats as it has weights
};

// Table 1 of He et al. 2015, with a projection in the first block of each stage.
std::vector<WantedLayer> WantedResNet50() {
  std::vector<WantedLayer> net = {{{}, 3, 224},
                                  {{0}, 64, 112, 64 * 147, size_t{147} * 112 * 112},
                                  {{1}, 64, 112, 128, 0, true},
                                  {{2}, 64, 56}};
  size_t x = 3, channels = 64;
  const size_t blocks[] = {3, 4, 6, 3};
  for (size_t stage = 0; stage < 4; ++stage) {
    const size_t width = size_t{64} << stage, side = size_t{56} >> stage;
    for (size_t block = 0; block < blocks[stage]; ++block) {
      const size_t n = net.size(), before = stage > 0 && block == 0 ? 2 * side : side;
      net.push_back({{x}, width, before, width * channels});
      net.push_back({{n}, width, before, 2 * width, 0, true});
      net.push_back({{n + 1}, width, side, 9 * width * width, 9 * width * side * side});
      net.push_back({{n + 2}, width, side, 2 * width, 0, true});
      net.push_back({{n + 3}, 4 * width, side, 4 * width * width});
      net.push_back({{n + 4}, 4 * width, side, 8 * width, 0, true});
      if (block == 0) {
        net.push_back({{x}, 4 * width, side, 4 * width * channels});
        net.push_back({{n + 6}, 4 * width, side, 8 * width, 0, true});
      }
      net.push_back({{n + 5, block == 0 ? n + 7 : x}, 4 * width, side});
      x = net.size() - 1;
      channels = 4 * width;
    }
  }
  net.push_back({{x}, 2048, 1});
  net.push_back({{x + 1}, 1000, 1, 1000 * 2049});
  net.push_back({{x + 2}, 1000, 1});
  return net;
}

TEST(TraceContentsTest, EveryLayerOfResNet50HasItsSizes) {
  const std::vector<WantedLayer> want = WantedResNet50();
  for (const size_t batch : {size_t{1}, size_t{3}}) {
    const std::vector<Layer> net = internal::ResNet50Layers(static_cast<int64_t>(batch));
    ASSERT_EQ(net.size(), want.size());
    for (size_t i = 0; i < net.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(net[i].inputs, want[i].inputs);
      EXPECT_EQ(net[i].output_bytes, 4 * batch * want[i].channels * want[i].side * want[i].side);
      EXPECT_EQ(net[i].weight_bytes, 4 * want[i].weights);
      EXPECT_EQ(net[i].workspace_bytes, 4 * want[i].columns);
      EXPECT_EQ(net[i].saved_bytes, want[i].is_norm ? 4 * want[i].weights : 0);
    }
  }
}

// What entries of a stream do, without ids.
using Step = std::pair<Kind, size_t>;
std::vector<Step> StepsOf(const Trace& trace, StreamIndex stream) {
  std::vector<Step> steps;
  for (const TraceEntry& entry : trace.entries) {
    if (entry.stream == stream) steps.emplace_back(entry.kind, entry.bytes);
  }
  return steps;
}

TEST(TraceContentsTest, ImagesAndGradientsAreUsedOnBothStreams) {
  const Trace trace = TwoStreamTrainingTrace(2, 2);
  const size_t images = 4 * 2 * 3 * 224 * 224;
  const std::vector<Layer> net = internal::ResNet50Layers(2);
  std::vector<size_t> gradients;  // from the last layer on
  for (size_t i = net.size(); i-- > 0;) {
    if (net[i].weight_bytes != 0) gradients.push_back(net[i].weight_bytes);
  }
  std::vector<size_t> copied, exchanged;
  std::vector<StreamIndex> waits;
  for (size_t i = 0; i < trace.entries.size(); ++i) {
    const TraceEntry& entry = trace.entries[i];
    if (entry.kind == Kind::kWait) waits.push_back(entry.stream);
    if (entry.kind == Kind::kAllocate) {
      EXPECT_EQ(entry.stream, entry.bytes == images ? 1 : 0);
    }
    if (entry.kind == Kind::kFree) {
      EXPECT_EQ(entry.stream, 0);
    }
    if (entry.kind != Kind::kUse) continue;
    // What has just been allocated.
    ASSERT_GT(i, 0u);
    const TraceEntry& before = trace.entries[i - 1];
    EXPECT_EQ(before.kind, Kind::kAllocate);
    EXPECT_EQ(before.id, entry.id);
    (entry.stream == 0 ? copied : exchanged).push_back(before.bytes);
  }
  EXPECT_EQ(copied, (std::vector<size_t>{images, images}));
  std::vector<size_t> twice = gradients;
  twice.insert(twice.end(), gradients.begin(), gradients.end());
  EXPECT_EQ(exchanged, twice);
  EXPECT_EQ(waits, (std::vector<StreamIndex>{0, 1, 0, 1}));
  EXPECT_EQ(trace.name, "resnet50_two_streams");
}

TEST(TraceContentsTest, TwoNetsTakeTurnsOnTheirStreams) {
  const Trace both = TwoNetsTrace(1, 2);
  EXPECT_EQ(StepsOf(both, 0), StepsOf(ResNet50TrainingTrace(1, 2), 0));
  EXPECT_EQ(StepsOf(both, 1), StepsOf(LeNetTrainingTrace(64, 2), 0));
  std::vector<StreamIndex> waits;
  for (const TraceEntry& entry : both.entries) {
    if (entry.kind == Kind::kWait) waits.push_back(entry.stream);
  }
  EXPECT_EQ(waits, (std::vector<StreamIndex>{0, 1, 0, 1}));
}

TEST(TraceContentsTest, BatchesVaryBetweenTheirBounds) {
  std::set<size_t> batches;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Trace trace = VariableBatchTrace(2, 4, 2, seed);
    EXPECT_FALSE(trace.fixed_shapes);
    // The images follow the weights and, later, the wait at the end of a step.
    size_t steps = 0;
    for (size_t i = 1; i < trace.entries.size(); ++i) {
      const size_t bytes = trace.entries[i].bytes;
      const bool begins = steps == 0 ? i == 107 : trace.entries[i - 1].kind == Kind::kWait;
      if (!begins) continue;
      ++steps;
      ASSERT_EQ(bytes % (4 * 3 * 224 * 224), 0u);
      batches.insert(bytes / (4 * 3 * 224 * 224));
    }
    EXPECT_EQ(steps, 2u);
  }
  EXPECT_EQ(batches, (std::set<size_t>{2, 3, 4}));
  const Trace one = VariableBatchTrace(3, 3, 1, 1);
  EXPECT_EQ(one.entries, ResNet50TrainingTrace(3, 1).entries);
}

TEST(TraceContentsTest, RandomTracesKeepToTheirOptions) {
  const struct {
    RandomTraceOptions options;
    int least_power, most_power;  // of the allocated bytes, rounded down
    const char* name;
  } rows[] = {
      {{}, 9, 22, "random"},
      {{.seed = 2, .streams = 2, .use_each = 10}, 9, 22, "random_two_streams"},
      {{.entries = 5000, .least_bytes = 4096, .most_bytes = 16384, .blocks_in_use = 20}, 12, 13,
       "random"},
      {{.entries = 5000, .streams = 3, .use_each = 4, .wait_each = 0}, 9, 22, "random_two_streams"},
      {{.entries = 5000, .wait_each = 5}, 9, 22, "random"}};
  for (const auto& row : rows) {
    const RandomTraceOptions& options = row.options;
    const Trace trace = RandomTrace(options);
    SCOPED_TRACE(testing::Message() << trace.name << options.entries << " " << options.wait_each);
    EXPECT_EQ(trace.name, row.name);
    EXPECT_FALSE(trace.fixed_shapes);
    EXPECT_EQ(trace.entries.size(), options.entries);
    EXPECT_EQ(trace.StreamCount(), static_cast<size_t>(options.streams));
    std::map<uint32_t, StreamIndex> homes;
    std::map<Kind, size_t> counts;
    std::set<int> powers;
    size_t most = 0;
    for (const TraceEntry& entry : trace.entries) {
      ++counts[entry.kind];
      if (entry.kind == Kind::kAllocate) {
        homes[entry.id] = entry.stream;
        powers.insert(static_cast<int>(std::bit_width(entry.bytes)) - 1);
      } else if (entry.kind == Kind::kFree) {
        EXPECT_EQ(homes.at(entry.id), entry.stream);
        homes.erase(entry.id);
      }
      most = std::max(most, homes.size());
    }
    std::set<int> want;
    for (int power = row.least_power; power <= row.most_power; ++power) want.insert(power);
    EXPECT_EQ(powers, want);
    EXPECT_LE(most, 2 * options.blocks_in_use);
    EXPECT_GT(most, options.blocks_in_use);
    const auto near = [&](size_t count, unsigned each) {
      const size_t expected = each == 0 ? 0 : options.entries / each;
      EXPECT_LE(count, expected + expected / 4);
      EXPECT_GE(count, expected - expected / 4);
    };
    near(counts[Kind::kWait], options.wait_each);
    near(counts[Kind::kUse], options.use_each);
  }
}

}  // namespace
}  // namespace caffe2rt::trace_contents_test
