// Random numbers with a seed: the same bytes on every executor, with every number of threads.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/caffe2_core/executors/call_operator.h"
#include "tests/support/allocation_counter.h"

namespace caffe2rt::test::random_numbers_test {
namespace {

const char* const kTypes[] = {"simple",        "rnn",      "simple_refcount", "async_simple",
                              "dag",           "prof_dag", "async_dag",       "async_scheduling",
                              "async_polling", "parallel"};

// Dropout and fills in branches, in place, ordered by a control input, and in a nested net.
constexpr char kNet[] = R"(name: "random"
  external_output: "a" external_output: "b" external_output: "c"
  external_output: "d" external_output: "e" external_output: "f"
  op { type: "UniformFill" output: "a" arg { name: "shape" ints: 50 } }
  op { type: "GaussianFill" output: "b" arg { name: "shape" ints: 50 } }
  op { type: "Dropout" input: "a" output: "c" output: "mask" arg { name: "is_test" i: 0 } }
  op { type: "Dropout" input: "b" output: "b" output: "mask_b" arg { name: "is_test" i: 0 } }
  op { type: "Dropout" input: "b" output: "b" output: "mask_b" arg { name: "is_test" i: 0 } }
  op { type: "UniformIntFill" output: "d" arg { name: "min" i: 0 } arg { name: "max" i: 100000 }
       arg { name: "shape" ints: 50 } control_input: "c" }
  op { type: "If" input: "yes" output: "e" arg { name: "then_net" n { name: "inner"
    op { type: "UniformFill" output: "e" arg { name: "shape" ints: 50 } }
    op { type: "Dropout" input: "e" output: "e" output: "mask_e" arg { name: "is_test" i: 0 } }
    external_output: "e" } } }
  op { type: "GaussianFill" output: "f" arg { name: "shape" ints: 50 }
       device_option { random_seed: 7 } })";
const std::vector<std::string> kBlobs = {"a", "b", "c", "d", "e", "f"};

std::string BytesOf(const Workspace& ws, const std::string& name) {
  const Tensor& tensor = ws.GetBlob(name)->Get<Tensor>();
  return std::string(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
}

using Bytes = std::map<std::string, std::string>;

class RandomNumbersTest : public ExecutorTest {
 protected:
  // The bytes of the blobs after each run.
  std::vector<Bytes> Run(const std::string& type, std::optional<uint64_t> seed, int runs,
                         uint64_t first = 0) {
    Workspace ws;
    ws.SetRandomSeed(seed);
    Feed<bool>(&ws, "yes", {}, {true});
    NetDef def = ParseNet(kNet);
    def.set_type(type);
    if (type == "dag" || type == "prof_dag") def.set_num_workers(3);
    const auto net = CreateNet(def, &ws);
    net->SetNextRun(first);
    std::vector<Bytes> all;
    for (int run = 0; run < runs; ++run) {
      EXPECT_TRUE(net->Run());
      Bytes& bytes = all.emplace_back();
      for (const std::string& blob : kBlobs) bytes[blob] = BytesOf(ws, blob);
    }
    return all;
  }
};

TEST_F(RandomNumbersTest, AreTheSameOnEveryExecutorAndNumberOfThreads) {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
    SetThreads(1);
    const std::vector<Bytes> want = Run("simple", seed, 3);
    for (const int threads : {1, 2, 4}) {
      SetThreads(threads);
      for (const char* type : kTypes) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          ASSERT_EQ(Run(type, seed, 3), want)
              << type << ", seed " << seed << ", threads " << threads;
        }
      }
    }
  }
}

TEST_F(RandomNumbersTest, DifferFromSeedToSeedRunToRunAndOperatorToOperator) {
  std::map<std::string, std::set<std::string>> values;
  for (const uint64_t seed : {1, 2}) {
    for (const Bytes& run : Run("simple", seed, 3)) {
      for (const auto& [blob, bytes] : run) values[blob].insert(bytes);
    }
  }
  for (const auto& [blob, all] : values) {
    EXPECT_EQ(all.size(), blob == "f" ? 3u : 6u) << blob;  // f has a seed of its own
  }
  const Bytes run = Run("simple", 1, 1)[0];
  EXPECT_NE(run.at("a"), run.at("e")) << "two UniformFill";
}

TEST_F(RandomNumbersTest, OfARunDependOnItsNumberAlone) {
  const std::vector<Bytes> all = Run("simple", 5, 4);
  std::vector<Bytes> resumed = Run("async_scheduling", 5, 2, 2);
  for (size_t i = 0; i < 2; ++i) {
    // The generator of f does not know the number of the run.
    resumed[i]["f"] = all[i + 2].at("f");
    EXPECT_EQ(resumed[i], all[i + 2]);
  }
}

