// Choices of a training that rarely differ: which operators a predictor keeps, which tests are tried first, how images
// of a test are cut, when checkpoints are written, and which database is opened.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/image_records.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/test_trial.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_run.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_choices_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

template <class Message>
Message ParsedChoice(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

Lines OperatorsOf(const NetDef& net) {
  Lines lines;
  for (const OperatorDef& op : net.op()) lines.push_back(OperatorLine(op, false));
  return lines;
}

// --- the predictor ---

// "x" and "h" are written twice. Only the values that are read later belong to the predictor.
TEST(PredictedPartTest, AValueThatIsOverwrittenUnreadIsLeftOut) {
  const TrainingNets nets = MakeTrainingNets(ParsedChoice<TrainDef>(R"(name: "n"
      net { op { type: "ConstantFill" output: "h" arg { name: "shape" ints: [2, 2] } }
            op { type: "Abs" input: "h" output: "side" }
            op { type: "Relu" input: "data" output: "h" }
            op { type: "ConstantFill" output: "x" arg { name: "shape" ints: [2, 1] } }
            op { type: "FC" input: ["h", "w", "b"] output: "x" }
            op { type: "SquaredL2Distance" input: ["x", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 } output: "x")"));
  EXPECT_EQ(OperatorsOf(nets.predict), (Lines{"Relu data -> h", "FC h w b -> x"}));
  EXPECT_EQ(nets.parameters, (Lines{"w", "b"}));
}

// --- the trial of the test ---

// The files may not be read, so that a trial fails.
TEST(TriedTestsTest, OtherRecordsAreTriedFirst) {
  const auto tried = [](const std::function<void(DataFacts*)>& change) {
    DataFacts test = Pixels(9);
    change(&test);
    const TrainingData data{Pixels(20), test};
    const TrainingPlan plan = MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(9)});
    return MessageOf([&] { TryTest(plan, data, FileAccess::Off("a remedy")); }) !=
           "(nothing was thrown)";
  };
  EXPECT_FALSE(tried([](DataFacts*) {}));
  EXPECT_FALSE(tried([](DataFacts* test) { test->records = 7; }));
  EXPECT_FALSE(tried([](DataFacts* test) { test->place.path = "other"; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[0].type = TensorProto::FLOAT; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[0].type = TensorProto::UINT8; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[0].dims = {4, 1, 4}; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[0].dims = {4, 4}; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[1].type = TensorProto::INT64; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors[1].dims = {}; }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors.pop_back(); }));
  EXPECT_TRUE(tried([](DataFacts* test) { test->tensors.push_back({TensorProto::INT32, {1}}); }));
}

// --- images of a test ---

TEST(ImagesOfATestTest, AreCutAsThoseOfTheTrainingButNotMirrored) {
  const DataFacts images = {.place = {"minidb", "r.minidb"},
                            .records = 10,
                            .tensors = {{TensorProto::STRING, {1}}, {TensorProto::INT32, {1}}}};
  const auto line = [&](const std::string& input, bool is_test, const std::string& on_error) {
    const std::vector<OperatorDef> ops =
        InputOperators(ParsedChoice<InputDef>("crop: 5 " + input), images,
                       {.reader = "r", .batch_size = 4, .is_test = is_test, .on_error = on_error});
    EXPECT_EQ(ops.size(), 1u);
    return OperatorLine(ops[0], true);
  };
  const std::string begin = "ImageInput r -> data label batch_size=4 crop=5 scale=";
  const std::string colours = " mean_per_channel=[0, 0, 0] std_per_channel=[1, 1, 1]";
  for (const bool is_test : {false, true}) {
    const std::string test = is_test ? " is_test=1" : " is_test=0";
    EXPECT_EQ(line("", is_test, "stop"), begin + "5 color=1" + test + colours);
    EXPECT_EQ(line("resize: 9", is_test, "stop"), begin + "9 color=1" + test + colours);
    EXPECT_EQ(line("resize: 9 mirror: true", is_test, "stop"),
              begin + "9 color=1" + test + (is_test ? "" : " mirror=1") + colours);
    EXPECT_EQ(line("mirror: false", is_test, "skip"),
              begin + "5 color=1" + test + colours + " on_error=skip");
    EXPECT_EQ(line("grey: true std: 4 image_arg { name: 'color_jitter' i: 1 } "
                   "image_arg { name: 'decode_threads' i: 2 }",
                   is_test, "stop"),
              begin + "5 color=0" + test + " mean=0 std=4 color_jitter=1 decode_threads=2");
  }
}

// Integers of one number each become a vector; all other labels stay as they are.
TEST(LabelsOfRecordsTest, OneIntegerIsFlattened) {
  const struct {
    TensorProto::DataType type;
    std::vector<int64_t> dims;
    bool flattens;
  } rows[] = {{TensorProto::INT32, {1}, true},  {TensorProto::INT64, {1}, true},
              {TensorProto::UINT8, {1}, true},  {TensorProto::BYTE, {1}, true},
              {TensorProto::INT8, {1}, true},   {TensorProto::UINT16, {1}, true},
              {TensorProto::INT16, {1}, true},  {TensorProto::BOOL, {1}, true},
              {TensorProto::INT32, {}, false},  {TensorProto::INT32, {2}, false},
              {TensorProto::INT32, {0}, false}, {TensorProto::INT32, {1, 1}, false},
              {TensorProto::FLOAT, {1}, false}, {TensorProto::DOUBLE, {1}, false},
              {TensorProto::STRING, {1}, false}};
  for (const auto& row : rows) {
    const std::vector<OperatorDef> ops = InputOperators(
        InputDef(),
        {.place = {}, .records = 1, .tensors = {{TensorProto::FLOAT, {5}}, {row.type, row.dims}}},
        {.reader = "r", .batch_size = 2});
    const Lines want = row.flattens ? Lines{"TensorProtosDBInput r -> data label_read batch_size=2",
                                            "FlattenToVec label_read -> label"}
                                    : Lines{"TensorProtosDBInput r -> data label batch_size=2"};
    Lines lines;
    for (const OperatorDef& op : ops) lines.push_back(OperatorLine(op, true));
    EXPECT_EQ(lines, want) << row.type << " " << row.dims.size();
  }
}

// --- checkpoints ---

class WrittenCheckpointsTest : public ::testing::Test {
 protected:
  // Three steps in each of two epochs.
  void SetUp() override {
    RecordDatabase database("minidb", dir_.path("data"));
    for (int i = 0; i < 3; ++i) {
      TrainingRecord record{.key = RecordKey(i, 8), .tensors = {}};
      for (const float number : {1.0f, 4.0f}) {
        TensorProto* const tensor = record.tensors.add_protos();
        tensor->add_dims(1);
        tensor->set_data_type(TensorProto::FLOAT);
        tensor->add_float_data(number);
      }
      database.Acceptor()(record);
    }
    database.Finish();
    run_ = ParsedChoice<RunDef>(R"(train { name: "line"
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 }
        input { batch_size: 1 } optimizer { rate: 0.125 } } epochs: 2 data { type: "minidb" })");
    run_.mutable_data()->set_path(dir_.path("data"));
  }
  std::vector<int64_t> Iterations() const {
    std::vector<int64_t> iterations;
    for (const CheckpointFile& file : CheckpointsOf(dir_.path("run")))
      iterations.push_back(file.iteration);
    return iterations;
  }
  const TempDir dir_;
  RunDef run_;
};

