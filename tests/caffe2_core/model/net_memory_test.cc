#include "caffe2_core/model/net_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/model/predictor.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_memory_test {
namespace {

using namespace test;  // used throughout this file

std::shared_ptr<ArenaStock> NewStock() { return std::make_shared<ArenaStock>(); }

constexpr char kChain[] = R"(
    name: "chain" external_input: "x" external_output: "y"
    op { type: "Sigmoid" input: "x" output: "a" }
    op { type: "Tanh" input: "a" output: "b" }
    op { type: "Exp" input: "b" output: "c" }
    op { type: "Negative" input: "c" output: "y" })";

// exp(tanh(sigmoid(x))), negated.
float ChainOf(float x) { return -std::exp(std::tanh(1 / (1 + std::exp(-x)))); }

void ExpectChain(const Workspace& ws) {
  const std::vector<float> x = Fetch<float>(ws, "x"), y = Fetch<float>(ws, "y");
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], ChainOf(x[i]), 1e-5);
}

TEST(NetMemoryTest, RunsANetInAnArena) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  NetBase* const net = ws.CreateNet(ParseNet(kChain));
  const auto stock = NewStock();
  NetMemory memory(net, {}, stock);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(memory.Run());
    ExpectChain(ws);
  }
  EXPECT_EQ(memory.planned_blobs(), 3u);
  EXPECT_EQ(memory.planned_bytes(), 448u);  // a, b and c in one place: 400 bytes, rounded up
  EXPECT_EQ(stock->bytes(), 448u);
  EXPECT_EQ(memory.plans_made(), 1);
}

TEST(NetMemoryTest, RunsWithoutAPlanIfNoStockIsGiven) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  NetMemory memory(ws.CreateNet(ParseNet(kChain)), {}, nullptr);
  ASSERT_TRUE(memory.Run());
  ExpectChain(ws);
  EXPECT_EQ(memory.planned_bytes(), 0u);
}

TEST(NetMemoryTest, KeepsFetchedBlobs) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  NetMemory memory(ws.CreateNet(ParseNet(kChain)), {"a"}, NewStock());
  ASSERT_TRUE(memory.Run());
  ExpectChain(ws);
  const std::vector<float> x = Fetch<float>(ws, "x"), a = Fetch<float>(ws, "a");
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(a[i], 1 / (1 + std::exp(-x[i])), 1e-6);
}

TEST(NetMemoryTest, KeepsAPlanForEachShape) {
  Workspace ws;
  FeedRandom(&ws, "x", {1});
  NetMemory memory(ws.CreateNet(ParseNet(kChain)), {}, NewStock());
  for (int round = 0; round < 3; ++round) {
    for (const int64_t size : {1000, 10, 3000}) {
      FeedRandom(&ws, "x", {size});
      ASSERT_TRUE(memory.Run());
      ExpectChain(ws);
    }
  }
  EXPECT_EQ(memory.plans_made(), 3);
  for (int64_t size = 1; size < 10; ++size) {  // more shapes than plans are kept
    FeedRandom(&ws, "x", {size});
    ASSERT_TRUE(memory.Run());
    ExpectChain(ws);
  }
}

TEST(NetMemoryTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace the allocator";
  Workspace ws;
  FeedRandom(&ws, "x", {1000});
  NetMemory memory(ws.CreateNet(ParseNet(kChain)), {}, NewStock());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(memory.Run());
  const AllocationCounter counter;
  ASSERT_TRUE(memory.Run());
  const AllocationCounts counts = counter.Counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
}

TEST(NetMemoryTest, RunsAgainAfterAFailure) {
  Workspace ws;
  FeedRandom(&ws, "x", {4, 3});
  FeedRandom(&ws, "w", {5, 2});
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "n" external_input: "x" external_input: "w" external_output: "y"
      op { type: "Sigmoid" input: "x" output: "a" }
      op { type: "MatMul" input: "a" input: "w" output: "b" }
      op { type: "Negative" input: "b" output: "y" })"));
  const auto stock = NewStock();
  NetMemory memory(net, {}, stock);
  ExpectThrows([&] { memory.Run(); }, "MatMul");
  FeedRandom(&ws, "w", {3, 2});
  ASSERT_TRUE(memory.Run());
  EXPECT_EQ(DimsOf(ws, "y"), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(stock->Lease(nullptr)->slot(), 0);  // the failed run returned its arena
}

