// Trainings in narrow cases: bounds of files and records, inputs with several channels or blobs, losses beside
// blobs of their names, tests on several ranks, and folders that are named from the working folder.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/training/checkpoint_files.h"
#include "caffe2_core/training/data_facts.h"
#include "caffe2_core/training/data_file.h"
#include "caffe2_core/training/database_copies.h"
#include "caffe2_core/training/image_records.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/mnist_records.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_plan.h"
#include "caffe2_core/training/training_run.h"
#include "caffe2rt/caffe2_legacy.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::narrow_training_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

template <class Message>
Message ParsedNarrow(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// --- files and records ---

TEST(NarrowFilesTest, NoCheckpointsStayIfNoneAreToBeKept) {
  const TempDir dir;
  for (const int keep : {2, 1, 0}) {
    for (const char* name : {"checkpoint-1", "checkpoint-20", "checkpoint-3", "checkpoint-best"})
      dir.Write(name, "");
    RemoveOldCheckpoints(dir.path(), keep);
    std::vector<int64_t> left;
    for (const CheckpointFile& file : CheckpointsOf(dir.path())) left.push_back(file.iteration);
    std::vector<int64_t> want = {3, 20};
    want.erase(want.begin(), want.end() - keep);
    EXPECT_EQ(left, want);
    EXPECT_TRUE(fs::exists(dir.path("checkpoint-best")));
  }
}

TEST(NarrowFilesTest, EveryRecordCounts) {
  const TempDir dir;
  TensorProtos record;
  record.add_protos()->set_data_type(TensorProto::FLOAT);
  const std::string value = record.SerializeAsString();
  Records records;
  for (int i = 0; i < 1003; ++i) records[RecordKey(i, 8)] = value;
  Put("minidb", dir.path("many"), db::NEW, records);
  EXPECT_EQ(ReadDataFacts({"", dir.path("many")}).records, 1003);
}

// Positions in errors count all bytes that were read, however they were read.
TEST(NarrowFilesTest, PiecesOfAnySizeAreCounted) {
  const TempDir dir;
  const std::string path = dir.Write("f", std::string(100000, 'a') + "bcd");
  DataFile file(path);
  std::string piece(100000, '\0');
  EXPECT_TRUE(file.Read(piece.data(), 0, "nothing"));
  file.ReadAll(piece.data(), piece.size(), "the letters");
  EXPECT_EQ(piece, std::string(100000, 'a'));
  file.ReadAll(piece.data(), 3, "the end");
  EXPECT_EQ(piece.substr(0, 3), "bcd");
  EXPECT_TRUE(file.Read(piece.data(), 0, "nothing"));
  EXPECT_FALSE(file.Read(piece.data(), 1, "a byte"));
  EXPECT_NO_THROW(file.ExpectEnd("the end"));
  EXPECT_EQ(MessageOf([&] { file.ReadAll(piece.data(), 4, "a number"); }),
            "file \"" + path + "\" ends at byte 100003, want a number of 4 bytes there");
  DataFile other(path);
  other.ReadAll(piece.data(), piece.size(), "the letters");
  EXPECT_EQ(MessageOf([&] { other.ReadAll(piece.data(), 5, "five letters"); }),
            "bytes of five letters missing in \"" + path +
                "\", which ends at byte 100003: got 2, want 0");
}

TEST(NarrowFilesTest, LimitsMayBeTheNumberOfRecords) {
  const TempDir dir;
  const MnistFiles files = {
      dir.Write("i", BigEndian(2051) + BigEndian(3) + BigEndian(1) + BigEndian(1) + "abc"),
      dir.Write("l", BigEndian(2049) + BigEndian(3) + "\1\2\3")};
  for (const auto& [limit, want] : {std::pair(0, 3u), {1, 1u}, {2, 2u}, {3, 3u}, {4, 3u}}) {
    const auto records = Collect([&, limit = limit](const RecordAcceptor& accept) {
      MnistRecords(files, {.limit = limit}, accept);
    });
    EXPECT_EQ(records.size(), want) << limit;
  }
}

TEST(NarrowFilesTest, EncodedImagesOfCaffeHaveTheirLabels) {
  const TempDir dir;
  CaffeDatum datum;
  datum.set_encoded(true);
  datum.set_data("bytes");
  datum.set_label(7);
  Put("minidb", dir.path("from"), db::NEW, {{"k", datum.SerializeAsString()}});
  EXPECT_EQ(CopyDatabase({"minidb", dir.path("from")}, {"minidb", dir.path("to")}), 1);
  TensorProtos tensors;
  ASSERT_TRUE(tensors.ParseFromString(GetAll("minidb", dir.path("to")).at("k")));
  EXPECT_THAT(ValuesOf<int32_t>(tensors.protos(1)), ElementsAre(7));
}

TEST(NarrowFilesTest, SplitsGoAroundAllParts) {
  const TempDir dir;
  Records records;
  for (const char name : std::string("abcdefg")) records[std::string(1, name)] = "1";
  Put("minidb", dir.path("from"), db::NEW, records);
  const Lines want[] = {{"adg", "be", "cf"}, {"ae", "bf", "cg", "d"}};
  for (const Lines& parts : want) {
    const std::string prefix = dir.path(MakeString("of", parts.size(), "_"));
    Lines found;
    for (const std::string& path :
         SplitDatabase({"minidb", dir.path("from")}, static_cast<int>(parts.size()), prefix)) {
      std::string keys;
      for (const auto& [key, value] : GetAll("minidb", path)) keys += key;
      found.push_back(keys);
    }
    EXPECT_EQ(found, parts);
  }
}

// Each class needs an image, whatever the others have.
TEST(NarrowFilesTest, EveryClassHasImages) {
  const TempDir dir;
  dir.Write("a/1.png", "");
  dir.Write("b/notes.txt", "");
  EXPECT_THAT(MessageOf([&] { ListClassFolders(dir.path()); }),
              HasSubstr("in the folder \"" + dir.path("b") + "\" of a class"));
  dir.Write("b/2.PNG", "");
  EXPECT_THAT(ListClassFolders(dir.path()).classes, ElementsAre("a", "b"));
}

// --- losses ---

Lines LossLines(const std::string& net, const std::string& loss, std::string* blob = nullptr) {
  TrainDef def = ParsedNarrow<TrainDef>("name: 'n' " + net);
  AddLoss(loss, &def);
  if (blob != nullptr) *blob = def.loss();
  Lines lines;
  for (const OperatorDef& op : def.net().op()) lines.push_back(OperatorLine(op, true));
  return lines;
}

// Only a softmax becomes a part of the loss.
TEST(NarrowLossTest, OtherLastOperatorsStay) {
  for (const char* type : {"Sigmoid", "LogSoftmax", "Relu"}) {
    const std::string net =
        MakeString("net { op { type: '", type, "' input: 'data' output: 'y' } }");
    EXPECT_EQ(LossLines(net, "softmax"),
              (Lines{MakeString(type, " data -> y"), "SoftmaxWithLoss y label -> softmax loss",
                     "Accuracy softmax label -> accuracy"}));
  }
}

// Names that the net only reads are taken, too.
TEST(NarrowLossTest, BlobsThatTheNetReadsKeepTheirNames) {
  std::string loss;
  EXPECT_EQ(LossLines("net { op { type: 'Sum' input: ['data', 'loss', 'distance'] output: 'y' } }",
                      "squared", &loss),
            (Lines{"Sum data loss distance -> y", "SquaredL2Distance y label -> distance_of_loss",
                   "AveragedLoss distance_of_loss -> loss_of_loss"}));
  EXPECT_EQ(loss, "loss_of_loss");
  EXPECT_EQ(
      LossLines("net { op { type: 'Sum' input: ['data', 'accuracy', 'softmax'] output: 'y' } }",
                "softmax", &loss),
      (Lines{"Sum data accuracy softmax -> y", "SoftmaxWithLoss y label -> softmax_of_loss loss",
             "Accuracy softmax_of_loss label -> accuracy_of_loss"}));
  EXPECT_EQ(loss, "loss");
}

TEST(NarrowLossTest, TheLossThatIsAskedForReplacesTheOneBefore) {
  const std::string net = "loss: 'old' net { op { type: 'Relu' input: 'data' output: 'y' } }";
  std::string loss;
  LossLines(net, "mine", &loss);
  EXPECT_EQ(loss, "mine");
  LossLines(net, "squared", &loss);
  EXPECT_EQ(loss, "loss");
}

// --- inputs ---

Lines InputLines(const std::string& input, TensorProto::DataType type,
                 const std::vector<int64_t>& dims) {
  const InputDef def = ParsedNarrow<InputDef>(input);
  const DataFacts facts = {.place = {}, .records = 1, .tensors = {{type, dims}}};
  Lines lines;
  for (const OperatorDef& op : InputOperators(def, facts, {.reader = "r", .batch_size = 2}))
    lines.push_back(OperatorLine(op, true));
  for (const OperatorDef& op : InputFills(def, facts)) lines.push_back(OperatorLine(op, true));
  return lines;
}

TEST(NarrowInputsTest, ChannelsOfImagesAreOneOrThree) {
  const std::string one = "blob: 'data' ";
  const Lines plain = {"TensorProtosDBInput r -> data_read batch_size=2",
                       "Cast data_read -> data to=1"};
  for (const int64_t channels : {2, 4, 5})
    EXPECT_EQ(InputLines(one, TensorProto::BYTE, {8, 6, channels}), plain) << channels;
  for (const int64_t channels : {1, 3})
    EXPECT_EQ(
        InputLines(one, TensorProto::BYTE, {8, 6, channels}),
        (Lines{plain[0], "Cast data_read -> data_float to=1", "NHWC2NCHW data_float -> data"}));
}

// Integers that are changed become floats first; as they are, they stay.
TEST(NarrowInputsTest, IntegersThatAreChangedBecomeFloats) {
  const std::string one = "blob: 'data' ", read = "TensorProtosDBInput r -> data_read batch_size=2",
                    cast = "Cast data_read -> data_float to=1";
  const auto lines = [&](const std::string& more) {
    return InputLines(one + more, TensorProto::INT32, {7});
  };
  EXPECT_EQ(lines(""), (Lines{"TensorProtosDBInput r -> data batch_size=2"}));
  EXPECT_EQ(lines("scale: 0.5"), (Lines{read, cast, "Scale data_float -> data scale=0.5"}));
  EXPECT_EQ(lines("mean: 3"), (Lines{read, cast, "Add data_float input_offset -> data broadcast=1",
                                     "GivenTensorFill -> input_offset shape=1, values=[-3]"}));
  // A deviation of each channel, without a mean.
  EXPECT_EQ(lines("std: [2, 4]"),
            (Lines{read, cast, "Mul data_float input_factor -> data broadcast=1 axis=1",
                   "GivenTensorFill -> input_factor shape=2, values=[0.5, 0.25]"}));
}

TEST(NarrowInputsTest, TheLabelIsTheLastBlobUnlessOneHasItsName) {
  const auto label = [](const std::string& blobs) {
    return LabelBlob(ParsedNarrow<InputDef>("blob: [" + blobs + "]"));
  };
  EXPECT_EQ(label("'x', 'y', 'z'"), "z");
  EXPECT_EQ(label("'x', 'y', 'z', 'q'"), "q");
  EXPECT_EQ(label("'label', 'y', 'z'"), "label");
}

TEST(NarrowInputsTest, EncodedImagesNeedACrop) {
  const auto error = [](const std::string& input) {
    return MessageOf([&] {
      CheckInput(ParsedNarrow<InputDef>(input),
                 {.place = {"minidb", "r"},
                  .records = 1,
                  .tensors = {{TensorProto::STRING, {1}}, {TensorProto::INT32, {1}}}});
    });
  };
  for (const char* without : {"", "resize: 9", "crop: 0", "crop: 0 resize: 9"})
    EXPECT_THAT(error(without), HasSubstr("are encoded images: set the size")) << without;
  EXPECT_EQ(error("crop: 1"), "(nothing was thrown)");
  EXPECT_EQ(error("crop: 1 resize: 9"), "(nothing was thrown)");
}

// --- models and plans ---

TEST(NarrowModelTest, WindowsStateWhatIsNotOne) {
  for (const int number : {1, 2, 3}) {
    ModelBuilder model("net");
    model.Conv("x", "y", 6, 6,
               {.kernel = 1, .stride = number, .dilation = number, .group = number});
    std::string want = "kernel=1 ";
    for (const char* name : {"stride", "dilation", "group"})
      if (number > 1) want += MakeString(name, "=", number, " ");
    std::string text;
    for (const Argument& arg : model.def().net().op(0).arg())
      text += MakeString(arg.name(), "=", arg.i(), " ");
    EXPECT_EQ(text, want);
  }
}

// A sequence of one step has gradients as well.
TEST(NarrowModelTest, AnLstmOfOneStepCanBeTrained) {
  for (const int64_t steps : {1, 2}) {
    ModelBuilder model("rnn");
    const std::string x =
        model.Lstm("data", "l", {.steps = steps, .batch_size = 2, .inputs = 3, .units = 2});
    model.SquaredLoss(model.FC(x, "fc", 2, 1), "label");
    int zeros = 0;
    for (const OperatorDef& op : model.def().net().op()) zeros += op.type() == "ZeroGradient";
    EXPECT_EQ(zeros, 1) << steps;
    EXPECT_EQ(MakeTrainingNets(model.def()).trained.size(), 6u) << steps;
  }
}

// 8 records on 3 ranks: the last one has a share of a quarter, of the loss and of the accuracy.
TEST(NarrowPlanTest, RanksVoteOnAccuraciesByTheirShare) {
  for (const auto& [rank, share] : {std::pair(0, "0.375"), {1, "0.375"}, {2, "0.25"}}) {
    const RankOptions ranks = {.rank = rank, .size = 3, .store = "s", .run_id = "id"};
    const TrainingPlan made =
        MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(18)}, {.ranks = ranks});
    Lines votes, opens;
    for (const OperatorDef& op : NetNamed(made.plan, "net_train").op()) {
      const std::string line = OperatorLine(op, true);
      if (op.type() == "Scale" || line.find("-> train_votes ") != std::string::npos)
        votes.push_back(line);
    }
    const std::string scale = MakeString(" scale=", share);
    EXPECT_EQ(votes, (Lines{"Scale loss_vote -> loss_vote" + scale,
                            "Scale accuracy_vote -> accuracy_vote" + scale,
                            "Concat loss_vote accuracy_vote train_stop -> train_votes "
                            "train_votes_dims axis=0"}));
    // The test: each rank reads its own records, and both means are summed.
    EXPECT_EQ(OperatorLine(NetNamed(made.plan, "net_test_begin").op(0), true),
              MakeString("CreateDB -> test_reader db_type=minidb db=pixels.minidb num_shards=3 "
                         "shard_id=",
                         rank));
    Lines sums;
    for (const OperatorDef& op : NetNamed(made.plan, "net_test_sum").op())
      sums.push_back(OperatorLine(op, true));
    EXPECT_EQ(sums, (Lines{"Allreduce train_world test_loss_mean -> test_loss_mean",
                           "Allreduce train_world test_accuracy_mean -> test_accuracy_mean"}));
  }
}