// One before the first step, those of the option, and one at the end of each epoch.
TEST_F(WrittenCheckpointsTest, AreThoseOfTheOptionAndOfTheEpochs) {
  const struct {
    int64_t every;
    int keep;
    std::vector<int64_t> want;
  } rows[] = {{2, 100, {0, 2, 3, 4, 6}}, {4, 3, {3, 4, 6}}, {0, 2, {3, 6}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.every);
    fs::remove_all(dir_.path("run"));
    run_.set_checkpoint_every(row.every);
    run_.set_keep(row.keep);
    EXPECT_EQ(TrainingRun(dir_.path("run"), run_).Run({}).iteration, 6);
    EXPECT_EQ(Iterations(), row.want);
  }
}

// A run that goes on writes none for the step that it begins at.
TEST_F(WrittenCheckpointsTest, ContinueBehindTheLastOne) {
  run_.set_checkpoint_every(1);
  run_.set_keep(100);
  int64_t done = 0;
  TrainingCallbacks callbacks;
  callbacks.on_step = [&](const TrainingProgress& progress) { done = progress.iteration; };
  callbacks.should_stop = [&] { return done == 1; };  // the second step has begun
  TrainingRun(dir_.path("run"), run_).Run(callbacks);
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{0, 1, 2}));
  for (const int i : {0, 1}) fs::remove(CheckpointPath(dir_.path("run"), i));
  const auto time =
      fs::last_write_time(CheckpointPath(dir_.path("run"), 2)) - std::chrono::hours(1);
  fs::last_write_time(CheckpointPath(dir_.path("run"), 2), time);
  callbacks.should_stop = {};
  TrainingRun(dir_.path("run")).Run(callbacks);
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{2, 3, 4, 5, 6}));
  EXPECT_EQ(fs::last_write_time(CheckpointPath(dir_.path("run"), 2)), time);
}

