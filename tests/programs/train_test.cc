// `caffe2 train`: a run, what it leaves, and how it goes on after SIGINT, SIGKILL and a full disk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "tests/programs/points_training.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::train_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

namespace fs = std::filesystem;

const char kDefinition[] = R"(name: "points"
    net { op { type: "FC" input: ["data", "w1", "b1"] output: "h" }
          op { type: "Relu" input: "h" output: "h" }
          op { type: "Dropout" input: "h" output: ["d", "mask"]
               arg { name: "ratio" f: 0.2 } }
          op { type: "FC" input: ["d", "w2", "b2"] output: "scores" }
          op { type: "SoftmaxWithLoss" input: ["scores", "label"] output: ["softmax", "loss"] }
          op { type: "Accuracy" input: ["softmax", "label"] output: "accuracy" } }
    param { name: "w1" dims: [64, 2] fill: "XavierFill" } param { name: "b1" dims: 64 }
    param { name: "w2" dims: [2, 64] fill: "XavierFill" } param { name: "b2" dims: 2 }
    accuracy: "accuracy" input { batch_size: 8 class_name: ["below", "above"] }
    optimizer { rate: 0.05 momentum: 0.9 })";

class TrainTest : public PointsTraining {
 protected:
  void SetUp() override { MakePoints(kDefinition, 100); }
};

TEST_F(TrainTest, TrainsTestsAndPredicts) {
  const ProgramResult result = RunCaffe2(Command("run", "20"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("epoch 20/20  test loss 0."), HasSubstr("best so far"),
                                HasSubstr("trained 260 steps")));
  const ProgramResult test = RunCaffe2({"train", "--evaluate", dir_.path("run"), "--data", data_});
  EXPECT_EQ(test.code, 0) << test.err;
  EXPECT_THAT(test.out,
              AllOf(HasSubstr("checkpoint-260 on 100 records: loss 0."), HasSubstr("accuracy ")));
  Tensor point({1, 2}, CPU);
  point.mutable_data<float>()[0] = -0.8f;
  point.mutable_data<float>()[1] = 0.8f;
  WriteNpy(dir_.path("point.npy"), point);
  const ProgramResult run = RunCaffe2({"run", "--predictor", dir_.path("run/model.minidb"),
                                       "--input", "data=" + dir_.path("point.npy"), "--top", "1"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("above"));
}

// A worse accuracy is not better, however small the loss is. Accuracies are compared by the records that are right,
// because they are means of batches.
TEST_F(TrainTest, TheBestEpochHasTheGreatestAccuracy) {
  const ProgramResult result = RunCaffe2(Command("run", "10"));
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream log(ReadWholeFile(dir_.path("run/log.jsonl")));
  long most = -1;
  int epochs = 0, worse = 0;
  for (std::string line; std::getline(log, line);) {
    if (line.find("\"test_accuracy\"") == std::string::npos) continue;
    const long right = std::lround(100 * std::stod(JsonAt(line, "/test_accuracy")));
    const bool is_best = line.find("\"best\":true") != std::string::npos;
    if (right != most) EXPECT_EQ(is_best, right > most) << line;
    worse += right < most;
    most = std::max(most, right);
    ++epochs;
  }
  EXPECT_EQ(epochs, 10);
  if (worse == 0) GTEST_SKIP() << "no epoch was worse than one before";
}

TEST_F(TrainTest, TrainsANetThatWasMadeForUseOnAnotherDevice) {
  const std::string predict = dir_.Write("used.pbtxt", R"(name: "used"
      op { type: "FC" input: ["data", "w", "b"] output: "scores" device_option { device_type: 1 } }
      op { type: "Softmax" input: "scores" output: "softmax" })");
  const std::string init = dir_.Write("init.pbtxt", R"(device_option { device_type: 1 }
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [2, 2] }
           arg { name: "values" floats: [0, 0, 0, 0] } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } })");
  std::vector<std::string> args = {
      "train",  "--predict-net", predict,    "--loss", "softmax",  "--rate",        "1",
      "--data", data_,           "--epochs", "20",     "--output", dir_.path("run")};
  EXPECT_THAT(RunCaffe2(args).err, HasSubstr("operator of `init_net` (--init-net)"));
  args.insert(args.end(), {"--init-net", init});
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("epoch 20/20  loss 0\\.[0-9]+  accuracy (9[0-9]|100)\\."));
}

