// Details of `caffe2 train`: how paths are kept, where plans and their results are, what a run accepts when it goes on, and
// the ends of ranges.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/train.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::train_details_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;
namespace fs = std::filesystem;

// y = w x with x = 1, w = 0 at first, and the label 4: the loss is (y - 4)^2 / 2, so that a rate of 1 leaves none.
class TrainDetailsOptionsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    Array("x.npy", {2, 1}, {1, 1});
    Array("y.npy", {2, 1}, {4, 4});
    MakeData("DIR/d.minidb");
    dir_.Write("line.pbtxt", R"(
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        input { batch_size: 2 } optimizer { rate: 0.5 })");
  }
  void MakeData(const std::string& path) const {
    Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", path});
  }
  static Words Train(const Words& more) { return Joined({"train", "DIR/line.pbtxt"}, more); }
  RunDef Def() const {
    RunDef run;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        ReadWholeFile(dir_.path("run/run.pbtxt")), &run));
    return run;
  }
};

TEST_F(TrainDetailsOptionsTest, PathsAreKeptWholeAndPlain) {
  MakeData("DIR/d.leveldb");
  MakeData("DIR/t.lmdb");
  const std::string json = Out(Train({"--data", "DIR/x/.././d.leveldb//", "--test", "DIR/./t.lmdb/",
                                      "--output", "DIR/run//", "--json"}));
  EXPECT_EQ(JsonAt(json, "/run"), "\"DIR/run\"");
  EXPECT_EQ(JsonAt(json, "/model"), "\"DIR/run/model.minidb\"");
  EXPECT_EQ(Def().data().path(), dir_.path("d.leveldb"));
  EXPECT_EQ(Def().data().type(), "leveldb");
  EXPECT_EQ(Def().test().path(), dir_.path("t.lmdb"));
  EXPECT_EQ(Def().test().type(), "lmdb");
  // What the current folder is does not matter to a run that goes on.
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  fs::remove_all(dir_.path("run"));
  const ProgramResult begun = Run({"train", "line.pbtxt", "--data", "d.minidb", "--output", "run",
                                   "--init", "none/../d.minidb"});
  fs::current_path(before);
  EXPECT_EQ(begun.code, 1) << "the database of --init has no weights";
  fs::remove_all(dir_.path("run"));
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/first"}));
  fs::current_path(dir_.path());
  const ProgramResult relative = Run({"train", "line.pbtxt", "--data", "d.minidb", "--output",
                                      "run/", "--init", "first/model.minidb"});
  fs::current_path(before);
  EXPECT_EQ(relative.code, 0) << relative.err;
  EXPECT_THAT(relative.out, HasSubstr("the net is in run/model.minidb, its curves in run/curves"));
  EXPECT_EQ(Def().data().path(), dir_.path("d.minidb"));
  EXPECT_EQ(Def().init(), dir_.path("run/init.minidb"));
}

// The name of a definition without one is that of its file.
TEST_F(TrainDetailsOptionsTest, TheNameOfADefinitionIsTheNameOfItsNets) {
  const std::string text = ReadWholeFile(dir_.path("line.pbtxt"));
  for (const auto& [name, want] : {std::pair("name: \"digits\"", "digits"), {"", "line"}}) {
    dir_.Write("line.pbtxt", name + text);
    const std::string file = MakeString(want, "_plan.pbtxt");
    Out(Train({"--data", "DIR/d.minidb", "--write-plan", "DIR/" + file}));
    const std::string plan = ReadWholeFile(dir_.path(file));
    EXPECT_TRUE(plan.starts_with(MakeString("name: \"", want, "\""))) << plan.substr(0, 40);
    EXPECT_THAT(plan, HasSubstr(MakeString("name: \"", want, "_train\"")));
  }
}