// --- runs ---

class NarrowRunTest : public ::testing::Test {
 protected:
  // y = w x with x = 1 and w = 0 at first. The loss is (y - 4)^2 / 2.
  RunDef Line(int epochs, const std::string& more = "") const {
    for (const auto& [name, label] : {std::pair("data", 4.0f), {"test", 2.0f}}) {
      if (fs::exists(dir_.path(name))) continue;
      RecordDatabase database("minidb", dir_.path(name));
      TrainingRecord record{.key = RecordKey(0, 8), .tensors = {}};
      for (const float number : {1.0f, label}) {
        TensorProto* const tensor = record.tensors.add_protos();
        tensor->add_dims(1);
        tensor->set_data_type(TensorProto::FLOAT);
        tensor->add_float_data(number);
      }
      database.Acceptor()(record);
      database.Finish();
    }
    RunDef run = ParsedNarrow<RunDef>(R"(train { name: "line"
        net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
              op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
              op { type: "AveragedLoss" input: "d" output: "loss" } }
        param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
        input { batch_size: 1 } optimizer { rate: 0.5 } } data { type: "minidb" } )" +
                                      more);
    run.mutable_data()->set_path(dir_.path("data"));
    run.set_epochs(epochs);
    return run;
  }
  const TempDir dir_;
};