std::map<std::string, std::string> RecordsOf(const std::string& path) {
  std::map<std::string, std::string> records;
  const std::unique_ptr<db::DB> database = db::OpenDB("minidb", path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) records[cursor->key()] = cursor->value();
  return records;
}

// Starts the program, and sends `signal` once the run has a checkpoint of at least `iteration` steps.
// Returns the status of waitpid.
int SignalAt(const std::vector<std::string>& args, const std::string& folder, int64_t iteration,
             int signal) {
  const std::string program = BuildPath(CAFFE2_PROGRAM);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    (void)freopen("/dev/null", "w", stdout);
    (void)freopen("/dev/null", "w", stderr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const auto files = fs::exists(folder) ? CheckpointsOf(folder) : std::vector<CheckpointFile>{};
    if (!files.empty() && files.back().iteration >= iteration) {
      kill(child, signal);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

TEST_F(TrainTest, GoesOnAfterItWasKilled) {
  EXPECT_EQ(RunCaffe2(Command("whole", "30")).code, 0);
  std::vector<std::string> args = Command("killed", "30");
  args.insert(args.end(), {"--checkpoint-every", "10"});
  const std::string folder = dir_.path("killed");
  int killed = 0;
  for (const int64_t iteration : {0, 45, 170, 300}) {
    const int status = SignalAt(args, folder, iteration, SIGKILL);
    if (WIFSIGNALED(status)) ++killed;
    args = {"train", "--resume", folder, "--threads", iteration % 2 == 0 ? "1" : "2"};
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(RunCaffe2({"train", "--resume", folder}).code, 0);
  EXPECT_EQ(Model("killed"), Model("whole"));
}

TEST_F(TrainTest, SavesWhenItIsInterrupted) {
  const std::string folder = dir_.path("run");
  std::vector<std::string> args = Command("run", "100000");
  args.insert(args.end(), {"--checkpoint-every", "5"});
  const int status = SignalAt(args, folder, 20, SIGINT);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::vector<CheckpointFile> files = CheckpointsOf(folder);
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(ReadTrainState(files.back().path).iteration(), files.back().iteration);
}

TEST_F(TrainTest, WritesAPlanThatTrainsToo) {
  EXPECT_EQ(RunCaffe2(Command("run", "3")).code, 0);
  std::vector<std::string> args = Command("plan", "3");
  args.insert(args.end(), {"--write-plan", dir_.path("plan.pbtxt")});
  const ProgramResult written = RunCaffe2(args);
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("--on-interrupt points_checkpoint"));
  const std::vector<std::string> plan = {"plan",    dir_.path("plan.pbtxt"), "--seed", "1",
                                         "--fetch", "test_accuracy_mean"};
  const ProgramResult ran = RunCaffe2(plan);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(fs::exists(dir_.path("plan/weights.minidb")));
  EXPECT_TRUE(fs::exists(dir_.path("plan/checkpoint-39")));
  // The same seed gives the same weights, byte for byte.
  std::map<std::string, std::string> model = RecordsOf(dir_.path("run/model.minidb"));
  model.erase("!!META_NET_DEF");
  EXPECT_EQ(model.size(), 4u);
  EXPECT_TRUE(model == RecordsOf(dir_.path("plan/weights.minidb")));
  // Once more, over the files of the first time.
  EXPECT_EQ(RunCaffe2({"plan", dir_.path("plan.pbtxt"), "--overwrite"}).code, 0);
}

TEST_F(TrainTest, ReportsAFullDiskAndGoesOn) {
  // The third checkpoint does not fit any more than the others, so limit the size of files.
  const ProgramResult result = RunCaffe2(Command("run", "2"), {.max_file_bytes = 1500});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("caffe2: warning: "));
  EXPECT_THAT(result.out, HasSubstr("trained 26 steps; the net could not be written"));
}

TEST_F(TrainTest, GivesTheSameWeightsOnAnyNumberOfThreads) {
  EXPECT_EQ(RunCaffe2(Command("one", "3")).code, 0);
  std::vector<std::string> args = Command("two", "3");
  args.insert(args.end(), {"--threads", "2"});
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Model("two"), Model("one"));
}

TEST_F(TrainTest, PlacesTheNetsOnADevice) {
  std::vector<std::string> args = Command("cpu", "2");
  args.insert(args.end(), {"--device", "cpu"});
  EXPECT_EQ(RunCaffe2(args).code, 0);
  EXPECT_EQ(RunCaffe2(Command("default", "2")).code, 0);
  EXPECT_EQ(Model("cpu"), Model("default"));
  Environment environment;
  environment.HideCuda();
  const std::pair<const char*, const char*> cases[] = {
      {"cuda:0", "device CUDA (type 1) is not available; available: CPU"},
      {"abacus", "device \"abacus\" is not known, want cpu or a name that caffe2 devices lists"}};
  for (const auto& [device, text] : cases) {
    args = Command("other", "2");
    args.insert(args.end(), {"--device", device});
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(fs::exists(dir_.path("other"))) << device;
  }
}

TEST_F(TrainTest, EndsAfterEpochsWithoutGain) {
  std::vector<std::string> args = Command("run", "9");
  args.insert(args.end(), {"--rate", "1e-30", "--momentum", "0", "--stop-after", "2"});
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0) << result.err;
  // The first epoch is the best, two more are no gain; 13 steps each.
  EXPECT_THAT(result.out, AllOf(HasSubstr("ended: no gain\ntrained 39 steps")));
}

