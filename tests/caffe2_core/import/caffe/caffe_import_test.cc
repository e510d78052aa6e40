#include "caffe2_core/import/caffe/caffe_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::caffe_import_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kInput =
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 dim: 1 dim: 1 } "
    "} }\n";

std::string Power(const std::string& name, const std::string& bottom, const std::string& top,
                  const std::string& more) {
  return "layer { name: '" + name + "' type: 'Power' bottom: '" + bottom + "' top: '" + top + "' " +
         more + " }\n";
}
CaffeModel Import(const std::string& net, const CaffeImportOptions& options = {}) {
  return ImportCaffeFromMemory(net, "", options);
}
void ExpectError(const std::string& net, const std::string& part) {
  ExpectThrows([&] { (void)Import(net); }, part);
}

// --- generations ---

// A convolution of 2 channels with a kernel of 1, then ReLU in place.
const std::string kV2 =
    "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' "
    "convolution_param { num_output: 2 kernel_size: 1 pad: 1 } }"
    "layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }";
const std::string kV1 =
    "layers { name: 'c' type: CONVOLUTION bottom: 'x' top: 'c' blobs_lr: 1 blobs_lr: 2 "
    "convolution_param { num_output: 2 kernel_size: 1 pad: 1 } }"
    "layers { name: 'r' type: RELU bottom: 'c' top: 'c' }";
const std::string kV0 =
    "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'p' }"
    "layers { layer { name: 'c' type: 'conv' num_output: 2 kernelsize: 1 } bottom: 'p' top: 'c' }"
    "layers { layer { name: 'r' type: 'relu' } bottom: 'c' top: 'c' }";
const std::string kOldInput = "input: 'x' input_dim: 1 input_dim: 2 input_dim: 1 input_dim: 1 ";

std::string BinaryConvolution() {
  return Bytes(106, Number(1, 2) + Bytes(4, Varint(1)) + Number(3, 1));
}
const std::string kBinaryV2 =
    Bytes(3, "x") + Bytes(8, Bytes(1, Varint(1) + Varint(2) + Varint(1) + Varint(1))) +
    Bytes(100, Bytes(1, "c") + Bytes(2, "Convolution") + Bytes(3, "x") + Bytes(4, "c") +
                   BinaryConvolution()) +
    Bytes(100, Bytes(1, "r") + Bytes(2, "ReLU") + Bytes(3, "c") + Bytes(4, "c"));

std::string BlobsOf(int field) {
  const std::string w = Bytes(7, Bytes(1, Varint(2) + Varint(2) + Varint(1) + Varint(1))) +
                        Bytes(5, Raw(1.0f) + Raw(2.0f) + Raw(-1.0f) + Raw(0.5f));
  const std::string b =
      Number(1, 1) + Number(2, 1) + Number(3, 1) + Number(4, 2) + Bytes(5, Raw(0.5f) + Raw(-0.25f));
  return Bytes(field, w) + Bytes(field, b);
}
const std::string kWeightsV2 = Bytes(100, Bytes(1, "c") + Bytes(2, "Convolution") + BlobsOf(7));
const std::string kWeightsV1 = Bytes(2, Bytes(4, "c") + Number(5, 4) + BlobsOf(6));
const std::string kWeightsV0 = Bytes(2, Bytes(1, Bytes(1, "c") + Bytes(2, "conv") + BlobsOf(50)));

TEST(CaffeImportTest, GenerationsOfNetsAndWeightsMayBeMixed) {
  // x = (3, -1): channel 0 is 3 - 2 + 0.5, channel 1 is -3 - 0.5 - 0.25; padding has the bias.
  const Tensor want = Floats({1, 2, 3, 3}, {0.5f, 0.5f, 0.5f, 0.5f, 1.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0,
                                            0, 0, 0, 0, 0, 0, 0, 0});
  for (const std::string& net :
       {kInput + kV2, kOldInput + kV2, kOldInput + kV1, kOldInput + kV0, kBinaryV2}) {
    for (const std::string& weights : {kWeightsV2, kWeightsV1, kWeightsV0}) {
      const Tensor got = RunCaffeText(net, weights, {{"x", Floats({1, 2, 1, 1}, {3, -1})}}, "c");
      EXPECT_EQ(Difference(got, want), 0) << net;
    }
  }
  ExpectError(kInput + kV1, "the net has fields layer and fields layers");
}