// y is 2, 3, 3.5, 3.75 behind the epochs; the label of the test is 2.
TEST_F(NarrowRunTest, EveryEpochHasItsOwnTest) {
  const RunDef run = Line(4, "test { type: 'minidb' path: '" + dir_.path("test") + "' }");
  std::vector<double> losses;
  TrainingCallbacks callbacks;
  callbacks.on_epoch = [&](const EpochResult& result) { losses.push_back(result.loss); };
  TrainingRun(dir_.path("run"), run).Run(callbacks);
  EXPECT_THAT(losses, ElementsAre(0, 0.5, 1.125, 1.53125));
}

// The run names its first weights by a whole path, from wherever it is resumed.
TEST_F(NarrowRunTest, FirstWeightsHaveAWholePath) {
  RunDef run = Line(1);
  run.set_init(dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: [1, 1] } arg { name: "values" floats: 3 } })"));
  const std::string relative = fs::relative(dir_.path("run")).string();
  ASSERT_FALSE(relative.starts_with("/"));
  const TrainingRun made(relative, run);
  EXPECT_TRUE(made.def().init().starts_with("/")) << made.def().init();
  EXPECT_TRUE(fs::equivalent(made.def().init(), dir_.path("run/init.minidb")));
  EXPECT_EQ(TrainingRun(relative).def().init(), made.def().init());
}

}  // namespace
}  // namespace caffe2rt::test::narrow_training_test