TEST_F(TrainTest, StartsWithTheWeightsOfAFile) {
  EXPECT_EQ(RunCaffe2(Command("first", "3")).code, 0);
  const std::string& model = dir_.path("first/model.minidb");
  for (const std::string& file : {model, dir_.path("first/checkpoint-39")}) {
    const std::string folder = file == model ? "second" : "third";
    std::vector<std::string> args = Command(folder, "1");
    args.insert(args.end(), {"--init", file, "--rate", "1e-30", "--momentum", "0"});
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(Model(folder), Model("first")) << file;
  }
  // What the file does not have is listed.
  std::string wider = kDefinition;
  for (size_t at; (at = wider.find("64")) != std::string::npos;) wider.replace(at, 2, "32");
  dir_.Write("points.pbtxt", wider);
  std::vector<std::string> args = Command("wider", "1");
  args.insert(args.end(), {"--init", model});
  const ProgramResult result = RunCaffe2(args);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("new weights, because --init does not have them: "),
                                HasSubstr("w1 (has [64, 2], want [32, 2])")));
}

TEST_F(TrainTest, StartsAPlanWithTheWeightsOfAFile) {
  EXPECT_EQ(RunCaffe2(Command("first", "3")).code, 0);
  std::vector<std::string> args = Command("plan", "1");
  args.insert(args.end(), {"--init", dir_.path("first/model.minidb"), "--rate", "1e-30",
                           "--momentum", "0", "--write-plan", dir_.path("plan.pbtxt")});
  EXPECT_EQ(RunCaffe2(args).code, 0);
  const ProgramResult ran = RunCaffe2({"plan", dir_.path("plan.pbtxt")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::map<std::string, std::string> model = RecordsOf(dir_.path("first/model.minidb"));
  model.erase("!!META_NET_DEF");
  EXPECT_TRUE(model == RecordsOf(dir_.path("plan/weights.minidb")));
}

TEST_F(TrainTest, StatesHowAPlanIsAllowedToOpenItsFiles) {
  const TempDir elsewhere;
  for (const bool beside : {true, false}) {
    const std::string file = beside ? dir_.path("plan.pbtxt") : elsewhere.path("plan.pbtxt");
    std::vector<std::string> args = Command("plan", "1");
    args.insert(args.end(), {"--write-plan", file});
    const ProgramResult written = RunCaffe2(args);
    EXPECT_EQ(written.code, 0) << written.err;
    std::vector<std::string> plan = {"plan", file, "--overwrite"};
    EXPECT_EQ(RunCaffe2(plan).code, beside ? 0 : 1);
    EXPECT_EQ(written.out.find("--allow-files-anywhere") == std::string::npos, beside);
    plan.push_back("--allow-files-anywhere");
    EXPECT_EQ(RunCaffe2(plan).code, 0);
  }
}

TEST_F(TrainTest, ReplacesDatabasesOfAnEarlierPlanOnlyWhenTold) {
  const std::string file = dir_.path("plan.pbtxt"), saved = dir_.path("saved.lmdb");
  dir_.Write("plan.pbtxt", R"(name: "save" network { name: "one"
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } }
      op { type: "Save" input: "x" arg { name: "db_type" s: "lmdb" }
           arg { name: "absolute_path" i: 1 } arg { name: "db" s: ")" +
                               saved + R"(" } } } execution_step { network: "one" })");
  EXPECT_EQ(RunCaffe2({"plan", file}).code, 0);
  const ProgramResult again = RunCaffe2({"plan", file});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("it exists"));
  const ProgramResult replaced = RunCaffe2({"plan", file, "--overwrite"});
  EXPECT_EQ(replaced.code, 0) << replaced.err;
  // What is no such database stays.
  fs::remove_all(saved);
  dir_.Write("saved.lmdb/notes.txt", "mine");
  EXPECT_EQ(RunCaffe2({"plan", file, "--overwrite"}).code, 1);
  EXPECT_TRUE(fs::exists(saved + "/notes.txt"));
}