// A net file with weights of its own, such as a caffemodel: they are used unless others are given.
TEST(CaffeImportTest, WeightsOfTheirOwnFileWinOverThoseOfTheNet) {
  const std::string begin = kInput + "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' ";
  const std::string end = " convolution_param { num_output: 1 kernel_size: 1 bias_term: false } }";
  const std::string shape = "blobs { shape { dim: 1 dim: 2 dim: 1 dim: 1 } ";
  const std::string net = begin + shape + "data: 2 data: 1 }" + end;
  const NamedTensors input = {{"x", Floats({1, 2, 1, 1}, {3, -1})}};
  EXPECT_EQ(Difference(RunCaffeText(net, "", input, "c"), Floats({1, 1, 1, 1}, {5})), 0);
  const std::string weights =
      "layer { name: 'c' type: 'Convolution' " + shape + "data: 10 data: 100 } }";
  EXPECT_EQ(Difference(RunCaffeText(net, weights, input, "c"), Floats({1, 1, 1, 1}, {-70})), 0);
}

// --- rules ---

std::vector<std::string> LayersOf(const CaffeModel& model) {
  std::vector<std::string> names;
  for (const OperatorDef& op : model.predict_net.op()) names.push_back(op.debug_info());
  return names;
}

TEST(CaffeImportTest, KeepsTheLayersWhoseRulesAreMet) {
  const std::string net =
      kInput + Power("test", "x", "a", "include { phase: TEST }") +
      Power("train", "x", "b", "include { phase: TRAIN }") +
      Power("low", "x", "c", "exclude { min_level: 1 }") +
      Power("high", "x", "d", "include { min_level: 1 max_level: 2 }") +
      Power("deploy", "x", "e", "include { stage: 'deploy' not_stage: 'old' }") +
      Power("either", "x", "f", "include { phase: TRAIN } include { stage: 'deploy' }");
  EXPECT_THAT(LayersOf(Import(net)), ElementsAre("test", "low"));
  EXPECT_THAT(LayersOf(Import(net, {.train = true})), ElementsAre("train", "low", "either"));
  EXPECT_THAT(LayersOf(Import(net, {.level = 2})), ElementsAre("test", "high"));
  EXPECT_THAT(LayersOf(Import(net, {.stages = {"deploy"}})),
              ElementsAre("test", "low", "deploy", "either"));
  EXPECT_THAT(LayersOf(Import(net, {.stages = {"deploy", "old"}})),
              ElementsAre("test", "low", "either"));
  EXPECT_THAT(LayersOf(Import("state { phase: TRAIN level: 1 } " + net)),
              ElementsAre("train", "high", "either"));
  ExpectError(kInput + Power("a", "x", "a", "include { } exclude { }"),
              "layer \"a\" has include and exclude rules, want one of the two");
}

// --- blobs ---

TEST(CaffeImportTest, LayersInPlaceWriteBlobsOfTheirOwn) {
  const CaffeModel model =
      Import(kInput + Power("a", "x", "h", "") + Power("b", "h", "h", "") +
             "layer { name: 'd' type: 'Dropout' bottom: 'h' top: 'h' }" + Power("c", "h", "h", ""));
  EXPECT_THAT(LayersOf(model), ElementsAre("a", "b", "c"));
  EXPECT_EQ(model.predict_net.op(0).output(0), "h/1");
  EXPECT_EQ(model.predict_net.op(1).output(0), "h/2");
  EXPECT_EQ(model.predict_net.op(2).output(0), "h");
  EXPECT_THAT(model.outputs, ElementsAre("h"));
  EXPECT_EQ(model.layer_blobs.at("a"), "h/1");
  EXPECT_EQ(model.layer_blobs.at("d"), "h/2");
  // An input keeps its name.
  const CaffeModel on_input = Import(kInput + Power("a", "x", "x", ""));
  EXPECT_EQ(on_input.predict_net.op(0).input(0), "x");
  EXPECT_THAT(on_input.outputs, ElementsAre("x/1"));
}