TEST_F(RandomNumbersTest, DifferWithoutASeed) {
  const Bytes first = Run("simple", std::nullopt, 1)[0], second = Run("simple", std::nullopt, 1)[0];
  for (const std::string& blob : kBlobs) EXPECT_EQ(first.at(blob) == second.at(blob), blob == "f");
}

// The sequence is that of mt19937, as in Caffe2, and goes on from run to run.
TEST_F(RandomNumbersTest, OfADeviceOptionsSeedGoFirst) {
  constexpr char kNet[] = R"(name: "n" op { type: "UniformFill" output: "a"
      arg { name: "shape" ints: 2 } device_option { random_seed: 7 } })";
  ws_.SetRandomSeed(1);
  const auto net = Make(kNet);
  std::mt19937 generator(7);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(net->Run());
    for (const float value : Fetch<float>(ws_, "a")) {
      EXPECT_EQ(value, static_cast<float>(generator() & 0xffffff) / 16777216.0f);
    }
  }
}

TEST_F(RandomNumbersTest, OfAnOperatorStayIfOthersAreAddedAndIfItsStreamIsNamed) {
  const auto value = [](const std::string& text) {
    Workspace ws;
    ws.SetRandomSeed(3);
    EXPECT_TRUE(ws.RunNetOnce(ParseNet(text)));
    return Fetch<float>(ws, "x");
  };
  const std::string fill =
      R"(op { type: "UniformFill" output: "x" arg { name: "shape" ints: 3 } })";
  const std::string other =
      R"(op { type: "UniformFill" output: "y" arg { name: "shape" ints: 9 } })";
  const std::vector<float> want = value("name: \"n\"" + fill);
  EXPECT_EQ(value("name: \"m\"" + other + fill), want);
  EXPECT_EQ(value(R"(op { type: "UniformFill" output: "z" arg { name: "shape" ints: 3 }
                          arg { name: "random_stream" s: "x" } }
                     op { type: "Copy" input: "z" output: "x" })"),
            want);
  EXPECT_NE(value(fill + fill), want) << "x has been written before";
}

TEST_F(RandomNumbersTest, OfWhatRunsOnceAreThoseOfRunZero) {
  const OperatorDef op =
      ParseOp(R"(type: "UniformFill" output: "x" arg { name: "shape" ints: 3 })");
  NetDef net;
  net.set_name("n");
  *net.add_op() = op;
  ws_.SetRandomSeed(3);
  ASSERT_TRUE(ws_.RunOperatorOnce(op));
  const std::vector<float> want = Fetch<float>(ws_, "x");
  ASSERT_TRUE(ws_.RunOperatorOnce(op));
  EXPECT_EQ(Fetch<float>(ws_, "x"), want);
  ASSERT_TRUE(ws_.RunNetOnce(net));
  EXPECT_EQ(Fetch<float>(ws_, "x"), want);
  Workspace child(&ws_);
  ASSERT_TRUE(child.RunNetOnce(net));
  EXPECT_EQ(Fetch<float>(child, "x"), want) << "a child takes its parent's seed";
  child.SetRandomSeed(4);
  ASSERT_TRUE(child.RunNetOnce(net));
  EXPECT_NE(Fetch<float>(child, "x"), want);
}

// The loop runs its net three times in each run of the outer net.
TEST_F(RandomNumbersTest, OfALoopDifferFromPassToPass) {
  constexpr char kLoop[] = R"(name: "loop"
    op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 1 } arg { name: "value" f: 0 } }
    op { type: "ConstantFill" output: "go" arg { name: "shape" ints: 1 } arg { name: "value" i: 1 }
         arg { name: "dtype" i: 5 } }
    op { type: "While" input: "go" arg { name: "loop_net" n { name: "body"
      op { type: "UniformFill" output: "r" arg { name: "shape" ints: 1 } }
      op { type: "ExecutorTestCall" name: "pass" input: "r" output: "go" } } } })";
  std::vector<float> drawn;
  int passes = 0;
  Calls()["pass"] = [&](OperatorBase* op) {
    drawn.push_back(op->Input<Tensor>(0, CPU).data<float>()[0]);
    *op->OutputTensor(0, CPU, {1}, TypeMeta::Make<bool>())->mutable_data<bool>() =
        ++passes % 3 != 0;
  };
  const auto draw = [&](const char* type) {
    drawn.clear();
    Workspace ws;
    ws.SetRandomSeed(1);
    NetDef def = ParseNet(kLoop);
    def.set_type(type);
    const auto net = CreateNet(def, &ws);
    for (int run = 0; run < 2; ++run) EXPECT_TRUE(net->Run());
    return drawn;
  };
  const std::vector<float> want = draw("simple");
  EXPECT_EQ(std::set(want.begin(), want.end()).size(), 6u);
  EXPECT_EQ(draw("async_scheduling"), want);
}