TEST_F(TrainTest, RunsANetOfThePlanWhenItIsInterrupted) {
  std::vector<std::string> args = Command("plan", "100000");
  args.insert(args.end(), {"--write-plan", dir_.path("plan.pbtxt")});
  EXPECT_EQ(RunCaffe2(args).code, 0);
  const std::string plan = dir_.path("plan.pbtxt"), weights = dir_.path("plan/weights.minidb");
  const ProgramResult unknown = RunCaffe2({"plan", plan, "--on-interrupt", "points_sav"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("is no net of the plan; did you mean points_save?"));
  EXPECT_FALSE(fs::exists(weights));
  const int status =
      SignalAt({"plan", plan, "--on-interrupt", "points_save"}, dir_.path("plan"), 26, SIGINT);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(RecordsOf(weights).size(), 4u);
}

TEST_F(TrainTest, EvaluatesARunOnOtherData) {
  EXPECT_EQ(RunCaffe2(Command("run", "1")).code, 0);
  const ProgramResult json =
      RunCaffe2({"train", "--evaluate", dir_.path("run"), "--data", data_, "--json"});
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"records\": 100"), HasSubstr("\"accuracy\": 0.")));
  fs::create_directory(dir_.path("none"));
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{dir_.path("none"), data_}, "is not the folder of a training: it has no run.pbtxt"},
      {{dir_.path("run"), definition_}, "as a database: "},
      {{dir_.path("run"), dir_.path("lost.minidb")}, "lost.minidb"}};
  for (const auto& [paths, text] : cases) {
    const ProgramResult result = RunCaffe2({"train", "--evaluate", paths[0], "--data", paths[1]});
    EXPECT_EQ(result.code, 1) << result.out;
    EXPECT_THAT(result.err, HasSubstr(text));
  }
}

struct UsageCase {
  std::vector<std::string> args;
  const char* text;
};

TEST(TrainUsageTest, NamesTheMissingOption) {
  const UsageCase cases[] = {
      {{"train"}, "the folder of the run is missing; want --output RUN"},
      {{"train", "--output", "run"}, "want one TrainDef file, or --predict-net"},
      {{"train", "net.pbtxt", "--output", "run", "--loss", "l"},
       "option --loss applies to --predict-net only"},
      {{"train", "--output", "run", "--predict-net", "n"}, "--predict-net needs --loss"},
      {{"train", "--resume", "run", "--seed", "3"}, "option --seed does not apply to --resume"},
      {{"train", "--evaluate", "run"}, "--evaluate needs --data DB"}};
  for (const UsageCase& c : cases) {
    const ProgramResult result = RunCaffe2(c.args);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(c.text));
  }
}

}  // namespace
}  // namespace caffe2rt::test::train_test
