// A training that can be worked out by hand: what it prints, logs and keeps, with each option.
//
// y = w x with x = 1, w = 0 at first, and the label 4. The loss is (y - 4)^2 / 2 and its gradient y - 4, so that with
// a rate of 0.5 each step halves the distance: losses 8, 2, 0.5, 0.125 and so on.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/train.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::train_values_test {
namespace {

namespace fs = std::filesystem;

class TrainValuesTest : public ProgramFolder {
 protected:
  void SetUp() override {
    Array("x.npy", {2, 1}, {1, 1});
    Array("y.npy", {2, 1}, {4, 4});
    dir_.Write("line.pbtxt", R"(
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        input { batch_size: 2 } optimizer { rate: 0.5 })");
    ASSERT_EQ(
        Run({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/d.minidb"}).code,
        0);
  }
  // `caffe2 train` into DIR/run.
  static Words Train(const Words& more) {
    Words words = {"train", "DIR/line.pbtxt", "--data", "DIR/d.minidb", "--output", "DIR/run"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words CheckpointsIn(const std::string& folder) const {
    Words names;
    for (const fs::directory_entry& entry : fs::directory_iterator(dir_.path(folder))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("checkpoint-")) names.push_back(name.substr(11));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Without the speed.
  std::string Log() const {
    return std::regex_replace(ReadWholeFile(dir_.path("run/log.jsonl")),
                              std::regex(",\"images_per_second\":[0-9.e+]+"), "");
  }
  RunDef Def() const {
    RunDef run;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        ReadWholeFile(dir_.path("run/run.pbtxt")), &run));
    return run;
  }
};

TEST_F(TrainValuesTest, PrintsTheMeanOfEachEpoch) {
  EXPECT_EQ(Out(Train({"--epochs", "3"})),
            "epoch 1/3  loss 8.0000  best so far\nepoch 2/3  loss 2.0000  best so far\n"
            "epoch 3/3  loss 0.5000  best so far\ntrained 3 steps; the net is in "
            "DIR/run/model.minidb, its curves in DIR/run/curves.svg\n");
  EXPECT_EQ(Log(),
            "{\"epoch\":1,\"iteration\":1,\"loss\":8,\"rate\":0.5}\n"
            "{\"epoch\":1,\"iteration\":1,\"best\":true}\n"
            "{\"epoch\":2,\"iteration\":2,\"loss\":2,\"rate\":0.5}\n"
            "{\"epoch\":2,\"iteration\":2,\"best\":true}\n"
            "{\"epoch\":3,\"iteration\":3,\"loss\":0.5,\"rate\":0.5}\n"
            "{\"epoch\":3,\"iteration\":3,\"best\":true}\n");
  EXPECT_EQ(CheckpointsIn("run"), (Words{"1", "2", "3", "best"}));
  EXPECT_EQ(Out({"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb"}),
            "DIR/run/checkpoint-3 on 2 records: loss 0.1250\n");
  const std::string json =
      Out({"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb", "--json"});
  EXPECT_EQ(JsonAt(json, ""), R"({"checkpoint":"DIR/run/checkpoint-3","records":2,"loss":0.125})");
  // Nothing is left to do.
  EXPECT_EQ(Out({"train", "--resume", "DIR/run"}),
            "trained 3 steps; the net is in DIR/run/model.minidb, its curves in "
            "DIR/run/curves.svg\n");
}

TEST_F(TrainValuesTest, PrintsTheTestBehindEachEpoch) {
  EXPECT_EQ(Out(Train({"--epochs", "2", "--test", "DIR/d.minidb", "--keep", "1"})),
            "epoch 1/2  test loss 2.0000  best so far\nepoch 2/2  test loss 0.5000  best so far\n"
            "trained 2 steps; the net is in DIR/run/model.minidb, its curves in "
            "DIR/run/curves.svg\n");
  EXPECT_EQ(Log(),
            "{\"epoch\":1,\"iteration\":1,\"loss\":8,\"rate\":0.5}\n"
            "{\"epoch\":1,\"iteration\":1,\"test_loss\":2,\"best\":true}\n"
            "{\"epoch\":2,\"iteration\":2,\"loss\":2,\"rate\":0.5}\n"
            "{\"epoch\":2,\"iteration\":2,\"test_loss\":0.5,\"best\":true}\n");
  EXPECT_EQ(CheckpointsIn("run"), (Words{"2", "best"}));
}

// Two steps of one record in each epoch: losses 8 and 2, then 0.5 and 0.125.
TEST_F(TrainValuesTest, BatchesAndCheckpointsAsAsked) {
  EXPECT_EQ(JsonAt(Out(Train({"--epochs", "2", "--batch-size", "1", "--checkpoint-every", "1",
                              "--keep", "9", "--json"})),
                   ""),
            R"({"run":"DIR/run","steps":4,"checkpoint":"DIR/run/checkpoint-4",)"
            R"("model":"DIR/run/model.minidb","interrupted":false})");
  EXPECT_EQ(CheckpointsIn("run"), (Words{"0", "1", "2", "3", "4", "best"}));
  EXPECT_EQ(Log(),
            "{\"epoch\":1,\"iteration\":1,\"loss\":8,\"rate\":0.5}\n"
            "{\"epoch\":1,\"iteration\":2,\"loss\":2,\"rate\":0.5}\n"
            "{\"epoch\":1,\"iteration\":2,\"best\":true}\n"
            "{\"epoch\":2,\"iteration\":3,\"loss\":0.5,\"rate\":0.5}\n"
            "{\"epoch\":2,\"iteration\":4,\"loss\":0.125,\"rate\":0.5}\n"
            "{\"epoch\":2,\"iteration\":4,\"best\":true}\n");
  // 8 / 4^4, and, with more digits, 8 / 4^6.
  const Words evaluate = {"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb"};
  EXPECT_EQ(Out(evaluate), "DIR/run/checkpoint-4 on 2 records: loss 0.0312\n");
  fs::remove_all(dir_.path("run"));
  Out(Train({"--epochs", "3", "--batch-size", "1"}));
  EXPECT_EQ(Out(evaluate), "DIR/run/checkpoint-6 on 2 records: loss 0.0019531\n");
}

// With a rate of 2 the distance stays the same, with another sign; with 3 it doubles.
TEST_F(TrainValuesTest, EpochsWithoutGainEndIt) {
  EXPECT_EQ(Out(Train({"--epochs", "9", "--rate", "2", "--stop-after", "2"})),
            "epoch 1/9  loss 8.0000  best so far\nepoch 2/9  loss 8.0000\nepoch 3/9  loss 8.0000\n"
            "ended: no gain\ntrained 3 steps; the net is in DIR/run/model.minidb, its curves in "
            "DIR/run/curves.svg\n");
  fs::remove_all(dir_.path("run"));
  EXPECT_EQ(Out(Train({"--epochs", "2", "--rate", "3", "--stop-after", "2"})).substr(0, 68),
            "epoch 1/2  loss 8.0000  best so far\nepoch 2/2  loss 32.0000\ntrained ");
  fs::remove_all(dir_.path("run"));
  const ProgramResult result = Run(Train({"--epochs", "9", "--rate", "1e30"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("the loss of step 2 is inf; a lower rate, or clip_norm, may help"),
            std::string::npos)
      << result.err;
}

TEST_F(TrainValuesTest, OptionsAreKeptInTheRun) {
  Out(Train({}));
  RunDef run = Def();
  EXPECT_EQ(run.data().path(), dir_.path("d.minidb"));
  EXPECT_EQ(run.data().type(), "minidb");
  EXPECT_FALSE(run.has_test() || run.has_stop_after() || run.has_checkpoint_every() ||
               run.has_init() || run.shuffle());
  EXPECT_EQ(run.epochs(), 1);
  EXPECT_EQ(run.seed(), 1u);
  EXPECT_EQ(run.keep(), 3);
  EXPECT_EQ(run.device(), "cpu");
  EXPECT_EQ(run.on_error(), "stop");
  EXPECT_EQ(run.train().name(), "line");
  EXPECT_EQ(run.train().input().batch_size(), 2);
  EXPECT_EQ(run.train().optimizer().rate(), 0.5f);
  fs::remove_all(dir_.path("run"));
  dir_.Write("labels", "cat\ndog\n");
  Out(Train({"--test",    "DIR/d.minidb",
             "--epochs",  "2",
             "--seed",    "7",
             "--shuffle", "--stop-after",
             "5",         "--checkpoint-every",
             "6",         "--keep",
             "8",         "--on-error",
             "skip",      "--optimizer",
             "rmsprop",   "--rate",
             "0.25",      "--momentum",
             "0.75",      "--weight-decay",
             "0.125",     "--batch-size",
             "1",         "--labels",
             "DIR/labels"}));
  run = Def();
  EXPECT_EQ(run.test().path(), dir_.path("d.minidb"));
  EXPECT_EQ(run.epochs(), 2);
  EXPECT_EQ(run.seed(), 7u);
  EXPECT_TRUE(run.shuffle());
  EXPECT_EQ(run.stop_after(), 5);
  EXPECT_EQ(run.checkpoint_every(), 6);
  EXPECT_EQ(run.keep(), 8);
  EXPECT_EQ(run.on_error(), "skip");
  EXPECT_EQ(run.train().optimizer().type(), "rmsprop");
  EXPECT_EQ(run.train().optimizer().rate(), 0.25f);
  EXPECT_EQ(run.train().optimizer().momentum(), 0.75f);
  EXPECT_EQ(run.train().optimizer().weight_decay(), 0.125f);
  EXPECT_EQ(run.train().input().batch_size(), 1);
  ASSERT_EQ(run.train().input().class_name_size(), 2);
  EXPECT_EQ(run.train().input().class_name(1), "dog");
}

TEST_F(TrainValuesTest, PlansStateHowTheyRun) {
  EXPECT_EQ(Out(Train({"--epochs", "3", "--batch-size", "1", "--write-plan", "DIR/plan.pbtxt"})),
            "DIR/plan.pbtxt: 3 epochs of 2 steps; run it with: caffe2 plan DIR/plan.pbtxt "
            "--on-interrupt line_checkpoint\n");
  EXPECT_EQ(ReadWholeFile(dir_.path("plan.pbtxt")).substr(0, 12), "name: \"line\"");
  EXPECT_FALSE(fs::exists(dir_.path("run/run.pbtxt")));
  Out(Train({"--write-plan", "DIR/plan.pb"}));
  EXPECT_NE(ReadWholeFile(dir_.path("plan.pb")).substr(0, 4), "name");
  const ProgramResult ran = Run({"plan", "DIR/plan.pbtxt", "--fetch", "w"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  // Six steps: 4 - 4 / 2^6.
  EXPECT_NE(ran.out.find("3.9375"), std::string::npos) << ran.out;
}

// The weight is 2 at first; its gradient is -2, as is that of the bias.
TEST_F(TrainValuesTest, OptionsDescribeANetWithoutADefinition) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "in" external_input: "goal"
      op { type: "FC" input: ["in", "w", "b"] output: "y" }
      op { type: "SquaredL2Distance" input: ["y", "goal"] output: "d" }
      op { type: "AveragedLoss" input: "d" output: "l2" }
      op { type: "AveragedLoss" input: "y" output: "mean" })");
  dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [1, 1] }
           arg { name: "value" f: 2 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } })");
  const Words train = {"train",
                       "--predict-net",
                       "DIR/net.pbtxt",
                       "--init-net",
                       "DIR/init.pbtxt",
                       "--loss",
                       "l2",
                       "--rate",
                       "0.25",
                       "--batch-size",
                       "2",
                       "--data",
                       "DIR/d.minidb",
                       "--output",
                       "DIR/run",
                       "--blobs"};
  Words words = train;
  words.insert(words.end(), {"in,goal", "--accuracy", "mean", "--test", "DIR/d.minidb"});
  EXPECT_EQ(
      Out(words),
      "epoch 1/1  test loss 0.5000  accuracy 300.00 %  best so far\n"
      "trained 1 step; the net is in DIR/run/model.minidb, its curves in DIR/run/curves.svg\n");
  EXPECT_EQ(Log(),
            "{\"epoch\":1,\"iteration\":1,\"loss\":2,\"accuracy\":2,\"rate\":0.25}\n"
            "{\"epoch\":1,\"iteration\":1,\"test_loss\":0.5,\"test_accuracy\":3,\"best\":true}\n");
  words = train;
  words.push_back("data,goal");
  words[14] = "DIR/other";
  const ProgramResult refused = Run(words);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(
      refused.err,
      "caffe2: the net reads blob \"in\", which is neither a parameter nor one of the inputs "
      "data, goal; add a `param`, an operator of `init_net` (--init-net) or a blob of `input` "
      "(--blobs)\n");
}

}  // namespace
}  // namespace caffe2rt::test::train_values_test
