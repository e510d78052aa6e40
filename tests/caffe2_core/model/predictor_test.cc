#include "caffe2_core/model/predictor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/waiting.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::predictor_test {
namespace {

using namespace test;  // used throughout this file

TEST(PredictorTest, ComputesOutputsFromInputsByPosition) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 0}));
}

// The init net must run: `{}` is PredictorOptions, not the bool of Caffe2's constructor.
TEST(PredictorTest, EmptyBracesMeanDefaultOptions) {
  const NetDef init = ParseNet(kInit), predict = ParseNet(kPredict);
  Predictor of_lvalues(init, predict, nullptr, {});
  Predictor of_rvalues(ParseNet(kInit), ParseNet(kPredict), nullptr, {});
  Predictor with_flags(ParseNet(kInit), ParseNet(kPredict), nullptr, true, 0);
  for (Predictor* predictor : {&of_lvalues, &of_rvalues, &with_flags}) {
    std::vector<Tensor> out;
    ASSERT_TRUE((*predictor)({Vector({1, -30})}, &out));
    EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 0}));
  }
}

// Without Cancel, the reader would wait for ever.
TEST(PredictorTest, CancelStopsTheRunsInProgress) {
  Predictor predictor(ParseNet(kInit), ParseNet(R"(
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "DequeueBlobs" input: "q" output: "y" } external_output: "y")"));
  std::atomic<int> ended{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      std::vector<Tensor> out;
      EXPECT_THROW(predictor(Predictor::TensorList(), &out), RunStopped);
      ++ended;
    });
  }
  while (ended < 2) predictor.Cancel();
  for (std::thread& caller : callers) caller.join();

  Predictor other(ParseNet(kInit), ParseNet(kPredict));
  other.Cancel();  // no run is in progress
  std::vector<Tensor> out;
  EXPECT_TRUE(other({Vector({1, -30})}, &out));
}

TEST(PredictorTest, AcceptsInputsByName) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  Predictor::TensorMap out;
  ASSERT_TRUE(predictor(Predictor::TensorMap{{"x", Vector({1, 2})}}, &out));
  EXPECT_EQ(Values(out.at("z")), (std::vector<float>{11, 22}));
}

TEST(PredictorTest, RejectsUnknownNamesAndTooManyInputs) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ExpectThrows(
      [&] {
        predictor(Predictor::TensorMap{{"xx", Vector({1, 2})}}, &out);
      },
      "Blob does not exist: xx");
  const Tensor one = Vector({1, 2});
  ExpectThrows([&] { predictor({one, one, one}, &out); }, "got 3, want at most 2");
}

TEST(PredictorTest, ResultThatIsHeldSurvivesLaterCalls) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> first, second;
  predictor({Vector({1, 1})}, &first);
  const Tensor held = first[0];
  predictor({Vector({2, 2})}, &first);
  predictor({Vector({3, 3})}, &second);
  EXPECT_EQ(Values(held), (std::vector<float>{11, 21}));
  EXPECT_EQ(Values(first[0]), (std::vector<float>{12, 22}));
  EXPECT_EQ(Values(second[0]), (std::vector<float>{13, 23}));
}

TEST(PredictorTest, NetThatWritesItsInputLeavesTheCallersTensorAlone) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "x" }
                                            external_input: "x" external_output: "x")"));
  const Tensor x = Vector({-1, 2});
  std::vector<Tensor> out;
  predictor({x}, &out);
  EXPECT_EQ(Values(x), (std::vector<float>{-1, 2}));
  EXPECT_EQ(Values(out[0]), (std::vector<float>{0, 2}));
}

TEST(PredictorTest, RejectsLimitsOutOfRange) {
  for (const int limit : {0, -1, 1025}) {
    ExpectThrows(
        [&] {
          Predictor(ParseNet(kInit), ParseNet(kPredict), nullptr,
                    PredictorOptions{.max_instances = limit});
        },
        "want 1 to 1024");
  }
  Predictor largest(ParseNet(kInit), ParseNet(kPredict), nullptr,
                    PredictorOptions{.max_instances = 1024});
  EXPECT_EQ(largest.num_instances(), 1);
}