TEST_F(TrainDetailsOptionsTest, APlanAndItsResultsAreInOneFolder) {
  fs::create_directory(dir_.path("sub"));
  MakeData("DIR/sub/d.minidb");
  for (const auto& [name, text] : {std::pair("plan.pbtxt", true), {"plan.prototxt", true},
                                   {"plan.txt", true}, {"plan.pb", false}, {"plan", false}}) {
    const std::string file = "DIR/sub/"s + name;
    EXPECT_THAT(Out(Train({"--data", "DIR/sub/d.minidb", "--write-plan", file})),
                HasSubstr("DIR/sub/"s + name + ": 1 epoch of 1 step; run it with: caffe2 plan " +
                          file + " --on-interrupt line_checkpoint\n"));
    EXPECT_EQ(ReadWholeFile(dir_.path("sub/"s + name)).starts_with("name: \"line\""), text) << name;
  }
  // On standard output it is alone.
  const ProgramResult piped =
      Run(Train({"--data", "DIR/sub/d.minidb", "--write-plan", "-", "--output", "DIR/sub"}));
  EXPECT_EQ(piped.code, 0);
  EXPECT_EQ(piped.out, Run({"convert", "DIR/sub/plan.pbtxt", "--to", "binary"}).out);
  EXPECT_THAT(piped.err, HasSubstr("-: 1 epoch of 1 step; run it with: caffe2 plan - "));
  Out({"plan", "DIR/sub/plan", "--fetch", "w"});
  EXPECT_TRUE(fs::exists(dir_.path("sub/weights.minidb")));
  EXPECT_FALSE(fs::exists(dir_.path("weights.minidb")));
}

TEST_F(TrainDetailsOptionsTest, SlashesBehindTheFolderOfARunDoNotCount) {
  for (const auto& [folder, name] : {std::pair("DIR/a", "DIR/a"),
                                     {"DIR/b/", "DIR/b"},
                                     {"DIR/c//", "DIR/c"},
                                     {"DIR/d///", "DIR/d"}}) {
    EXPECT_THAT(Out(Train({"--data", "DIR/d.minidb", "--output", folder})),
                HasSubstr("; the net is in "s + name + "/model.minidb, its curves in " + name +
                          "/curves.svg\n"));
    EXPECT_TRUE(fs::exists(dir_.path(std::string(name).substr(4) + "/model.minidb")));
  }
}

// The plan may open what is below its folder.
TEST_F(TrainDetailsOptionsTest, APlanThatReadsElsewhereNeedsAnOption) {
  const TempDir elsewhere;
  fs::copy_file(dir_.path("d.minidb"), elsewhere.path("d.minidb"));
  const std::string here = "DIR/d.minidb", there = elsewhere.path("d.minidb");
  const std::string option = " --allow-files-anywhere\n";
  for (const auto& [data, test] :
       {std::pair(here, here), {there, here}, {here, there}, {there, there}}) {
    const std::string out = Out(Train({"--data", data, "--test", test, "--output", "DIR/results",
                                       "--write-plan", "DIR/plan.pbtxt"}));
    const bool is_free = data == here && test == here;
    EXPECT_EQ(out.find(option) == std::string::npos, is_free) << data << " " << test;
    EXPECT_EQ(Run({"plan", "DIR/plan.pbtxt", "--overwrite"}).code, is_free ? 0 : 1);
  }
  // Results elsewhere need it, too.
  for (const auto& [output, is_free] :
       {std::pair("DIR/results"s, true), {elsewhere.path("results"), false}}) {
    const std::string out =
        Out(Train({"--data", here, "--output", output, "--write-plan", "DIR/plan.pbtxt"}));
    EXPECT_EQ(out.find(option) == std::string::npos, is_free) << output;
    EXPECT_EQ(Run({"plan", "DIR/plan.pbtxt", "--overwrite"}).code, is_free ? 0 : 1);
  }
}

