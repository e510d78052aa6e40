// Plans of a net's memory: what they learn from runs, their reports, and when they are made again.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/model/net_memory.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::memory_plans_test {
namespace {

std::shared_ptr<ArenaStock> StockOfPlans() { return std::make_shared<ArenaStock>(); }

// The size of the output of Tile is known only when the net runs.
constexpr char kTiledNet[] = R"(
    name: "tile" external_input: "x" external_input: "n" external_output: "y"
    op { type: "Tile" input: "x" input: "n" output: "a" arg { name: "axis" i: 0 } }
    op { type: "Sigmoid" input: "a" output: "b" }
    op { type: "Negative" input: "b" output: "y" })";

void ExpectTiled(const Workspace& ws, int32_t count) {
  const std::vector<float> x = Fetch<float>(ws, "x"), y = Fetch<float>(ws, "y");
  ASSERT_EQ(y.size(), x.size() * static_cast<size_t>(count));
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(y[i], -1 / (1 + std::exp(-x[i % x.size()])), 1e-6);
  }
}

TEST(MemoryPlansTest, LearnsSizesThatDependOnData) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  Feed<int32_t>(&ws, "n", {1}, {2});
  NetMemory memory(ws.CreateNet(ParseNet(kTiledNet)), {}, StockOfPlans());
  ASSERT_TRUE(memory.Run());
  EXPECT_EQ(memory.planned_blobs(), 0u);
  ExpectTiled(ws, 2);
  ASSERT_TRUE(memory.Run());
  EXPECT_EQ(memory.planned_blobs(), 2u);
  ExpectTiled(ws, 2);
  const size_t small = memory.planned_bytes();
  for (const int32_t count : {7, 7, 3, 7, 1}) {
    Feed<int32_t>(&ws, "n", {1}, {count});
    ASSERT_TRUE(memory.Run());
    ExpectTiled(ws, count);
  }
  EXPECT_GT(memory.planned_bytes(), small);
  EXPECT_EQ(memory.plans_made(), 3);
}

// A learned place has a quarter more than was needed, and a plan is made again eight times at most. Then
// the blobs get memory of their own.
TEST(MemoryPlansTest, LearnedPlacesLeaveRoomUntilTheyAreGivenUp) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  Feed<int32_t>(&ws, "n", {1}, {4});
  NetMemory memory(ws.CreateNet(ParseNet(kTiledNet)), {}, StockOfPlans());
  const auto run = [&](int32_t count) {
    Feed<int32_t>(&ws, "n", {1}, {count});
    EXPECT_TRUE(memory.Run());
    ExpectTiled(ws, count);
  };
  const struct {
    int32_t count;
    int plans;
  } rows[] = {{4, 1}, {4, 2}, {5, 2}, {5, 2},  {3, 2}, {6, 2},  {6, 3}, {7, 3},
              {6, 3}, {8, 3}, {7, 4}, {10, 4}, {8, 4}, {11, 4}, {1, 5}};
  for (const auto& row : rows) {
    run(row.count);
    EXPECT_EQ(memory.plans_made(), row.plans) << row.count;
    EXPECT_EQ(memory.planned_blobs(), row.plans == 1 ? 0u : 2u) << row.count;
  }
  int32_t count = 20;
  for (int plans = 5; plans < 9; ++plans, count *= 2) {
    run(count);
    EXPECT_EQ(memory.plans_made(), plans);
    run(count);
    EXPECT_EQ(memory.plans_made(), plans + 1);
    EXPECT_EQ(memory.planned_blobs(), 2u);
  }
  for (const int plans : {9, 10, 10, 10}) {
    run(count);
    EXPECT_EQ(memory.plans_made(), plans);
    EXPECT_EQ(memory.planned_blobs(), plans == 9 ? 2u : 0u);
    count *= 2;
  }
  run(1);
  EXPECT_EQ(memory.plans_made(), 10);
}