// Ten comes behind nine, and what is no checkpoint stays.
TEST_F(WrittenCheckpointsTest, TheOldestAreRemovedByTheirNumbers) {
  const std::string folder = dir_.path("run");
  for (const char* name :
       {"checkpoint-10", "checkpoint-9", "checkpoint-100", "checkpoint-2", "checkpoint-best",
        "checkpoint-", "checkpoint-1x", "checkpoint", "xcheckpoint-1"})
    dir_.Write(std::string("run/") + name, "");
  fs::create_directories(dir_.path("run/checkpoint-3"));  // a folder
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{2, 9, 10, 100}));
  RemoveOldCheckpoints(folder, 5);
  RemoveOldCheckpoints(folder, 4);
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{2, 9, 10, 100}));
  RemoveOldCheckpoints(folder, 2);
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{10, 100}));
  RemoveOldCheckpoints(folder, 1);
  EXPECT_EQ(Iterations(), (std::vector<int64_t>{100}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 7);
}

// --- databases ---

TEST_F(WrittenCheckpointsTest, TheTypeOfADatabaseIsTheOneThatIsStated) {
  const std::string path = dir_.path("data");
  EXPECT_EQ(ReadDataFacts({"", path}).place.type, "minidb");
  EXPECT_EQ(ReadDataFacts({"minidb", path}).place.type, "minidb");
  EXPECT_EQ(ReadDataFacts({"minidb", path}).place.path, path);
  EXPECT_EQ(ReadDataFacts({"minidb", path}).records, 3);
  for (const char* other : {"lmdb", "leveldb", "nosuch"})
    EXPECT_NE(MessageOf([&] {
                (void)ReadDataFacts({other, path});
              }).find(path),
              std::string::npos)
        << other;
  EXPECT_EQ(MessageOf([&] {
              (void)ReadDataFacts({"", dir_.path("none")});
            }).find("cannot read \"" + dir_.path("none") + "\" as a database: "),
            0u);
}

// Keys sort as their numbers do; a number that needs more digits has them.
TEST(RecordKeysTest, HaveAtLeastTheirDigits) {
  EXPECT_EQ(RecordKey(0, 5), "00000");
  EXPECT_EQ(RecordKey(99999, 5), "99999");
  EXPECT_EQ(RecordKey(100000, 5), "100000");
  EXPECT_EQ(RecordKey(7, 1), "7");
  EXPECT_EQ(RecordKey(42, 0), "42");
}

TEST(ListedImageFilesTest, PathsAreBelowTheFolderUnlessTheyAreWhole) {
  const TempDir dir;
  const ImageList list =
      ReadImageList(dir.Write("list", "a.png 1\n/b/c.png\t 2 \n  d e.png  -2147483648"), "/images");
  ASSERT_EQ(list.files.size(), 3u);
  EXPECT_EQ(list.files[0].path, "/images/a.png");
  EXPECT_EQ(list.files[1].path, "/b/c.png");
  EXPECT_EQ(list.files[1].name, "/b/c.png");
  EXPECT_EQ(list.files[1].label, 2);
  EXPECT_EQ(list.files[2].name, "  d e.png") << "blanks before a name belong to it";
  EXPECT_EQ(list.files[2].label, INT32_MIN);
  EXPECT_TRUE(list.classes.empty() && list.skipped.empty());
  for (const char* text : {"a.png 2147483648", "a.png 1.5", "a.png -", "a.png 0x1"})
    EXPECT_NE(MessageOf([&] { (void)ReadImageList(dir.Write("list", text), ""); }),
              "(nothing was thrown)")
        << text;
}

}  // namespace
}  // namespace caffe2rt::test::training_choices_test
