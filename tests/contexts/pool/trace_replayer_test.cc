#include "contexts/pool/trace_replayer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "contexts/pool/trace_maker.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::trace_replayer_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(TraceReplayerTest, CountsWhatTheTraceAsksFor) {
  const Trace trace = ParseTrace(
      "caffe2rt-trace 1\n"
      "a 0 1000 0\n"
      "a 1 2000 0\n"
      "f 0 0\n"
      "a 0 500 0\n");
  FakeAllocator device;
  const auto pool = NewDirectPool(device, {});
  const TraceResult result = ReplayTrace(trace, *pool, device);
  EXPECT_EQ(result.peak_used_bytes, 3000u);
  EXPECT_EQ(result.peak_reserved_bytes, 1024u + 2048u);
  EXPECT_EQ(result.upstream_calls, 4u);
  EXPECT_EQ(result.upstream_calls_second_half, 2u);
  EXPECT_EQ(device.live_bytes(), 0u);  // the remaining blocks are freed
}

TEST(TraceReplayerTest, RecordsWorkAndWaitsForStreams) {
  const Trace trace = ParseTrace(
      "caffe2rt-trace 1\n"
      "a 5 1000 1\n"
      "u 5 2\n"
      "w 2\n");
  FakeAllocator device;
  const auto pool = NewThcPool(device, {});
  TraceReplayer replayer(trace, *pool, device);
  std::vector<std::pair<StreamIndex, uint32_t>> work;
  replayer.on_work = [&](StreamIndex stream, uint32_t id) {
    work.emplace_back(stream, id);
    device.Give(stream);
  };
  replayer.Replay(0, 3);
  EXPECT_THAT(work, testing::ElementsAre(testing::Pair(1, 5), testing::Pair(2, 5)));
  EXPECT_EQ(device.Finished(1), 0u);
  EXPECT_EQ(device.Finished(2), 1u);
}

// A replay begins without memory in use after FreeAll, so that the peak is that of the larger half.
TEST(TraceReplayerTest, WhatIsFreedAtOnceIsNoLongerUsed) {
  const Trace trace = ParseTrace(
      "caffe2rt-trace 1\n"
      "a 0 1000 0\n"
      "a 1 2000 0\n"
      "a 2 2500 0\n");
  FakeAllocator device;
  const auto pool = NewDirectPool(device, {});
  TraceReplayer replayer(trace, *pool, device);
  replayer.Replay(0, 2);
  replayer.FreeAll();
  EXPECT_EQ(device.live_bytes(), 0u);
  replayer.Replay(2, 3);
  EXPECT_EQ(replayer.peak_used_bytes(), 3000u);
  replayer.FreeAll();
  replayer.FreeAll();  // there is nothing more to free
  replayer.Replay(0, 3);
  EXPECT_EQ(replayer.peak_used_bytes(), 5500u);
}

class StandardTraceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (Trace& trace : traces_) {
      if (trace.name == GetParam()) trace_ = &trace;
    }
  }
  std::vector<Trace> traces_ = StandardTraces();
  const Trace* trace_ = nullptr;
};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Trace& trace : StandardTraces()) names.push_back(trace.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Traces, StandardTraceTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

TEST_P(StandardTraceTest, ReservesLittleMoreThanIsUsed) {
  FakeAllocator device;
  const auto pool = NewThcPool(device, {});
  const TraceResult result = ReplayTrace(*trace_, *pool, device);
  const size_t most = std::max(result.peak_used_bytes + result.peak_used_bytes / 4,
                               result.peak_used_bytes + 8 * kMiB);
  EXPECT_LE(result.peak_reserved_bytes, most);
  EXPECT_EQ(result.peak_reserved_bytes, device.peak_bytes());
  pool->CheckInvariants();
}

// The options of contexts/cuda: pieces of 2 MiB.
TEST_P(StandardTraceTest, ReservesLittleMoreThanIsUsedInPiecesThatTheDriverMaps) {
  FakeAllocator device;
  const auto pool = NewThcPool(device, {.small_granule_bytes = 2 * kMiB,
                                        .large_granule_bytes = 2 * kMiB,
                                        .small_segment_bytes = 2 * kMiB});
  const TraceResult result = ReplayTrace(*trace_, *pool, device);
  const size_t most = std::max(result.peak_used_bytes + result.peak_used_bytes / 4,
                               result.peak_used_bytes + 8 * kMiB);
  EXPECT_LE(result.peak_reserved_bytes, most);
  EXPECT_EQ(result.peak_reserved_bytes % (2 * kMiB), 0u);
  pool->CheckInvariants();
}

TEST_P(StandardTraceTest, SettlesWhenShapesAreFixed) {
  for (const unsigned lag : {0u, 16u, 1000000u}) {
    FakeAllocator device;
    const auto pool = NewThcPool(device, {});
    const TraceResult result = ReplayTrace(*trace_, *pool, device, [&](TraceReplayer& replayer) {
      replayer.on_work = [&](StreamIndex stream, uint32_t) {
        device.Give(stream);
        if (device.Given(stream) - device.Finished(stream) > lag) device.Finish(stream, 1);
      };
    });
    if (trace_->fixed_shapes) {
      EXPECT_EQ(result.upstream_calls_second_half, 0u) << lag;
    }
    EXPECT_GT(result.upstream_calls, 0u);
  }
}

}  // namespace
}  // namespace caffe2rt::test::trace_replayer_test