// Dropout with ratio 0.3 keeps 70 % of the elements; 20 runs of 10,000: a standard deviation of 0.1 %.
TEST_F(RandomNumbersTest, HaveTheDistributionThatTheOperatorAsksFor) {
  ws_.SetRandomSeed(9);
  Feed<float>(&ws_, "x", {10000}, std::vector<float>(10000, 1));
  const auto net = Make(
      R"(name: "n" op { type: "Dropout" input: "x" output: "y" output: "mask"
                           arg { name: "is_test" i: 0 }
                           arg { name: "ratio" f: 0.3 } })");
  int kept = 0;
  std::set<std::vector<bool>> masks;
  for (int run = 0; run < 20; ++run) {
    ASSERT_TRUE(net->Run());
    const std::vector<bool> mask = Fetch<bool>(ws_, "mask");
    kept += static_cast<int>(std::count(mask.begin(), mask.end(), true));
    masks.insert(mask);
  }
  EXPECT_NEAR(kept / 200000.0, 0.7, 0.005);
  EXPECT_EQ(masks.size(), 20u);
}

TEST_F(RandomNumbersTest, LaterRunsWithASeedAllocateNothing) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "this build does not count allocations";
  SetThreads(2);
  for (const char* type : {"simple", "async_scheduling"}) {
    for (const bool seeded : {false, true}) {
      Workspace ws;
      if (seeded) ws.SetRandomSeed(7);
      Feed<bool>(&ws, "yes", {}, {true});
      NetDef def = ParseNet(kNet);
      def.set_type(type);
      const auto net = CreateNet(def, &ws);
      for (int run = 0; run < 3; ++run) EXPECT_TRUE(net->Run());
      const std::string before = BytesOf(ws, "a");
      const AllocationCounter counter;
      for (int run = 0; run < 20; ++run) net->Run();
      EXPECT_EQ(counter.Counts().allocations, 0) << type << ", seeded " << seeded;
      EXPECT_NE(BytesOf(ws, "a"), before);
    }
  }
}

// "e" is drawn by the net in an argument of the operator If.
TEST_F(RandomNumbersTest, OfNestedNetsFollowTheSeedOfTheNetAroundThem) {
  using Seed = std::optional<uint64_t>;
  const auto draw = [](Seed of_workspace, Seed of_net) {
    Workspace ws;
    ws.SetRandomSeed(of_workspace);
    Feed<bool>(&ws, "yes", {}, {true});
    const auto net = CreateNet(ParseNet(kNet), &ws);
    if (of_net.has_value()) net->SetRandomSeed(of_net);
    std::vector<std::string> drawn;
    for (int run = 0; run < 2; ++run) {
      EXPECT_TRUE(net->Run());
      drawn.push_back(BytesOf(ws, "e"));
    }
    return drawn;
  };
  const std::vector<std::string> want = draw(1, {});
  EXPECT_NE(want[0], want[1]);
  EXPECT_EQ(draw({}, 1), want) << "the workspace has no seed";
  EXPECT_EQ(draw(2, 1), want) << "that of the net goes first";
  EXPECT_NE(draw(2, {}), want);
  EXPECT_NE(draw({}, {}), draw({}, {}));
}

TEST_F(RandomNumbersTest, OfANetThatLosesItsSeedAreAnyNumbers) {
  Workspace ws;
  Feed<bool>(&ws, "yes", {}, {true});
  const auto net = CreateNet(ParseNet(kNet), &ws);
  const auto draw = [&] {
    EXPECT_TRUE(net->Run());
    Bytes bytes;
    for (const std::string blob : {"a", "b", "e"}) bytes[blob] = BytesOf(ws, blob);
    return bytes;
  };
  net->SetRandomSeed(1);
  const Bytes first = draw();
  net->SetRandomSeed(std::nullopt);
  std::vector<Bytes> later = {first};
  for (int run = 0; run < 3; ++run) later.push_back(draw());
  for (size_t i = 0; i < later.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      for (const auto& [blob, bytes] : later[i]) EXPECT_NE(bytes, later[k][blob]) << blob;
    }
  }
  net->SetRandomSeed(1);
  EXPECT_EQ(draw(), first);
}

}  // namespace
}  // namespace caffe2rt::test::random_numbers_test
