// Seeds of models, predictors and prepared nets.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::random_seed_test {
namespace {

constexpr char kInit[] = R"(name: "init"
  op { type: "GaussianFill" output: "w" arg { name: "shape" ints: 6 } })";
// A graph pass lets Add write y instead of t, so that an operator more writes y before the last Dropout.
constexpr char kNet[] = R"(name: "net" external_input: "w" external_output: "y"
  op { type: "Copy" input: "w" output: "a" }
  op { type: "UniformFill" output: "u" arg { name: "shape" ints: 6 } }
  op { type: "Dropout" input: "a" output: "b" output: "mask" arg { name: "is_test" i: 0 } }
  op { type: "Add" input: "b" input: "u" output: "t" }
  op { type: "Reshape" input: "t" output: "y" output: "old" arg { name: "shape" ints: 2 ints: 3 } }
  op { type: "Dropout" input: "y" output: "y" output: "mask_y" arg { name: "is_test" i: 0 } })";

using Floats = std::vector<float>;

Floats ValuesOf(const Tensor& tensor) {
  return Floats(tensor.data<float>(), tensor.data<float>() + tensor.numel());
}

Floats Call(Predictor* predictor) {
  std::vector<Tensor> outputs;
  EXPECT_TRUE((*predictor)(Predictor::TensorList{}, &outputs));
  return ValuesOf(outputs.at(0));
}

Predictor Make(std::optional<uint64_t> seed, bool optimize = true) {
  return Predictor(ParseNet(kInit), ParseNet(kNet), nullptr,
                   PredictorOptions{.optimize = optimize, .random_seed = seed});
}

TEST(RandomSeedTest, OfAPredictorDeterminesEveryCall) {
  Predictor predictor = Make(1), same = Make(1), other = Make(2);
  std::vector<Floats> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(Call(&predictor));
  EXPECT_EQ(std::set(calls.begin(), calls.end()).size(), 3u);
  EXPECT_EQ(Call(&same), calls[0]);
  std::vector<Tensor*> outputs;
  ASSERT_TRUE(same.run({}, &outputs)) << "on an instance of its own";
  EXPECT_EQ(ValuesOf(*outputs.at(0)), calls[1]);
  EXPECT_EQ(Call(&same), calls[2]);
  EXPECT_NE(Call(&other), calls[0]);
  // The last Dropout leaves only zeros in one of 64 calls, so one call of each is not enough.
  Predictor none = Make(std::nullopt), none_either = Make(std::nullopt);
  std::vector<Floats> of_none, of_none_either;
  for (int i = 0; i < 10; ++i) {
    of_none.push_back(Call(&none));
    of_none_either.push_back(Call(&none_either));
  }
  EXPECT_NE(of_none, of_none_either);
}

TEST(RandomSeedTest, GivesTheSameNumbersWithAndWithoutGraphPasses) {
  Predictor optimized = Make(1), plain = Make(1, false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Call(&optimized), Call(&plain)) << "call " << i;
}

// Each number of a call is used once, whichever instance gets it.
TEST(RandomSeedTest, OfAPredictorGivesConcurrentCallsTheSameSetOfResults) {
  constexpr int kThreads = 4, kCalls = 25;
  Predictor in_order = Make(1);
  std::vector<Floats> want;
  for (int i = 0; i < kThreads * kCalls; ++i) want.push_back(Call(&in_order));
  Predictor shared = Make(1);
  std::vector<std::vector<Floats>> got(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Floats>& results : got) {
      threads.emplace_back([&results, &shared] {
        Predictor copy = shared;
        for (int i = 0; i < kCalls; ++i) results.push_back(Call(&copy));
      });
    }
  }
  std::vector<Floats> all;
  for (const std::vector<Floats>& results : got)
    all.insert(all.end(), results.begin(), results.end());
  std::sort(all.begin(), all.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(all, want);
}

TEST(RandomSeedTest, OfAModelIsThatOfItsWorkspaceAndPredictor) {
  const ModelFileOptions options = {.seed = 1};
  Model model = LoadModelFromMemory({kInit}, kNet, options);
  EXPECT_FALSE(model.predict_net.has_device_option());
  Workspace ws;
  RunInitNets(&model, &ws);
  EXPECT_EQ(ws.random_seed(), 1u);
  ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
  Predictor predictor = Make(1);
  const Floats want = Call(&predictor);
  EXPECT_EQ(ValuesOf(ws.GetBlob("y")->Get<Tensor>()), want);
  Predictor of_model(LoadModelFromMemory({kInit}, kNet, options));
  EXPECT_EQ(Call(&of_model), want);
  Predictor with_option(LoadModelFromMemory({kInit}, kNet, options), {.random_seed = 2});
  EXPECT_NE(Call(&with_option), want);
  Model without = LoadModelFromMemory({kInit}, kNet);
  RunInitNets(&without, &ws);
  EXPECT_EQ(ws.random_seed(), 1u) << "a model without a seed leaves the workspace's";
}

// Every seed is one, the smallest and the largest as well, and determines what an init net draws.
TEST(RandomSeedTest, OfAModelMayBeAnyNumber) {
  const auto drawn = [](uint64_t seed) {
    Model model = LoadModelFromMemory({kInit}, kNet, {.seed = seed});
    Workspace ws;
    RunInitNets(&model, &ws);
    EXPECT_EQ(ws.random_seed(), seed);
    EXPECT_TRUE(CreatePredictNet(model, &ws)->Run());
    Floats values = Fetch<float>(ws, "w");
    const Floats y = Fetch<float>(ws, "y");
    values.insert(values.end(), y.begin(), y.end());
    return values;
  };
  std::set<Floats> all;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, UINT64_MAX}) {
    const Floats values = drawn(seed);
    EXPECT_EQ(drawn(seed), values) << seed;
    all.insert(values);
  }
  EXPECT_EQ(all.size(), 4u);
}

// With and without an executor, and for each operator of a name that occurs twice.
TEST(RandomSeedTest, OfAWorkspaceDeterminesWhatInitNetsDraw) {
  const std::string init = R"(name: "init"
      op { type: "GaussianFill" output: "a" arg { name: "shape" ints: 5 } }
      op { type: "Copy" input: "a" output: "first" }
      op { type: "GaussianFill" output: "a" arg { name: "shape" ints: 5 } }
      op { type: "UniformFill" output: "b" arg { name: "shape" ints: 5 } })";
  const auto drawn = [&](std::optional<uint64_t> seed, int way) {
    Workspace ws;
    ws.SetRandomSeed(seed);
    NetDef net = ParseNet(init);
    if (way == 1) net.set_type("dag");
    if (way == 2) {
      EXPECT_TRUE(ws.RunNetOnce(net));
    } else {
      RunInitNet(std::move(net), &ws);
    }
    return std::vector<Floats>{Fetch<float>(ws, "first"), Fetch<float>(ws, "a"),
                               Fetch<float>(ws, "b")};
  };
  const std::vector<Floats> five = drawn(5, 0);
  for (int way = 0; way < 3; ++way) EXPECT_EQ(drawn(5, way), five) << way;
  EXPECT_EQ(std::set(five.begin(), five.end()).size(), 3u);
  EXPECT_NE(drawn(6, 0), five);
  EXPECT_NE(drawn(std::nullopt, 0), drawn(std::nullopt, 0));
}

}  // namespace
}  // namespace caffe2rt::test::random_seed_test