TEST(PredictorTest, NetThatWritesAWeightLeavesOtherInstancesAlone) {
  // Every run does w += x. Each instance has its own w, which starts with the value from the init
  // net.
  Predictor predictor(ParseNet(kInit), ParseNet(R"(name: "n"
    op { type: "Add" input: "w" input: "x" output: "w" }
    external_input: "x" external_input: "w" external_output: "w")"));
  std::vector<Tensor> a;
  predictor({Vector({1, 1})}, &a);
  EXPECT_EQ(Values(a[0]), (std::vector<float>{11, 21}));
  Predictor::TensorVector out;
  Tensor x = Vector({5, 5});
  predictor.run({&x}, &out);  // the overload with pointers has its own instance
  EXPECT_EQ(Values(*out[0]), (std::vector<float>{15, 25}));
}

TEST(PredictorTest, CopiesShareWeights) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  Predictor copy = predictor;
  const Workspace* const a = static_cast<const Predictor&>(predictor).ws();
  EXPECT_EQ(a, static_cast<const Predictor&>(copy).ws());
  std::vector<Tensor> out;
  copy({Vector({1, 1})}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 21}));
}

TEST(PredictorTest, OlderFormGivesPointersIntoItsWorkspace) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  Tensor x = Vector({1, 2});
  Predictor::TensorVector out;
  ASSERT_TRUE(predictor.run({&x}, &out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0], predictor.ws()->GetBlob("z")->GetMutable<Tensor>());
  EXPECT_EQ(Values(*out[0]), (std::vector<float>{11, 22}));
  // A further call replaces the list.
  ASSERT_TRUE(predictor.run({&x}, &out));
  EXPECT_EQ(out.size(), 1u);
  ASSERT_TRUE(predictor.run_map(Predictor::TensorMap{{"x", x}}, &out));
  EXPECT_EQ(out.size(), 1u);
}

TEST(PredictorTest, EightThreadsGetTheirOwnResults) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<Tensor> out;
      for (int i = 0; i < 200; ++i) {
        const float value = static_cast<float>(t * 1000 + i);
        predictor({Vector({value, value})}, &out);
        if (Values(out[0]) != std::vector<float>{value + 10, value + 20}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(predictor.num_instances(), 8);
}

TEST(PredictorTest, CallsBeyondTheLimitWait) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict), nullptr,
                      PredictorOptions{.max_instances = 1});
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<Tensor> out;
      for (int i = 0; i < 50; ++i) done += predictor({Vector({1, 1})}, &out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 200);
  EXPECT_EQ(predictor.num_instances(), 1);
}

TEST(PredictorTest, FailureNamesNetAndOperatorAndLeavesThePredictorUsable) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ExpectThrows([&] { predictor({Vector({1, 2, 3})}, &out); }, "net \"sum\", operator 0 (Add");
  ASSERT_TRUE(predictor({Vector({1, 1})}, &out));
  EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 21}));
}

// A call leases its instance before it reads the inputs.
TEST(PredictorTest, ACallThatThrowsGivesItsInstanceBack) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  Predictor::TensorMap named;
  using Map = Predictor::TensorMap;
  const std::pair<std::function<void()>, const char*> calls[] = {
      {[&] {
         predictor({Vector({1, 2, 3})}, &out);
       },
       "operator 0 (Add"},
      {[&] { predictor({Tensor(CPU)}, &out); }, "has no shape"},
      {[&] {
         predictor(Map{{"x", Vector({1, 2, 3})}}, &out);
       },
       "operator 0 (Add"},
      {[&] {
         predictor(Map{{"xx", Vector({1, 2})}}, &out);
       },
       "Blob does not exist: xx"},
      {[&] {
         predictor(Map{{"x", Vector({1, 2, 3})}}, &named);
       },
       "operator 0 (Add"}};
  for (const auto& [call, error] : calls) {
    for (int i = 0; i < 2; ++i) ExpectThrows(call, error);
    EXPECT_EQ(predictor.num_instances(), 1) << error;
    predictor({Vector({1, -30})}, &out);
    EXPECT_EQ(Values(out.at(0)), (std::vector<float>{11, 0}));
  }
  // The output is known to be no tensor only after the run.
  Predictor counter(NetDef(), ParseNet(R"(name: "counter"
      op { type: "CreateCounter" output: "c" } external_output: "c")"));
  for (int i = 0; i < 2; ++i) {
    ExpectThrows([&] { counter(Predictor::TensorList(), &out); }, "\"c\" is not a tensor");
  }
  EXPECT_EQ(counter.num_instances(), 1);
}

