// Rare records, losses, predictors and logs: one row, files of other endings, names that are taken, several outputs, a
// test without a training line.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/array_records.h"
#include "caffe2_core/training/cifar_records.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/predictor_database.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_plan.h"
#include "caffe2_core/training/training_run.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::rare_trainings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Lines = std::vector<std::string>;

template <class Message>
Message ParsedRare(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// --- records ---

TEST(RareRecordsTest, ArraysMayHaveOneRow) {
  const TempDir dir;
  Tensor labels(std::vector<int64_t>{1}, CPU), numbers({1, 2}, CPU);
  labels.mutable_data<int64_t>()[0] = -7;
  std::fill_n(numbers.mutable_data<float>(), 2, 2.5f);
  WriteNpy(dir.path("l.npy"), labels);
  WriteNpy(dir.path("x.npy"), numbers);
  for (const int64_t limit : {0, 1, 2}) {
    const auto records = Collect([&](const RecordAcceptor& accept) {
      ArrayRecords({dir.path("x.npy"), dir.path("l.npy")}, limit, accept);
    });
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].key, "00000000");
    EXPECT_THAT(ValuesOf<float>(records[0].tensors.protos(0)), ElementsAre(2.5f, 2.5f));
    EXPECT_EQ(records[0].tensors.protos(1).data_type(), TensorProto::INT32);
    EXPECT_THAT(ValuesOf<int32_t>(records[0].tensors.protos(1)), ElementsAre(-7));
    EXPECT_THAT(DimsOf(records[0].tensors.protos(1)), ElementsAre());
  }
}

// Labels are those that an int32 holds, at either end.
TEST(RareRecordsTest, LabelsOfArraysAreThoseOfAnInt32) {
  const TempDir dir;
  const auto make = [&](int64_t label) {
    Tensor labels(std::vector<int64_t>{2}, CPU);
    labels.mutable_data<int64_t>()[0] = 5;
    labels.mutable_data<int64_t>()[1] = label;
    WriteNpy(dir.path("l.npy"), labels);
    return Collect(
        [&](const RecordAcceptor& accept) { ArrayRecords({dir.path("l.npy")}, 0, accept); });
  };
  for (const int64_t label : {int64_t{INT32_MIN}, int64_t{-1}, int64_t{0}, int64_t{INT32_MAX}})
    EXPECT_THAT(ValuesOf<int32_t>(make(label).at(1).tensors.protos(0)), ElementsAre(label));
  for (const int64_t label : {int64_t{INT32_MIN} - 1, int64_t{INT32_MAX} + 1, INT64_MIN, INT64_MAX})
    EXPECT_THAT(MessageOf([&] { (void)make(label); }),
                HasSubstr(MakeString("element 1 of \"", dir.path("l.npy"), "\" is ", label,
                                     ", which no int32 holds")));
}

TEST(RareRecordsTest, OnlyFilesOfCifarsOwnNamesCount) {
  const TempDir dir;
  for (const char* name :
       {"data_batch_1.bin.gz", "data_batch_3", "data_batch_2.bin", "data_batch_10.bin",
        "xdata_batch_4.bin", "data_batch.bin", "train.bin.old", "test_batch.bin.gz", "test.bin2"})
    dir.Write(name, "");
  EXPECT_THAT(CifarFilesOf(dir.path(), false),
              ElementsAre(EndsWith("/data_batch_10.bin"), EndsWith("/data_batch_2.bin")));
  EXPECT_ANY_THROW((void)CifarFilesOf(dir.path(), true));
  dir.Write("train.bin", "");
  dir.Write("test.bin", "");
  EXPECT_THAT(CifarFilesOf(dir.path(), false),
              ElementsAre(EndsWith("/data_batch_10.bin"), EndsWith("/data_batch_2.bin"),
                          EndsWith("/train.bin")));
  EXPECT_THAT(CifarFilesOf(dir.path(), true), ElementsAre(EndsWith("/test.bin")));
}

// --- losses ---

// What AddLoss makes of a net: its operators, the loss and the accuracy.
Lines LossOf(const std::string& net) {
  TrainDef def = ParsedRare<TrainDef>("name: 'n' net { " + net + " }");
  AddLoss("softmax", &def);
  Lines lines;
  for (const OperatorDef& op : def.net().op()) lines.push_back(OperatorLine(op, true));
  lines.push_back(def.loss() + " " + def.accuracy());
  return lines;
}