TEST(NetMemoryTest, RunsWithoutAPlanIfTheMemoryIsLimited) {
  Workspace ws;
  FeedRandom(&ws, "x", {100});
  NetMemory memory(ws.CreateNet(ParseNet(kChain)), {}, NewStock());
  const size_t limit = GlobalCPUMemoryOptions().limit_bytes;
  GlobalCPUMemoryOptions().limit_bytes = 1;
  EXPECT_THROW(memory.Run(), OutOfMemory);  // an operator does not get its memory
  GlobalCPUMemoryOptions().limit_bytes = limit;
  ASSERT_TRUE(memory.Run());
  ExpectChain(ws);
}

constexpr char kConcat[] = R"(
    name: "concat" external_input: "x" external_output: "y" external_output: "z"
    op { type: "Sigmoid" input: "x" output: "a" }
    op { type: "Tanh" input: "x" output: "b" }
    op { type: "Relu" input: "b" output: "b" }
    op { type: "Concat" input: "a" input: "b" output: "c" output: "info" }
    op { type: "Negative" input: "c" output: "y" }
    op { type: "Split" input: "c" output: "d" output: "e" }
    op { type: "Sub" input: "d" input: "e" output: "z" })";

class NetMemoryTypeTest : public testing::TestWithParam<const char*> {
 protected:
  NetMemoryTypeTest() { SetThreadPool({.num_threads = 3, .back_off = false}); }
  ~NetMemoryTypeTest() override { SetThreadPool({}); }
  static NetDef WithType(NetDef def) {
    def.set_type(GetParam());
    return def;
  }
};
INSTANTIATE_TEST_SUITE_P(Types, NetMemoryTypeTest, testing::Values("simple", "async_scheduling"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NetMemoryTypeTest, PutsThePartsOfConcatAndSplitInPlace) {
  Workspace ws;
  FeedRandom(&ws, "x", {1, 16, 2, 2});
  NetBase* const net = ws.CreateNet(WithType(ParseNet(kConcat)));
  NetMemory memory(net, {}, NewStock());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(memory.Run());
    const std::vector<float> x = Fetch<float>(ws, "x"), y = Fetch<float>(ws, "y"),
                             z = Fetch<float>(ws, "z");
    for (size_t i = 0; i < 64; ++i) {
      const float a = 1 / (1 + std::exp(-x[i])), b = std::max(std::tanh(x[i]), 0.f);
      EXPECT_NEAR(y[i], -a, 1e-6);
      EXPECT_NEAR(y[64 + i], -b, 1e-6);
      EXPECT_NEAR(z[i], a - b, 1e-6);
    }
    const auto data = [&](const char* name) {
      return static_cast<const char*>(ws.GetBlob(name)->Get<Tensor>().raw_data());
    };
    EXPECT_EQ(data("a"), data("c"));
    EXPECT_EQ(data("b"), data("c") + 256);
    EXPECT_EQ(data("d"), data("c"));
    EXPECT_EQ(data("e"), data("c") + 256);
  }
}

// The convolution gives channels last, which the plan does not know: Split and Concat copy, and
// Concat must not write the memory of c, whose halves it exchanges.
TEST(NetMemoryTest, KeepsAWholeWhosePartsAreJoinedInAnotherOrder) {
  Workspace ws;
  FeedRandom(&ws, "x", {1, 32, 5, 7}, -1, 1, 1);
  FeedRandom(&ws, "w", {32, 32, 1, 1}, -1, 1, 2);
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "halves" device_option { device_type: 5 }
      external_input: "x" external_input: "w" external_output: "c2" external_output: "y2"
      op { type: "CopyFromCPUInput" input: "x" output: "i" }
      op { type: "Conv" input: "i" input: "w" output: "c" arg { name: "kernel" i: 1 } }
      op { type: "Split" input: "c" output: "a" output: "b" arg { name: "axis" i: 1 } }
      op { type: "Concat" input: "b" input: "a" output: "y" output: "sizes"
           arg { name: "axis" i: 1 } }
      op { type: "EnsureCPUOutput" input: "y" output: "y2" }
      op { type: "EnsureCPUOutput" input: "c" output: "c2" })"));
  NetMemory memory(net, {}, NewStock());
  ASSERT_TRUE(memory.Run());
  const std::vector<float> c = Fetch<float>(ws, "c2"), y = Fetch<float>(ws, "y2"),
                           x = Fetch<float>(ws, "x"), w = Fetch<float>(ws, "w");
  constexpr size_t kPixels = 35;
  for (size_t channel = 0; channel < 32; ++channel) {
    for (size_t pixel = 0; pixel < kPixels; ++pixel) {
      double want = 0;
      for (size_t k = 0; k < 32; ++k) want += double{w[channel * 32 + k]} * x[k * kPixels + pixel];
      EXPECT_NEAR(c[channel * kPixels + pixel], want, 1e-4);
      EXPECT_NEAR(y[(channel + 16) % 32 * kPixels + pixel], want, 1e-4);
    }
  }
}

