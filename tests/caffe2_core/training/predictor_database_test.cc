// How the predictor of a training prepares images, and what the training wants of its inputs and nets.
#include "caffe2_core/training/predictor_database.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/model_builder.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::predictor_database_test {
namespace {

using Names = std::vector<std::string>;

template <class Message>
Message Parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

TrainDef LineDef() {
  return Parsed<TrainDef>(R"(name: "line"
      net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 })");
}

TEST(PredictorDatabaseTest, MeansAndDeviationsFitTheChannels) {
  const auto error = [](const std::string& def, TensorProto::DataType type,
                        const std::vector<int64_t>& dims) {
    return MessageOf([&] {
      CheckInput(Parsed<InputDef>(def), {.place = {"minidb", "r"},
                                         .records = 1,
                                         .tensors = {{type, dims}, {TensorProto::INT32, {1}}}});
    });
  };
  const auto pixels = [&](const std::string& def) {
    return error(def, TensorProto::BYTE, {8, 6, 3});
  };
  const auto image = [&](const std::string& def) {
    return error("crop: 4 " + def, TensorProto::STRING, {1});
  };
  const std::string nothing = "(nothing was thrown)";
  EXPECT_EQ(pixels("mean: [1, 2, 3] std: [1, 2]"),
            "input: mean has 3 numbers and std has 2, want as many, or one");
  EXPECT_EQ(pixels("mean: [1, 2] std: [1, 2, 3]"),
            "input: mean has 2 numbers and std has 3, want as many, or one");
  EXPECT_EQ(pixels("mean: [1, 2, 3] std: 2"), nothing);
  EXPECT_EQ(pixels("mean: 1 std: [1, 2, 3]"), nothing);
  EXPECT_EQ(pixels("mean: [1, 2, 3] std: [1, 2, 3]"), nothing);
  EXPECT_EQ(image("mean: [1, 2]"), "input: mean has 2 numbers, but images have 3 channels");
  EXPECT_EQ(image("std: [1, 2]"), "input: std has 2 numbers, but images have 3 channels");
  EXPECT_EQ(image("grey: true std: [1, 2, 3]"),
            "input: std has 3 numbers, but images have 1 channel");
  EXPECT_EQ(image("mean: [1, 2, 3]"), nothing);
  EXPECT_EQ(image("grey: true mean: 1 std: 2"), nothing);
}

struct PreparationCase {
  const char* input;
  TensorProto::DataType type;
  std::vector<int64_t> dims;
  const char* want;  // "" if unknown
};

std::string TextOf(const ImagePreparation& preparation) {
  if (!preparation.known) return "";
  const ImageTransform& t = preparation.transform;
  return MakeString("resize ", t.resize, " ", t.resize_to.width, "x", t.resize_to.height, ", crop ",
                    t.crop, " ", t.crop_to.width, "x", t.crop_to.height, t.grey ? ", grey" : "",
                    t.bgr ? ", bgr" : "", ", mean ", t.mean, ", std ", t.std, ", scale ", t.scale);
}

TEST(PredictorDatabaseTest, PredictorsPrepareImagesAsTheTrainingDid) {
  const auto image = TensorProto::STRING;
  const auto bytes = TensorProto::BYTE;
  for (const PreparationCase& c : std::vector<PreparationCase>{
           {"crop: 20 resize: 24 mean: [1, 2, 3] std: [4, 5, 6] scale: 0.5",
            image,
            {1},
            "resize 24 0x0, crop 0 20x20, bgr, mean [1, 2, 3], std [4, 5, 6], scale [0.5]"},
           {"crop: 20 grey: true",
            image,
            {1},
            "resize 20 0x0, crop 0 20x20, grey, mean [0], std [1], scale [1]"},
           {"mean: 7",
            bytes,
            {32, 24, 3},
            "resize 0 24x32, crop 0 0x0, mean [7], std [1], scale [1]"},
           {"bgr: true std: 2",
            TensorProto::UINT8,
            {32, 24, 3},
            "resize 0 24x32, crop 0 0x0, bgr, mean [0], std [2], scale [1]"},
           {"bgr: true",
            bytes,
            {32, 24, 1},
            "resize 0 24x32, crop 0 0x0, grey, mean [0], std [1], scale [1]"},
           {"grey: true",
            bytes,
            {32, 24},
            "resize 0 24x32, crop 0 0x0, grey, mean [0], std [1], scale [1]"},
           {"crop: 8",
            bytes,
            {32, 24, 3},
            "resize 8 0x0, crop 0 8x8, mean [0], std [1], scale [1]"},
           {"", bytes, {3, 8, 6}, "resize 0 6x8, crop 0 0x0, mean [0], std [1], scale [1]"},
           {"", bytes, {32, 24}, ""},
           {"channels_last: true", bytes, {32, 24, 3}, ""},
           {"channels_last: true", bytes, {3, 24, 3}, ""},
           {"channels_last: true", bytes, {1, 24, 3}, ""},
           {"", bytes, {32, 24, 2}, ""},
           {"", TensorProto::FLOAT, {3, 8, 6}, ""},
           {"", TensorProto::INT8, {3, 8, 6}, ""}}) {
    const InputDef input = Parsed<InputDef>(std::string(c.input) + " class_name: ['a', 'b']");
    const ImagePreparation got =
        PreparationFor(input, {.place = {}, .records = 1, .tensors = {{c.type, c.dims}}});
    EXPECT_EQ(TextOf(got), c.want) << c.input;
    EXPECT_EQ(got.classes, Names({"a", "b"}));
  }
}