TEST(RareLossTest, AccuraciesHaveTheNameOfTheirBlob) {
  EXPECT_EQ(LossOf("op { type: 'Relu' input: 'data' output: 'y' }"),
            (Lines{"Relu data -> y", "SoftmaxWithLoss y label -> softmax loss",
                   "Accuracy softmax label -> accuracy", "loss accuracy"}));
  EXPECT_EQ(LossOf("op { type: 'Sum' input: ['data', 'accuracy'] output: 'y' }"),
            (Lines{"Sum data accuracy -> y", "SoftmaxWithLoss y label -> softmax loss",
                   "Accuracy softmax label -> accuracy_of_loss", "loss accuracy_of_loss"}));
  EXPECT_EQ(LossOf("op { type: 'Sum' input: ['data', 'accuracy', 'accuracy_of_loss', 'loss'] "
                   "output: 'y' }"),
            (Lines{"Sum data accuracy accuracy_of_loss loss -> y",
                   "SoftmaxWithLoss y label -> softmax loss_of_loss",
                   "Accuracy softmax label -> accuracy_of_loss_of_loss",
                   "loss_of_loss accuracy_of_loss_of_loss"}));
}

// A softmax whose result another operator changes is none of the loss.
TEST(RareLossTest, OnlyTheLastWriterOfTheOutputMayBeItsSoftmax) {
  EXPECT_EQ(LossOf("op { type: 'Softmax' input: 'data' output: 'y' } "
                   "op { type: 'Relu' input: 'y' output: 'y' }"),
            (Lines{"Softmax data -> y", "Relu y -> y", "SoftmaxWithLoss y label -> softmax loss",
                   "Accuracy softmax label -> accuracy", "loss accuracy"}));
  EXPECT_EQ(
      LossOf("op { type: 'Relu' input: 'data' output: 'y' } "
             "op { type: 'Softmax' input: 'y' output: 'y' } "
             "op { type: 'Softmax' input: 'y' output: 'y' arg { name: 'axis' i: 0 } }"),
      (Lines{"Relu data -> y", "Softmax y -> y", "SoftmaxWithLoss y label -> softmax loss axis=0",
             "Accuracy softmax label -> accuracy", "loss accuracy"}));
}

// --- models ---

// A file of weights, or a second net, finds the states by their names, whether they go on or not.
TEST(RareModelTest, ParametersOfAnLstmHaveTheirNames) {
  for (const bool keeps : {false, true}) {
    ModelBuilder model("rnn");
    model.Lstm("data", "l",
               {.steps = 2, .batch_size = 3, .inputs = 4, .units = 5, .keeps_state = keeps});
    Lines names;
    for (const ParamDef& param : model.def().param()) {
      std::string line = param.name();
      for (const int64_t dim : param.dims()) line += MakeString(" ", dim);
      names.push_back(line + (param.trained() ? "" : " fixed"));
    }
    EXPECT_THAT(
        names, ElementsAre("l_i2h_w 20 4", "l_i2h_b 20", "l_gates_w 20 5", "l_gates_b 20",
                           "l_h_state 1 3 5 fixed", "l_c_state 1 3 5 fixed", "l_timestep 1 fixed"));
    std::string copies;
    for (const OperatorDef& op : model.def().net().op()) {
      if (op.type() == "Copy") copies += op.input(0) + ">" + op.output(0) + " ";
    }
    EXPECT_EQ(copies, keeps ? "l_h_state>l_h_before l_c_state>l_c_before l_1_h>l_h_state "
                              "l_1_c>l_c_state "
                            : "");
  }
}

// --- plans ---

// A test works on copies of each state that it changes, in the order in which the net reads them.
TEST(RarePlanTest, EachStateThatATestChangesIsCopied) {
  const auto fact = [](int64_t records) {
    return DataFacts{.place = {"minidb", "p"},
                     .records = records,
                     .tensors = {{TensorProto::FLOAT, {2}}, {TensorProto::FLOAT, {1}}}};
  };
  const std::string sums[] = {"one", "two", "three"};
  for (size_t count = 0; count <= 3; ++count) {
    std::string ops, params, adds;
    Lines copies;
    for (size_t i = 0; i < count; ++i) {
      ops += "op { type: 'Add' input: ['" + sums[i] + "', 'loss'] output: '" + sums[i] + "' } ";
      params += "param { name: '" + sums[i] + "' dims: 1 trained: false } ";
      copies.push_back("Copy " + sums[i] + " -> test_" + sums[i]);
    }
    const RunDef run = ParsedRare<RunDef>(
        "train { name: 'line' net { op { type: 'FC' input: ['data', "
        "'w', 'b'] output: 'y' } op { type: 'SquaredL2Distance' input: ['y', 'label'] output: 'd' "
        "} "
        "op { type: 'AveragedLoss' input: 'd' output: 'loss' } " +
        ops + "} param { name: 'w' dims: [1, 2] } param { name: 'b' dims: 1 } " + params +
        "input { batch_size: 4 } } epochs: 2");
    const TrainingPlan made = MakeTrainingPlan(run, {fact(12), fact(8)});
    Lines found;
    for (const OperatorDef& op : NetNamed(made.plan, "line_test_begin").op())
      if (op.type() == "Copy") found.push_back(OperatorLine(op, true));
    EXPECT_EQ(found, copies);
    for (const OperatorDef& op : NetNamed(made.plan, "line_test").op()) {
      if (op.type() == "Add") adds += op.input(0) + " " + op.output(0) + " ";
    }
    std::string want;
    for (size_t i = 0; i < count; ++i) want += "test_" + sums[i] + " test_" + sums[i] + " ";
    EXPECT_EQ(adds, want);
  }
}