TEST(CaffeImportTest, LeavesOutWhatIsForTraining) {
  const CaffeModel model = Import(
      "layer { name: 'd' type: 'Data' top: 'data' top: 'label' "
      "transform_param { scale: 0.5 mean_value: 1 mean_value: 2 mean_value: 3 crop_size: 7 } }" +
          Power("p", "data", "p", "") +
          "layer { name: 'flat' type: 'Flatten' bottom: 'label' top: 'flat' }"
          "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'p' bottom: 'flat' top: 'loss' }"
          "layer { name: 'acc' type: 'Accuracy' bottom: 'p' bottom: 'label' top: 'acc' }" +
          Power("of_loss", "loss", "q", ""),
      {.input_shapes = {{"data", {1, 3, 7, 7}}}});
  EXPECT_THAT(LayersOf(model), ElementsAre("p"));
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "data");
  EXPECT_THAT(model.inputs[0].dims, ElementsAre(1, 3, 7, 7));
  EXPECT_THAT(model.outputs, ElementsAre("p"));
  EXPECT_THAT(
      model.notes,
      ElementsAre("layer \"flat\" of type Flatten is left out: it reads labels only",
                  "layer \"loss\" of type SoftmaxWithLoss is left out: it is for training",
                  "layer \"acc\" of type Accuracy is left out: it is for training",
                  "layer \"of_loss\" of type Power is left out: it reads what is left out"));
  EXPECT_EQ(model.transform.scale, 0.5f);
  EXPECT_THAT(model.transform.mean_values, ElementsAre(1, 2, 3));
  EXPECT_EQ(model.transform.crop_size, 7);
}

TEST(CaffeImportTest, SilentBlobsAreNoOutputs) {
  const CaffeModel model = Import(kInput +
                                  "layer { name: 's' type: 'Slice' bottom: 'x' top: 'a' top: 'b' }"
                                  "layer { name: 'quiet' type: 'Silence' bottom: 'b' }");
  EXPECT_THAT(model.outputs, ElementsAre("a"));
}

// --- errors ---

TEST(CaffeImportTest, ListsAllLayersThatAreNotSupported) {
  ExpectError(
      kInput +
          "layer { name: 'a' type: 'Frobnicate' bottom: 'x' top: 'a' }"
          "layer { name: 'b' type: 'Region' bottom: 'x' top: 'b' }"
          "layer { name: 'c' type: 'Frobnicate' bottom: 'x' top: 'c' }"
          "layer { name: 'd' type: 'Poolign' bottom: 'x' top: 'd' }",
      "the net has layers that are not supported: 2 of type Frobnicate (\"a\", \"c\"), 1 of "
      "type Poolign (\"d\": did you mean Pooling?), 1 of type Region (\"b\": end the net "
      "before it and take the blobs that it reads as outputs)");
}

TEST(CaffeImportTest, ErrorsNameLayerAndPlace) {
  ExpectError(kInput + Power("p", "y", "p", ""),
              "line 2, column 1: layer \"p\" of type Power reads \"y\", which no layer before it");
  ExpectError(kInput + Power("p", "x", "p", "power_param { scale: a }"),
              "layer \"p\" of type Power: line 2, column 68: field scale is \"a\", want a number");
  ExpectError(kInput + Power("p", "x", "a", "") + Power("p", "x", "b", ""),
              "line 3, column 1: two layers have the name \"p\"");
  ExpectError(kInput +
                  "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { "
                  "num_output: 3 kernel_size: 1 group: 2 } }",
              "num_output is 3 and group 2: want a multiple of the group");
  ExpectError(kInput +
                  "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' "
                  "convolution_param { num_output: 3 kernel_size: 0 } }",
              "the kernel size is 0, want at least 1");
  ExpectError("input: 'x' input_dim: 1 " + kV2, "1 input and 1 value of input_dim, want four");
  ExpectError("name: 'n'", "it has no layers");
  ExpectThrows([&] { ImportCaffeFromMemory(kInput + kV2, Bytes(1, "other"), {}); },
               "have no blobs for 1 layer of the net: \"c\" of type Convolution");
  ExpectThrows(
      [&] {
        (void)Import(kInput + kV2, {.input_shapes = {{"y", {1}}}});
      },
      "the shape of input \"y\" is given, but the net has no input of this name");
}

TEST(CaffeImportTest, TenThousandLayersTakeLittleTime) {
  std::string net = kInput;
  for (int i = 0; i < 10000; ++i) {
    const std::string before = i == 0 ? "x" : "p" + std::to_string(i - 1);
    net += Power("l" + std::to_string(i), before, "p" + std::to_string(i), "");
  }
  EXPECT_EQ(Import(net).predict_net.op_size(), 10000);
}

}  // namespace
}  // namespace caffe2rt::test::caffe_import_test