TEST(NetMemoryTest, CopiesPartsThatAreNotContiguous) {
  Workspace ws;
  FeedRandom(&ws, "x", {2, 16, 2, 2});
  NetMemory memory(ws.CreateNet(ParseNet(kConcat)), {}, NewStock());
  ASSERT_TRUE(memory.Run());
  const std::vector<float> x = Fetch<float>(ws, "x"), z = Fetch<float>(ws, "z");
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_NEAR(z[i], 1 / (1 + std::exp(-x[i])) - std::max(std::tanh(x[i]), 0.f), 1e-6);
  }
}

// --- Random nets ---

class RandomNet {
 public:
  explicit RandomNet(uint32_t seed) : random_(seed) {
    net_.set_name("random");
    net_.add_external_input("x");
    values_ = {{"x", 32}};
    const size_t operators = 5 + Below(25);
    for (size_t i = 0; i < operators; ++i) AddOperator();
    // Some values are outputs, besides those that nothing reads.
    for (const Value& value : values_) {
      if (value.name != "x" && Below(8) == 0) net_.add_external_output(value.name);
    }
    net_.add_external_output(values_.back().name);
  }
  const NetDef& net() const { return net_; }

 private:
  struct Value {
    std::string name;
    int channels;
  };
  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  const Value& Any() { return values_[Below(values_.size())]; }
  OperatorDef* Add(const char* type, std::vector<std::string> inputs, const std::string& output) {
    OperatorDef* const op = net_.add_op();
    op->set_type(type);
    for (const std::string& input : inputs) op->add_input(input);
    op->add_output(output);
    return op;
  }
  std::string NewName() { return MakeString("v", ++names_); }

  void AddOperator() {
    const char* const kUnary[] = {"Relu",     "Sigmoid", "Tanh",   "Copy",
                                  "Negative", "Alias",   "Softmax"};
    const Value x = Any();
    switch (Below(8)) {
      case 0: {
        const Value y = Any();
        const std::string joined = NewName();
        Add("Concat", {x.name, y.name}, joined)->add_output(joined + "_info");
        values_.push_back({joined, x.channels + y.channels});
        if (values_.back().channels > 512) values_.pop_back();
        break;
      }
      case 1: {
        const std::string first = NewName(), second = NewName();
        Add("Split", {x.name}, first)->add_output(second);
        if (x.channels % 32 != 0) {
          net_.mutable_op()->RemoveLast();
          break;
        }
        values_.push_back({first, x.channels / 2});
        values_.push_back({second, x.channels / 2});
        break;
      }
      case 2:
        if (x.name != "x") Add("Relu", {x.name}, x.name);  // in place
        break;
      case 3: {
        const Value y = Any();
        if (y.channels != x.channels) break;
        Add(Below(2) == 0 ? "Add" : "Mul", {x.name, y.name}, NewName());
        values_.push_back({MakeString("v", names_), x.channels});
        break;
      }
      default:
        Add(kUnary[Below(std::size(kUnary))], {x.name}, NewName());
        values_.push_back({MakeString("v", names_), x.channels});
    }
  }

  std::mt19937 random_;
  NetDef net_;
  std::vector<Value> values_;
  int names_ = 0;
};