// --- predictors ---

TEST(RarePredictorTest, AllOutputsAreListed) {
  const TempDir dir;
  Workspace ws;
  Feed<float>(&ws, "w", {1, 2}, {4, 5});
  Feed<float>(&ws, "b", {1}, {6});
  const TrainDef def = ParsedRare<TrainDef>(R"(name: "line"
      net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
            op { type: "Tanh" input: "y" output: "t" }
            op { type: "Abs" input: "y" output: "a" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 }
      output: "t" output: "y" output: "a")");
  SavePredictor(dir.path("model"), MakeTrainingNets(def), {}, ws);
  const MetaNetDef meta = LoadMetaNetDef(dir.path("model"), "minidb");
  int found = 0;
  for (const BlobsMap& entry : meta.blobs()) {
    if (entry.key() != "OUTPUTS_BLOB_TYPE") continue;
    ++found;
    EXPECT_THAT(entry.value(), ElementsAre("t", "y", "a"));
  }
  for (const NetsMap& entry : meta.nets()) {
    if (entry.key() != "PREDICT_NET_TYPE") continue;
    ++found;
    EXPECT_THAT(entry.value().external_output(), ElementsAre("t", "y", "a"));
    EXPECT_EQ(entry.value().op_size(), 3);
  }
  EXPECT_EQ(found, 2);
}

TEST(RarePredictorTest, ScalesCountWithAndWithoutAMean) {
  const DataFacts pixels = {.place = {},
                            .records = 1,
                            .tensors = {{TensorProto::BYTE, {8, 6, 3}}, {TensorProto::INT32, {1}}}};
  for (const char* const mean : {"", "mean: 3 ", "mean: [1, 2, 3] "}) {
    for (const char* const std : {"", "std: 2 "}) {
      const ImagePreparation made =
          PreparationFor(ParsedRare<InputDef>(std::string(mean) + std + "scale: 0.25"), pixels);
      EXPECT_THAT(made.transform.scale, ElementsAre(0.25f)) << mean << std;
      EXPECT_THAT(made.transform.std, ElementsAre(*std == 0 ? 1.f : 2.f)) << mean << std;
    }
  }
}

// --- optimizers ---

// Arguments of the optimizer reach the operators that update, each of them and in their order.
TEST(RareOptimizerTest, AllArgumentsReachTheUpdate) {
  const std::string arguments[] = {"beta1=0.5", "beta2=0.25", "epsilon=0.125"};
  for (size_t count = 0; count <= 3; ++count) {
    std::string given, want;
    for (size_t i = 0; i < count; ++i) {
      const size_t equals = arguments[i].find('=');
      given += "arg { name: '" + arguments[i].substr(0, equals) +
               "' f: " + arguments[i].substr(equals + 1) + " } ";
      want += " " + arguments[i];
    }
    const TrainingNets nets = MakeTrainingNets(ParsedRare<TrainDef>(
        "name: 'line' net { op { type: 'FC' input: ['data', 'w', 'b'] output: 'y' } "
        "op { type: 'SquaredL2Distance' input: ['y', 'label'] output: 'd' } "
        "op { type: 'AveragedLoss' input: 'd' output: 'loss' } } "
        "param { name: 'w' dims: [1, 2] } param { name: 'b' dims: 1 } optimizer { type: 'adam' " +
        given + "}"));
    int updates = 0;
    for (const OperatorDef& op : nets.train.op()) {
      if (op.type() != "Adam") continue;
      ++updates;
      std::string text;
      for (const Argument& arg : op.arg()) text += MakeString(" ", arg.name(), "=", arg.f());
      EXPECT_EQ(text, want);
    }
    EXPECT_EQ(updates, 2);
  }
}