TEST(PredictorTest, UnnamedNetsGetAName) {
  Predictor predictor(NetDef(), ParseNet(R"(op { type: "Relu" input: "x" output: "y" })"));
  std::vector<Tensor> out;
  predictor({Vector({-1})}, &out);
  EXPECT_EQ(predictor.def().name(), "predict");
  EXPECT_EQ(predictor.output_names(), std::vector<std::string>{"y"});
}

MetaNetDef Meta(const std::vector<std::pair<std::string, std::string>>& nets) {
  MetaNetDef meta;
  for (const auto& [key, text] : nets) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  }
  return meta;
}
void AddBlobs(const std::string& key, const std::vector<std::string>& names, MetaNetDef* meta) {
  BlobsMap* const entry = meta->add_blobs();
  entry->set_key(key);
  for (const std::string& name : names) entry->add_value(name);
}

// The file lists the init nets in the opposite order: the predict init net needs the output of the
// global one.
TEST(PredictorTest, RunsTheGlobalInitNetOfAMetaNetFirst) {
  MetaNetDef meta =
      Meta({{"PREDICT_INIT_NET_TYPE", R"(op { type: "Copy" input: "v" output: "w" })"},
            {"GLOBAL_INIT_NET_TYPE", R"(op { type: "GivenTensorFill" output: "v"
               arg { name: "shape" ints: 2 } arg { name: "values" floats: 1 floats: 2 } })"},
            {"PREDICT_NET_TYPE", kPredict}});
  meta.mutable_nets(0)->mutable_value()->add_external_input("v");
  AddBlobs("INPUTS_BLOB_TYPE", {"x"}, &meta);
  AddBlobs("OUTPUTS_BLOB_TYPE", {"y", "z"}, &meta);
  Predictor predictor(meta);
  EXPECT_EQ(predictor.input_names(), std::vector<std::string>{"x"});
  std::vector<Tensor> out;
  predictor({Vector({-5, 5})}, &out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{-4, 7}));
  EXPECT_EQ(Values(out[1]), (std::vector<float>{0, 7}));
}