TEST(PredictorDatabaseTest, PredictorsNeedAllParameters) {
  Workspace ws;
  Feed<float>(&ws, "w", {1, 2}, {4, 5});
  const TempDir dir;
  EXPECT_EQ(
      MessageOf([&] { SavePredictor(dir.path("model"), MakeTrainingNets(LineDef()), {}, ws); }),
      "parameter \"b\" does not exist");
  EXPECT_FALSE(std::filesystem::exists(dir.path("model")));
}

// The nets and lists of the database, which other programs read.
TEST(PredictorDatabaseTest, HasTheNetsAndListsOfAPredictor) {
  const TempDir dir;
  Workspace ws;
  Feed<float>(&ws, "w", {1, 2}, {4, 5});
  Feed<float>(&ws, "b", {1}, {6});
  const ImagePreparation classes = {.classes = {"cat", "dog"}};
  SavePredictor(dir.path("model"), MakeTrainingNets(LineDef()), classes, ws);
  const MetaNetDef meta = LoadMetaNetDef(dir.path("model"), "minidb");
  std::string text;
  for (const NetsMap& entry : meta.nets()) {
    text += entry.key() + ": " + entry.value().name();
    for (const OperatorDef& op : entry.value().op()) {
      text += " " + op.type() + "(";
      for (const std::string& input : op.input()) text += input + " ";
      text += "->";
      for (const std::string& output : op.output()) text += " " + output;
      text += ")";
    }
    for (const std::string& input : entry.value().external_input()) text += " <" + input;
    for (const std::string& output : entry.value().external_output()) text += " >" + output;
    text += "\n";
  }
  for (const BlobsMap& entry : meta.blobs()) {
    text += entry.key() + ":";
    for (const std::string& blob : entry.value()) text += " " + blob;
    text += "\n";
  }
  for (const auto& entry : meta.applicationspecificinfo())
    text += entry.key() + "=" + entry.value() + "\n";
  EXPECT_EQ(text,
            "GLOBAL_INIT_NET_TYPE: line_load Load(!!PREDICTOR_DBREADER -> w b) "
            "<!!PREDICTOR_DBREADER >w >b\n"
            "PREDICT_INIT_NET_TYPE: line_init\n"
            "PREDICT_NET_TYPE: line FC(data w b -> y) <data <w <b >y\n"
            "INPUTS_BLOB_TYPE: data\nOUTPUTS_BLOB_TYPE: y\nPARAMETERS_BLOB_TYPE: w b\n"
            "classes=cat\ndog\n");
}

TEST(PredictorDatabaseTest, NetsWithoutGradients) {
  const NetDef init;
  const auto error = [&](const std::string& operators) {
    NetDef net = Parsed<NetDef>("name: 'n' " + operators);
    TrainedParameter parameter{.name = "w", .gradient = {}, .decays = true};
    parameter.gradient.dense_ = "w_grad";
    return MessageOf([&] { AddGradientSums({.loss = "l", .init = &init}, {parameter}, &net); });
  };
  const std::string fill = "op { type: 'ConstantFill' input: 'l' output: 'l_autogen_grad' } ";
  EXPECT_EQ(error("op { type: 'Copy' input: 'l' output: 'l_autogen_grad' }"),
            "net \"n\" has no operator that fills the gradient of the loss \"l\"");
  EXPECT_EQ(error(fill), "no operator of net \"n\" writes the gradient \"w_grad\"");
  EXPECT_EQ(error(fill + "op { type: 'Copy' input: 'l_autogen_grad' output: 'w_grad' }"),
            "(nothing was thrown)");
  EXPECT_EQ(MessageOf([] { ModelBuilder builder(""); }), "a model has no name");
}

}  // namespace
}  // namespace caffe2rt::test::predictor_database_test