TEST_P(NetMemoryTypeTest, ComputesTheSameBitsInRandomNets) {
  size_t planned = 0, unplanned = 0;
  const uint32_t seeds = GetParam() == std::string("simple") ? 1000 : 400;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    const RandomNet random(seed);
    for (const int64_t batch : {1, 2}) {
      Workspace plain, shared;
      for (Workspace* ws : {&plain, &shared}) FeedRandom(ws, "x", {batch, 32, 2, 2});
      NetBase* const net = plain.CreateNet(random.net());
      ASSERT_TRUE(net->Run());
      NetMemory memory(shared.CreateNet(WithType(random.net())), {}, NewStock());
      for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(memory.Run());
        for (const std::string& name : random.net().external_output()) {
          const std::vector<float> want = Fetch<float>(plain, name),
                                   got = Fetch<float>(shared, name);
          ASSERT_EQ(want.size(), got.size()) << seed << " " << name;
          ASSERT_EQ(std::memcmp(want.data(), got.data(), 4 * want.size()), 0)
              << "seed " << seed << ", batch " << batch << ", run " << run << ", " << name << "\n"
              << random.net().DebugString();
        }
        ASSERT_TRUE(net->Run());  // nets may change their inputs
      }
      planned += memory.planned_bytes();
      for (const std::string& name : plain.LocalBlobs()) {
        unplanned += plain.GetBlob(name)->Get<Tensor>().nbytes();
      }
    }
  }
  std::printf("%zu bytes of arenas for %zu bytes of blobs\n", planned, unplanned);
  EXPECT_LT(planned, unplanned * 2 / 3);
}

// --- Predictors ---

TEST(PredictorMemoryTest, IdleInstancesHoldOneArena) {
  const int64_t size = 1 << 16;  // 256 KiB for each activation
  const NetDef net = ParseNet(kChain);
  Tensor x({size}, CPU);
  std::fill_n(x.mutable_data<float>(), size, 0.5f);
  for (const bool plan : {true, false}) {
    PredictorOptions options{.max_instances = 8, .plan_memory = plan};
    Predictor predictor(NetDef(), net, nullptr, options);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        std::vector<Tensor> out;
        for (int i = 0; i < 20; ++i) {
          predictor({x}, &out);
          EXPECT_NEAR(out[0].data<float>()[size - 1], ChainOf(0.5f), 1e-5);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    // Two calls that end at once may each leave an arena; a call alone frees what is too much.
    std::vector<Tensor> out;
    ASSERT_TRUE(predictor({x}, &out));
    const size_t bytes = GetCPUMemoryUsage().in_use_bytes;
    const auto instances = static_cast<size_t>(predictor.num_instances());
    // Each instance keeps its output, and one arena holds a, b and c.
    const size_t activation = size_t{4} * size;
    if (plan) {
      EXPECT_LT(bytes, (1 + instances + 1) * activation + activation / 2);
    } else {
      EXPECT_GE(bytes, (1 + 4 * instances) * activation);
    }
  }
}

TEST(PredictorMemoryTest, ResultsThatAreHeldSurviveLaterCalls) {
  Predictor predictor(NetDef(), ParseNet(kConcat));
  Tensor x({1, 16, 2, 2}, CPU);
  std::vector<std::vector<Tensor>> results;
  for (int call = 0; call < 5; ++call) {
    Tensor fresh({1, 16, 2, 2}, CPU);
    std::fill_n(fresh.mutable_data<float>(), 64, static_cast<float>(call));
    results.emplace_back();
    predictor({fresh}, &results.back());
  }
  for (int call = 0; call < 5; ++call) {
    const float a = 1 / (1 + std::exp(-static_cast<float>(call)));
    const float b = std::tanh(static_cast<float>(call));
    EXPECT_NEAR(results[call][0].data<float>()[0], -a, 1e-6);
    EXPECT_NEAR(results[call][0].data<float>()[127], -b, 1e-6);
    EXPECT_NEAR(results[call][1].data<float>()[3], a - b, 1e-6);
  }
}

TEST(PredictorMemoryTest, RejectsIdleArenasOutOfRange) {
  ExpectThrows(
      [] { Predictor(NetDef(), ParseNet(kChain), nullptr, PredictorOptions{.idle_arenas = -1}); },
      "idle_arenas of a predictor is -1, want 0 to 1024");
}

}  // namespace
}  // namespace caffe2rt::net_memory_test