TEST(PredictorTest, MetaNetWithoutBlobsUsesThePredictNets) {
  const MetaNetDef meta = Meta({{"PREDICT_INIT_NET_TYPE", kInit}, {"PREDICT_NET_TYPE", kPredict}});
  Predictor predictor(meta);
  EXPECT_EQ(predictor.input_names(), (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(predictor.output_names(), std::vector<std::string>{"z"});
  // If the init net is not run, the parent's weights are used.
  Workspace parent;
  Feed<float>(&parent, "w", {2}, {100, 200});
  Predictor without(meta, &parent, PredictorOptions{.run_init = false});
  std::vector<Tensor> out;
  without({Vector({1, 1})}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{101, 201}));
  ExpectThrows(
      [] {
        Predictor missing(Meta({{"PREDICT_INIT_NET_TYPE", kInit}}));
      },
      "no net \"PREDICT_NET_TYPE\"; it has: PREDICT_INIT_NET_TYPE");
}

// The constructors that copy and move a MetaNetDef, and the one that shares ownership of the parent.
TEST(PredictorTest, MetaNetsAreCopiedOrMovedAndParentsShared) {
  const MetaNetDef meta = Meta({{"PREDICT_INIT_NET_TYPE", kInit}, {"PREDICT_NET_TYPE", kPredict}});
  const std::string before = meta.SerializeAsString();
  auto parent = std::make_shared<Workspace>();
  const std::weak_ptr<Workspace> observer = parent;
  Feed<float>(parent.get(), "w", {2}, {100, 200});
  const PredictorOptions options{.run_init = false, .kept_blobs = {"y"}};
  const auto answer = [](Predictor* predictor) {
    std::vector<Tensor> out;
    EXPECT_TRUE((*predictor)({Vector({1, -500})}, &out));
    return Values(out.at(0));
  };
  {
    std::optional<Predictor> shared(std::in_place, meta, parent, options);
    parent.reset();
    EXPECT_FALSE(observer.expired());
    EXPECT_EQ(answer(&*shared), (std::vector<float>{101, 0}));
    const Predictor copy = *shared;
    shared.reset();
    EXPECT_FALSE(observer.expired()) << "a copy has it, too";
  }
  EXPECT_TRUE(observer.expired());
  Predictor alone(meta, std::shared_ptr<Workspace>(), PredictorOptions{});
  EXPECT_EQ(answer(&alone), (std::vector<float>{11, 0}));
  EXPECT_EQ(meta.SerializeAsString(), before);
  Workspace weights;
  Feed<float>(&weights, "w", {2}, {7, 1000});
  Predictor moved(MetaNetDef(meta), &weights, options);
  EXPECT_EQ(answer(&moved), (std::vector<float>{8, 500}));
  ExpectThrows(
      [&] {
        Predictor none(meta, std::make_shared<Workspace>(), PredictorOptions{.max_instances = 0});
      },
      "max_instances of a predictor is 0, want 1 to ");
}

TEST(PredictorTest, ConfigKeepsItsWorkspaceAliveAndNamesTheBlobs) {
  PredictorConfig config;
  config.predict_net = std::make_shared<NetDef>(ParseNet(kPredict));
  config.ws = std::make_shared<Workspace>();
  Feed<float>(config.ws.get(), "w", {2}, {1, 2});
  config.input_names = {"x"};
  config.output_names = {"y"};
  Predictor predictor(config);
  config = PredictorConfig();
  std::vector<Tensor> out;
  predictor({Vector({-5, 5})}, &out);
  EXPECT_EQ(Values(out.at(0)), (std::vector<float>{-4, 7}));
  EXPECT_EQ(predictor.input_names(), std::vector<std::string>{"x"});
}

TEST(PredictorTest, NamesInputsAndOutputsThatItCannotUse) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ExpectThrows([&] { predictor({Tensor(CPU)}, &out); }, "input 0 (\"x\") has no shape");
  Tensor x = Vector({1, 2});
  Predictor::TensorVector pointers;
  ExpectThrows([&] { predictor.run({&x, &x, &x}, &pointers); }, "got 3, want at most 2");
  ExpectThrows(
      [&] {
        predictor.run_map(Predictor::TensorMap{{"q", x}}, &pointers);
      },
      "Blob does not exist: q; the predictor's inputs are x, w");
  NetDef unknown = ParseNet(kPredict);
  unknown.set_type("no_such_type");
  ExpectThrows([&] { Predictor(ParseNet(kInit), unknown); },
               "has type \"no_such_type\", which is not known");
}

TEST(PredictorTest, NetsForAMissingDeviceRunOnTheCpuWhenAsked) {
  NetDef init = ParseNet(kInit), predict = ParseNet(kPredict);
  constexpr int kNoSuchDevice = 9;
  for (NetDef* net : {&init, &predict}) {
    net->mutable_device_option()->set_device_type(kNoSuchDevice);
  }
  EXPECT_THROW(Predictor(init, predict), EnforceNotMet);
  EXPECT_THROW(Predictor(ParseNet(kInit), predict), EnforceNotMet);
  Predictor predictor(init, predict, nullptr, PredictorOptions{.device_fallback = true});
  std::vector<Tensor> out;
  predictor({Vector({1, 1})}, &out);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 21}));
}

}  // namespace
}  // namespace caffe2rt::predictor_test