// --- logs ---

// What counts is what the file has, up to its last line feed, and what is added behind it.
TEST(RareLogTest, BytesAreThoseOfTheFile) {
  const TempDir dir;
  const std::string line = "{\"epoch\":1,\"iteration\":1}\n";
  const auto size = static_cast<int64_t>(line.size());
  const struct {
    std::string text;
    int64_t bytes, want;
  } rows[] = {{line, 0, 0},
              {line, size, size},
              {line, size - 1, 0},
              {line, 1000, size},
              {line + line, size, size},
              {line + line, 2 * size, 2 * size},
              {line + "{\"e", 1000, size},
              {line + "{\"e", size + 2, size},
              {"", 1000, 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.bytes);
    const std::string path = dir.Write("log", row.text);
    TrainingLog log(path, row.bytes);
    EXPECT_EQ(log.bytes(), row.want);
    EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(path)), row.want);
    EXPECT_EQ(static_cast<int64_t>(log.lines().size()), row.want / size);
    log.Add({.epoch = 1, .iteration = 1});
    EXPECT_EQ(log.bytes(), row.want + size);
    EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(path)), row.want + size);
  }
}

// The last step of the drawing is that of the last line, of whatever kind.
TEST(RareLogTest, CurvesOfATestAlone) {
  LogLine first{.epoch = 1, .iteration = 10}, second{.epoch = 2, .iteration = 20};
  first.test_loss = 2;
  second.test_loss = 1;
  const std::string svg = CurvesAsSvg("n", {first, second});
  EXPECT_THAT(svg, HasSubstr(">loss</text>"));
  EXPECT_THAT(svg, HasSubstr("stroke=\"#d55e00\" stroke-width=\"1.5\" "
                             "points=\"380.0,60.0 700.0,280.0\""));
  EXPECT_THAT(svg, Not(HasSubstr("#0072b2")));
  EXPECT_THAT(svg, Not(HasSubstr(">accuracy</text>")));
  // A training up to step 5, and a test behind step 20.
  LogLine trained{.epoch = 1, .iteration = 5};
  trained.loss = 3;
  const std::string both = CurvesAsSvg("n", {trained, second});
  EXPECT_THAT(both, HasSubstr("stroke=\"#0072b2\" stroke-width=\"1.5\" points=\"220.0,60.0\""));
  EXPECT_THAT(both, HasSubstr("stroke=\"#d55e00\" stroke-width=\"1.5\" points=\"700.0,280.0\""));
  LogLine accurate = second;
  accurate.test_loss.reset();
  accurate.test_accuracy = 0.5;
  const std::string accuracy = CurvesAsSvg("n", {accurate});
  EXPECT_THAT(accuracy, HasSubstr(">accuracy</text>"));
  EXPECT_THAT(accuracy, Not(HasSubstr(">loss</text>")));
}

// Of the images of a second, the log has whole numbers, and of the accuracy the mean of its own steps.
TEST(RareLogTest, LinesOfARunAreThoseOfTheirSteps) {
  const TempDir dir;
  RecordDatabase database("minidb", dir.path("data"));
  for (int i = 0; i < 4; ++i) {
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
  RunDef run = ParsedRare<RunDef>(R"(train { name: "line"
      net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" }
            op { type: "AveragedLoss" input: "y" output: "mean" } }
      param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 trained: false }
      input { batch_size: 1 } optimizer { rate: 0.5 } accuracy: "mean" } data { type: "minidb" }
      epochs: 2)");
  run.mutable_data()->set_path(dir.path("data"));
  TrainingRun(dir.path("run"), run).Run({});
  const std::string text = ReadWholeFile(dir.path("run/log.jsonl"));
  const TrainingLog log(dir.path("run/log.jsonl"), static_cast<int64_t>(text.size()));
  // y is 4 - 4 / 2^i before step i + 1.
  int64_t steps = 0;
  for (const LogLine& line : log.lines()) {
    if (!line.loss) continue;
    const double distance = 4 / std::exp2(static_cast<double>(steps++));
    EXPECT_EQ(line.iteration, steps);
    EXPECT_NEAR(*line.loss, distance * distance / 2, 1e-5);
    EXPECT_NEAR(*line.accuracy, 4 - distance, 1e-5);
    EXPECT_EQ(*line.images_per_second, std::floor(*line.images_per_second));
    EXPECT_EQ(*line.rate, 0.5);
  }
  EXPECT_EQ(steps, 8);
}

}  // namespace
}  // namespace caffe2rt::test::rare_trainings_test