// Of four products, the second and the last one lie in one place. The first one is read twice.
TEST(MemoryPlansTest, PlannedBlobsAreThoseOfTheRun) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "w", {2, 2}, {0, 1, 1, 0});
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "n" external_input: "x" external_input: "w" external_output: "y"
      op { type: "MatMul" input: "x" input: "w" output: "a" }
      op { type: "MatMul" input: "a" input: "w" output: "b" }
      op { type: "MatMul" input: "b" input: "w" output: "c" }
      op { type: "MatMul" input: "c" input: "w" output: "d" }
      op { type: "MatMul" input: "d" input: "a" output: "y" })"));
  NetMemory memory(net, {}, StockOfPlans());
  EXPECT_TRUE(memory.planned().empty());
  memory.Begin();
  ExpectThrows([&] { memory.Begin(); }, "Begin of a net's memory without End of the run before");
  ASSERT_TRUE(net->Run());
  std::map<std::string, NetMemory::PlannedBlob> blobs;
  for (const NetMemory::PlannedBlob& blob : memory.planned()) {
    EXPECT_EQ(memory.objects()[blob.blob]->Get<Tensor>().raw_data(), blob.data);
    EXPECT_GE(blob.bytes, 16u);
    blobs[memory.blobs()->name(blob.blob)] = blob;
  }
  memory.End(true);
  EXPECT_TRUE(memory.planned().empty()) << "no run";
  ASSERT_EQ(blobs.size(), 4u);
  const auto uses = [&](const std::string& name) {
    return MakeString(blobs.at(name).first_op, " to ", blobs.at(name).last_op);
  };
  EXPECT_EQ(uses("a"), "0 to 4");
  EXPECT_EQ(uses("b"), "1 to 2");
  EXPECT_EQ(uses("c"), "2 to 3");
  EXPECT_EQ(uses("d"), "3 to 4");
  EXPECT_EQ(blobs.at("b").data, blobs.at("d").data);
  EXPECT_NE(blobs.at("a").data, blobs.at("b").data);
  EXPECT_NE(blobs.at("a").data, blobs.at("c").data);
  EXPECT_NE(blobs.at("b").data, blobs.at("c").data);
  EXPECT_EQ(memory.planned_bytes(), 192u);
  EXPECT_EQ(memory.planned_blobs(), 4u);
  ExpectTensor<float>(ws, "y", {2, 2}, {10, 7, 22, 15});
}

// The convolution gives channels last, so that Split and Concat copy: their parts do not lie in c and y, as the first
// plan has it. The next one gives each blob a place of its own, instead of memory outside the arena.
TEST(MemoryPlansTest, PartsThatAreCopiedGetPlacesOfTheirOwn) {
  Workspace ws;
  FeedRandom(&ws, "x", {1, 32, 5, 7}, -1, 1, 1);
  FeedRandom(&ws, "w", {32, 32, 1, 1}, -1, 1, 2);
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "halves" device_option { device_type: 5 }
      external_input: "x" external_input: "w" external_output: "y2"
      op { type: "CopyFromCPUInput" input: "x" output: "i" }
      op { type: "Conv" input: "i" input: "w" output: "c" arg { name: "kernel" i: 1 } }
      op { type: "Split" input: "c" output: "a" output: "b" arg { name: "axis" i: 1 } }
      op { type: "Concat" input: "b" input: "a" output: "y" output: "sizes"
           arg { name: "axis" i: 1 } }
      op { type: "EnsureCPUOutput" input: "y" output: "y2" })"));
  NetMemory memory(net, {}, StockOfPlans());
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(memory.Run());
  const int plans = memory.plans_made();
  memory.Begin();
  ASSERT_TRUE(net->Run());
  std::set<std::string> planned;
  for (const NetMemory::PlannedBlob& blob : memory.planned()) {
    const std::string name = memory.blobs()->name(blob.blob);
    const Tensor& tensor = memory.objects()[blob.blob]->Get<Tensor>();
    if (tensor.storage()->data() == blob.data) planned.insert(name);
  }
  memory.End(true);
  EXPECT_EQ(memory.plans_made(), plans) << "nothing is left to learn";
  for (const char* const name : {"a", "b", "c", "y"}) EXPECT_TRUE(planned.contains(name)) << name;
}