TEST_F(TrainDetailsOptionsTest, AnExactFitHasNoLoss) {
  EXPECT_THAT(Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run", "--rate", "1", "--epochs",
                         "2"})),
              HasSubstr("epoch 1/2  loss 8.0000  best so far\nepoch 2/2  loss 0.0000  best so far\n"));
  const Words evaluate = {"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb"};
  EXPECT_EQ(Out(evaluate), "DIR/run/checkpoint-2 on 2 records: loss 0.0000\n");
  EXPECT_EQ(Out(Joined(evaluate, {"--json"})),
            "{\"checkpoint\": \"DIR/run/checkpoint-2\", \"records\": 2, \"loss\": 0}\n");
}

// The accuracy of the net is the mean of y: 2 before the only step, and 3 behind it.
TEST_F(TrainDetailsOptionsTest, AccuraciesOfARunAreInPercent) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["data", "label"]
      op { type: "FC" input: ["data", "w", "b"] output: "y" }
      op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
      op { type: "AveragedLoss" input: "d" output: "l2" }
      op { type: "AveragedLoss" input: "y" output: "mean" })");
  dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [1, 1] }
           arg { name: "value" f: 2 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } })");
  Out({"train", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--loss", "l2",
       "--accuracy", "mean", "--rate", "0.25", "--batch-size", "2", "--data", "DIR/d.minidb",
       "--output", "DIR/run"});
  const Words evaluate = {"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb"};
  EXPECT_EQ(Out(evaluate),
            "DIR/run/checkpoint-1 on 2 records: loss 0.5000, accuracy 300.00 %\n");
  EXPECT_EQ(Out(Joined(evaluate, {"--json"})),
            "{\"checkpoint\": \"DIR/run/checkpoint-1\", \"records\": 2, \"loss\": 0.5, "
            "\"accuracy\": 3}\n");
}

