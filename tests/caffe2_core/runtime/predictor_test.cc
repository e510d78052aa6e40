#include "caffe2_core/runtime/predictor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/runtime/predictor_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt {
namespace {

using namespace test;  // the helpers are the vocabulary of this file

TEST(PredictorTest, ComputesOutputsFromInputsByPosition) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(Values(out[0]), (std::vector<float>{11, 0}));
}

TEST(PredictorTest, TakesInputsByName) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  Predictor::TensorMap out;
  ASSERT_TRUE(predictor(Predictor::TensorMap{{"x", Vector({1, 2})}}, &out));
  EXPECT_EQ(Values(out.at("z")), (std::vector<float>{11, 22}));
}

TEST(PredictorTest, RefusesUnknownNamesAndTooManyInputs) {
  Predictor predictor(ParseNet(kInit), ParseNet(kPredict));
  std::vector<Tensor> out;
  ExpectThrows(
      [&] {
        predictor(Predictor::TensorMap{{"xx", Vector({1, 2})}}, &out);
      },
      "Blob does not exist: xx");
  const Tensor one = Vector({1, 2});
  ExpectThrows([&] { predictor({one, one, one}, &out); }, "3 vs 2");
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

TEST(PredictorTest, RefusesLimitsOutOfRange) {
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
  // w += x at every run: each instance has its own w, beginning with the init net's.
  Predictor predictor(ParseNet(kInit), ParseNet(R"(name: "n"
    op { type: "Add" input: "w" input: "x" output: "w" }
    external_input: "x" external_input: "w" external_output: "w")"));
  std::vector<Tensor> a;
  predictor({Vector({1, 1})}, &a);
  EXPECT_EQ(Values(a[0]), (std::vector<float>{11, 21}));
  Predictor::TensorVector out;
  Tensor x = Vector({5, 5});
  predictor.run({&x}, &out);  // the older form's own instance
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

TEST(PredictorTest, UnnamedNetsGetAName) {
  Predictor predictor(NetDef(), ParseNet(R"(op { type: "Relu" input: "x" output: "y" })"));
  std::vector<Tensor> out;
  predictor({Vector({-1})}, &out);
  EXPECT_EQ(predictor.def().name(), "predict");
  EXPECT_EQ(predictor.output_names(), std::vector<std::string>{"y"});
}

// A net that asks whether there is a database.
NetDef NetThatOpensAFile() {
  return ParseNet(R"(op { type: "DBExists" output: "exists" arg { name: "db_type" s: "minidb" }
      arg { name: "db_name" s: "nowhere" } } external_output: "exists")");
}

MetaNetDef MetaNetThatOpensAFile() {
  MetaNetDef meta;
  NetsMap* entry = meta.add_nets();
  entry->set_key("PREDICT_NET_TYPE");
  *entry->mutable_value() = NetThatOpensAFile();
  return meta;
}

bool RunsAndFindsNothing(Predictor predictor) {
  std::vector<Tensor> out;
  return predictor(Predictor::TensorList(), &out) && !out[0].data<bool>()[0];
}

TEST(PredictorTest, OpensNoFilesUnlessAsked) {
  const std::string refusal =
      "nets may access no files here; PredictorOptions::file_access allows it";
  const auto run = [](const Predictor& predictor) { RunsAndFindsNothing(predictor); };
  const NetDef net = NetThatOpensAFile();
  ExpectThrows([&] { run(Predictor(NetDef(), net)); }, refusal);
  ExpectThrows([&] { run(Predictor(MetaNetThatOpensAFile())); }, refusal);
  // The init net already.
  ExpectThrows([&] { Predictor(net, ParseNet(kPredict)); }, refusal);
  PredictorOptions options;
  options.file_access = FileAccess::Free();
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, nullptr, options)));
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(MetaNetThatOpensAFile(), nullptr, options)));
}

TEST(PredictorTest, FollowsThePolicyOfTheParentUnlessItHasItsOwn) {
  const NetDef net = NetThatOpensAFile();
  Workspace parent;
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, &parent)));
  PredictorOptions off;
  off.file_access = FileAccess::Off("an option");
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(NetDef(), net, &parent, off)); }, "an option");
  parent.SetFileAccess(FileAccess::Off("the parent"));
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(NetDef(), net, &parent)); }, "the parent");
  PredictorOptions free;
  free.file_access = FileAccess::Free();
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, &parent, free)));
  PredictorConfig config;
  config.ws = std::make_shared<Workspace>(&parent);
  config.predict_net = std::make_shared<NetDef>(net);
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(config)); }, "the parent");
}

TEST(PredictorTest, TheOlderFormFollowsThePolicyToo) {
  NetDef net = NetThatOpensAFile();
  Predictor predictor(NetDef(), net);
  Predictor::TensorVector out;
  ExpectThrows([&] { predictor.run({}, &out); }, "nets may access no files here");
}

TEST(PredictorTest, LoadedFromADatabaseOpensOnlyTheDatabase) {
  const test::TempDir dir;
  MetaNetDef meta = MetaNetThatOpensAFile();
  Blob blob;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  {
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
  }
  const Predictor loaded = LoadPredictor(dir.path("p"), "minidb");
  ExpectThrows([&] { RunsAndFindsNothing(loaded); }, "PredictorOptions::file_access allows it");
  PredictorOptions options;
  options.file_access = FileAccess::Below({dir.path()});
  ExpectThrows([&] { RunsAndFindsNothing(LoadPredictor(dir.path("p"), "minidb", "", options)); },
               "it is not below");
  options.file_access = FileAccess::Below({"."});
  EXPECT_TRUE(RunsAndFindsNothing(LoadPredictor(dir.path("p"), "minidb", "", options)));
}

}  // namespace
}  // namespace caffe2rt