// The arena is freed before it grows: no tensor may keep a place in it if there is no memory for a larger one.
TEST(MemoryPlansTest, AnArenaThatCannotGrowLeavesNoPlaces) {
  Workspace ws;
  FeedRange<float>(&ws, "ballast", {1000000});  // so that the limit exceeds the plan
  FeedRandom(&ws, "x", {100});
  NetMemory memory(ws.CreateNet(ParseNet(R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Sigmoid" input: "x" output: "a" } op { type: "Tanh" input: "a" output: "b" }
      op { type: "Exp" input: "b" output: "c" } op { type: "Negative" input: "c" output: "y" })")),
                   {}, StockOfPlans());
  const auto expect_values = [&] {
    ASSERT_TRUE(memory.Run());
    EXPECT_EQ(memory.planned_blobs(), 3u);
    const std::vector<float> x = Fetch<float>(ws, "x"), y = Fetch<float>(ws, "y");
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < y.size(); i += 50)
      EXPECT_NEAR(y[i], -std::exp(std::tanh(1 / (1 + std::exp(-x[i])))), 1e-5);
  };
  expect_values();
  FeedRandom(&ws, "x", {50000});
  const size_t limit = GlobalCPUMemoryOptions().limit_bytes;
  GlobalCPUMemoryOptions().limit_bytes = GetCPUMemoryUsage().in_use_bytes + 1000;
  for (int run = 0; run < 2; ++run) {
    EXPECT_THROW(memory.Run(), OutOfMemory);  // the first operator does not get its memory
    EXPECT_EQ(memory.planned_blobs(), 0u);
    EXPECT_EQ(memory.planned_bytes(), 0u);
    for (const char* const name : {"b", "c"})
      EXPECT_EQ(ws.GetBlob(name)->Get<Tensor>().storage(), nullptr) << name;
  }
  GlobalCPUMemoryOptions().limit_bytes = limit;
  expect_values();
  FeedRandom(&ws, "x", {100});
  expect_values();
}

TEST(MemoryPlansTest, KeepsAPlanForEachElementType) {
  Workspace ws;
  NetBase* net = nullptr;
  std::unique_ptr<NetMemory> memory;
  const auto run = [&](auto one) {
    using T = decltype(one);
    Feed<T>(&ws, "x", {3}, {1, 2, 3});
    if (net == nullptr) {
      net = ws.CreateNet(ParseNet(R"(name: "n" external_input: "x" external_output: "y"
          op { type: "Add" input: "x" input: "x" output: "a" }
          op { type: "Mul" input: "a" input: "x" output: "b" }
          op { type: "Add" input: "b" input: "a" output: "y" })"));
      memory = std::make_unique<NetMemory>(net, std::set<std::string>(), StockOfPlans());
    }
    ASSERT_TRUE(memory->Run());
    // 2 x^2 + 2 x
    ExpectTensor<T>(ws, "y", {3}, {4, 12, 24});
  };
  const struct {
    bool wide;
    int plans;
  } rows[] = {{false, 1}, {true, 2}, {false, 2}, {true, 2}};
  for (const auto& row : rows) {
    row.wide ? run(int64_t{}) : run(float{});
    EXPECT_EQ(memory->plans_made(), row.plans);
  }
  Feed<float>(&ws, "x", {3, 1}, {1, 2, 3});  // as many elements in another shape
  ASSERT_TRUE(memory->Run());
  EXPECT_EQ(memory->plans_made(), 3);
}

}  // namespace
}  // namespace caffe2rt::test::memory_plans_test