TEST_F(TrainDetailsOptionsTest, ARunGoesOnWithTheOptionsOfItsProcess) {
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run"}));
  for (const Words& more :
       {Words{"--threads", "2"}, Words{"--memory-limit", "1G"},
        Words{"--allow-files-anywhere"}, Words{"--rank", "0", "--size", "1"},
        Words{"--ranks", "1", "--store", "file:DIR/keys", "--run-id", "r", "--interface", "lo",
              "--timeout", "5"}}) {
    EXPECT_THAT(Out(Joined({"train", "--resume", "DIR/run"}, more)),
                HasSubstr("trained 1 step; the net is in DIR/run/model.minidb"));
  }
  for (const char* option : {"--shuffle", "--fresh-weights", "--plan-for-caffe2"}) {
    const ProgramResult result = Run({"train", "--resume", "DIR/run", option});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: option "s + option + " does not apply to --resume\n");
  }
  for (const char* option : {"--data",
                             "--test",
                             "--epochs",
                             "--output",
                             "--seed",
                             "--batch-size",
                             "--optimizer",
                             "--rate",
                             "--momentum",
                             "--weight-decay",
                             "--init",
                             "--stop-after",
                             "--checkpoint-every",
                             "--keep",
                             "--labels",
                             "--on-error",
                             "--predict-net",
                             "--init-net",
                             "--loss",
                             "--accuracy",
                             "--blobs",
                             "--write-plan",
                             "--device"}) {
    const ProgramResult result = Run({"train", "--resume", "DIR/run", option, "1"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: option "s + option + " does not apply to --resume\n");
  }
  const ProgramResult file = Run({"train", "DIR/line.pbtxt", "--resume", "DIR/run"});
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("argument \"DIR/line.pbtxt\" is unexpected"));
}

// The training has ended, but its net is written when it goes on.
TEST_F(TrainDetailsOptionsTest, ANetThatCannotBeWrittenIsAFailure) {
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run"}));
  fs::remove(dir_.path("run/model.minidb"));
  dir_.Write("run/model.minidb/file", "");
  const Words resume = {"train", "--resume", "DIR/run"};
  const std::string warning =
      "caffe2: warning: cannot write \"DIR/run/model.minidb\": it is a directory\n";
  const ProgramResult text = Run(resume), json = Run(Joined(resume, {"--json"}));
  EXPECT_EQ(text.code, 1);
  EXPECT_EQ(text.out, "trained 1 step; the net could not be written\n");
  EXPECT_EQ(text.err, warning);
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(json.out,
            "{\"run\": \"DIR/run\", \"steps\": 1, \"checkpoint\": \"DIR/run/checkpoint-1\", "
            "\"model\": \"\", \"interrupted\": false}\n");
  EXPECT_EQ(json.err, warning);
  fs::remove_all(dir_.path("run/model.minidb"));
  EXPECT_EQ(Out(Joined(resume, {"--json"})),
            "{\"run\": \"DIR/run\", \"steps\": 1, \"checkpoint\": \"DIR/run/checkpoint-1\", "
            "\"model\": \"DIR/run/model.minidb\", \"interrupted\": false}\n");
  EXPECT_TRUE(fs::is_regular_file(dir_.path("run/model.minidb")));
}

TEST_F(TrainDetailsOptionsTest, ATestOfARunHasItsDataOnly) {
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run"}));
  const Words evaluate = {"train", "--evaluate", "DIR/run", "--data", "DIR/d.minidb"};
  const std::string text = Out(evaluate);
  for (const Words& more :
       {Words{"--threads", "2"}, Words{"--memory-limit", "1G"}, Words{"--allow-files-anywhere"}})
    EXPECT_EQ(Out(Joined(evaluate, more)), text);
  for (const char* option :
       {"--shuffle", "--fresh-weights", "--plan-for-caffe2", "--resume=1", "--test=1", "--epochs=1",
        "--output=1", "--batch-size=1", "--rate=1", "--device=cpu", "--init=1", "--labels=1",
        "--ranks=2", "--rank=0", "--store=file:1", "--write-plan=1"}) {
    const ProgramResult result = Run(Joined(evaluate, {option}));
    EXPECT_EQ(result.code, 2);
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    EXPECT_EQ(result.err, "caffe2: option " + name + " does not apply to --evaluate\n");
  }
}

TEST_F(TrainDetailsOptionsTest, NumbersHaveRanges) {
  const struct {
    const char *option, *value, *range;
  } wrong[] = {{"--epochs", "0", "1 to 1000000"},
               {"--epochs", "1000001", "1 to 1000000"},
               {"--stop-after", "0", "1 to 1000000"},
               {"--keep", "0", "1 to 1000000"},
               {"--checkpoint-every", "0", "1 to 9223372036854775807"},
               {"--seed", "4294967296", "0 to 4294967295"},
               {"--batch-size", "0", "1 to 1048576"}};
  for (const auto& row : wrong) {
    const ProgramResult result =
        Run(Train({"--data", "DIR/d.minidb", "--output", "DIR/none", row.option, row.value}));
    EXPECT_EQ(result.code, 2) << row.option;
    EXPECT_EQ(result.err, "caffe2: option "s + row.option + " is \"" + row.value +
                              "\", want a number from " + row.range + "\n");
    EXPECT_FALSE(fs::exists(dir_.path("none")));
  }
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run", "--seed", "4294967295", "--keep",
             "1000000", "--stop-after", "1", "--checkpoint-every", "9223372036854775807"}));
  EXPECT_EQ(Def().seed(), 4294967295u);
  EXPECT_EQ(Def().keep(), 1000000);
  EXPECT_EQ(Def().stop_after(), 1);
  EXPECT_EQ(Def().checkpoint_every(), INT64_MAX);
  fs::remove_all(dir_.path("run"));
  Out(Train({"--data", "DIR/d.minidb", "--output", "DIR/run", "--seed", "0", "--keep", "1",
             "--checkpoint-every", "1"}));
  EXPECT_TRUE(Def().has_seed());
  EXPECT_EQ(Def().seed(), 0u);
  EXPECT_EQ(Def().keep(), 1);
  EXPECT_EQ(Def().checkpoint_every(), 1);
}

}  // namespace
}  // namespace caffe2rt::test::train_details_test
