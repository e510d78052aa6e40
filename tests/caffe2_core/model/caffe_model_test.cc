// Models of Caffe whose files are in memory.
#include "caffe2_core/model/caffe_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/tensor/prepared_forms.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::caffe_model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char kNet[] = R"(
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
    layer { name: "y" type: "InnerProduct" bottom: "x" top: "y"
            inner_product_param { num_output: 1 } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "y" top: "loss" })";

// y = 2 * x0 + 3 * x1 + 0.5.
std::string Weights() {
  const std::string w = Bytes(7, Bytes(1, Varint(1) + Varint(2))) + Bytes(5, Raw(2.0f) + Raw(3.0f));
  const std::string b = Bytes(7, Bytes(1, Varint(1))) + Bytes(5, Raw(0.5f));
  return Bytes(100, Bytes(1, "y") + Bytes(2, "InnerProduct") + Bytes(7, w) + Bytes(7, b));
}

float RunModel(Model model, float x0, float x1) {
  Predictor predictor(std::move(model));
  std::vector<Tensor> out;
  Tensor x(std::vector<int64_t>{1, 2}, CPU);
  x.mutable_data<float>()[0] = x0;
  x.mutable_data<float>()[1] = x1;
  EXPECT_TRUE(predictor({x}, &out));
  return out.at(0).data<float>()[0];
}

TEST(CaffeModelTest, LoadsFromMemoryWhatIsNeededNoMore) {
  Model model;
  {
    std::string net = kNet, weights = Weights();
    model = LoadCaffeModelFromMemory(net, weights);
    // The model must not read the bytes again.
    net.assign(net.size(), 'x');
    weights.assign(weights.size(), 'x');
  }
  EXPECT_THAT(model.inputs, ElementsAre("x"));
  EXPECT_THAT(model.outputs, ElementsAre("y"));
  EXPECT_THAT(model.files, IsEmpty());
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("layer \"loss\"")));
  EXPECT_EQ(model.predict_net.name(), "net");
  EXPECT_EQ(model.init_nets.at(0).name(), "net_init");
  EXPECT_EQ(RunModel(std::move(model), 10, 100), 320.5f);
}

TEST(CaffeModelTest, FilesAreThoseThatWereRead) {
  const TempDir dir;
  const std::string net = dir.Write("net.prototxt", kNet), w = dir.Write("w.caffemodel", Weights());
  Model both = LoadModel({.predict_net = net, .weights = w});
  EXPECT_THAT(both.files, ElementsAre(net, w));
  EXPECT_EQ(both.predict_net.name(), "net");
  EXPECT_EQ(both.init_nets.size(), 1u);
  EXPECT_EQ(RunModel(std::move(both), 1, 10), 32.5f);
  EXPECT_THAT(LoadModel({.predict_net = net}).files, ElementsAre(net));
}

TEST(CaffeModelTest, GivesFromMemoryWhatFilesGive) {
  const TempDir dir;
  const Model of_files = LoadModel({.predict_net = dir.Write("net.prototxt", kNet),
                                    .weights = dir.Write("net.caffemodel", Weights())});
  const Model model = LoadCaffeModelFromMemory(kNet, Weights());
  EXPECT_EQ(model.predict_net.SerializeAsString(), of_files.predict_net.SerializeAsString());
  EXPECT_EQ(model.init_nets.at(0).SerializeAsString(),
            of_files.init_nets.at(0).SerializeAsString());
  EXPECT_EQ(model.init_weights.at(0).size(), 2u);
  EXPECT_EQ(model.input_shapes, of_files.input_shapes);
  EXPECT_EQ(model.layer_blobs, of_files.layer_blobs);
}

TEST(CaffeModelTest, FillsLayersInMemoryWithoutWeights) {
  Model model = LoadCaffeModelFromMemory(kNet, "");
  EXPECT_THAT(model.notes,
              ElementsAre(HasSubstr("layer \"loss\""), HasSubstr("no weights are given")));
  EXPECT_EQ(RunModel(std::move(model), 10, 100), 0);  // the fillers are constants of 0
}

TEST(CaffeModelTest, AppliesOptionsToNetsInMemory) {
  const std::string net =
      R"(input: "x" layer { name: "s" type: "Slice" bottom: "x" top: "a" top: "b"
      slice_param { axis: -1 } })";
  ExpectThrows([&] { LoadCaffeModelFromMemory(net, ""); }, "give the shapes of the inputs");
  ModelFileOptions options;
  options.caffe.input_shapes["x"] = {1, 4};
  const Model model = LoadCaffeModelFromMemory(net, "", options);
  EXPECT_THAT(model.input_shapes.at("x"), ElementsAre(1, 4));
  EXPECT_THAT(model.outputs, ElementsAre("a", "b"));
}

// Those of models of any kind, too.
TEST(CaffeModelTest, AppliesSeedsAndArgumentsToNetsInMemory) {
  ModelFileOptions options;
  options.seed = 5;
  options.net_arguments = {MakeArgument("answer", 42)};
  const Model model = LoadCaffeModelFromMemory(kNet, Weights(), options);
  EXPECT_EQ(model.seed, 5u);
  EXPECT_EQ(GetArgumentPtr(model.predict_net, "answer")->i(), 42);
  EXPECT_EQ(GetArgumentPtr(model.init_nets.at(0), "answer")->i(), 42);
}

// In the order of the file, not in that of their readers.
TEST(CaffeModelTest, InputsHaveTheOrderOfTheFile) {
  const Model model = LoadCaffeModelFromMemory(R"(
      layer { name: "b" type: "Input" top: "b" input_param { shape { dim: 1 dim: 2 } } }
      layer { name: "a" type: "Input" top: "a" input_param { shape { dim: 1 dim: 2 } } }
      layer { name: "y" type: "Eltwise" bottom: "a" bottom: "b" top: "y" })",
                                               "");
  EXPECT_THAT(model.inputs, ElementsAre("b", "a"));
  EXPECT_THAT(model.input_shapes.at("a"), ElementsAre(1, 2));
}

TEST(CaffeModelTest, NamesTheLayerThatFitsOneSize) {
  EXPECT_EQ(LoadCaffeModelFromMemory(kNet, "").fixed_size_layer, "");
  EXPECT_EQ(LoadCaffeModelFromMemory(R"(
      layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 1 dim: 4 dim: 4 } } }
      layer { name: "up" type: "Upsample" bottom: "x" bottom: "x" top: "y" })",
                                     "")
                .fixed_size_layer,
            "up");
}

TEST(CaffeModelTest, RejectsWhatIsInMemoryInstead) {
  ExpectThrows([] { LoadCaffeModelFromMemory("", Weights()); },
               "the net of Caffe in memory is empty");
  ExpectThrows([] { LoadCaffeModelFromMemory("layer {\n  name: }", ""); }, "line 2");
  ExpectThrows([] { LoadCaffeModelFromMemory(kNet, "no weights"); }, "\"weights\"");
  ExpectThrows([] { LoadCaffeModelFromMemory("layer { name: 'l' type: 'NoSuch' }", ""); },
               "cannot import \"net\": ");
  ExpectThrows([] { LoadCaffeModelFromMemory(kNet, "\x89HDF\r\n\x1a\n"); }, "HDF5");
  ExpectThrows([] { LoadCaffeModelFromMemory(kNet, "", {.weights = "net.caffemodel"}); },
               "name files, want none");
  ExpectThrows(
      [] { LoadModelFromMemory({}, "op { type: 'Copy' }", {.weights = "net.caffemodel"}); },
      "name files, want none");
  ExpectThrows([] { LoadModelFromMemory({}, kNet); }, "LoadCaffeModelFromMemory");
  ExpectThrows([] { LoadModelFromMemory({}, Weights()); }, "LoadCaffeModelFromMemory");
  ExpectThrows([] { LoadModelFromMemory({Weights()}, "op { type: 'Copy' }"); }, "init net 0");
  // A NetDef as the net of Caffe.
  ExpectThrows([] { LoadCaffeModelFromMemory("name: 'n' op { type: 'Copy' input: 'x' }", ""); },
               "layer");
}

TEST(CaffeModelTest, RejectsTruncatedWeightsInMemory) {
  const std::string weights = Weights();
  for (size_t size = 1; size < weights.size(); ++size) {
    // In a buffer of that size, so that the address sanitizer finds accesses behind it.
    const std::vector<char> bytes(weights.begin(), weights.begin() + static_cast<ptrdiff_t>(size));
    ExpectThrows([&] { LoadCaffeModelFromMemory(kNet, {bytes.data(), bytes.size()}); }, "weights");
  }
}

// The elements are not in a second copy of the net.
TEST(CaffeModelTest, ReadsWeightsOfBinaryInitNetsInMemoryDirectly) {
  const std::string init = ParseNet(R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 2 } arg { name: "values" floats: 3 floats: 4 } })")
                               .SerializeAsString();
  const std::string predict = R"(external_input: "x" external_input: "w" external_output: "y"
      op { type: "Mul" input: "x" input: "w" output: "y" })";
  Model model = LoadModelFromMemory({init}, predict);
  ASSERT_EQ(model.init_weights.size(), 1u);
  ASSERT_EQ(model.init_weights[0].size(), 1u);
  EXPECT_EQ(model.init_weights[0][0].values.numel(), 2);
  EXPECT_EQ(model.init_nets[0].op(0).arg(1).floats_size(), 0);
  EXPECT_EQ(model.init_nets[0].name(), "init_net");
  Predictor predictor(std::move(model));
  std::vector<Tensor> out;
  Tensor x(std::vector<int64_t>{2}, CPU);
  x.mutable_data<float>()[0] = 10;
  x.mutable_data<float>()[1] = 100;
  ASSERT_TRUE(predictor({x}, &out));
  EXPECT_EQ(out[0].data<float>()[0], 30);
  EXPECT_EQ(out[0].data<float>()[1], 400);
}

// The file states the sizes of its inputs, so the weights are prepared before the first call.
TEST(CaffeModelTest, PredictorsPlanAheadForTheSizesOfTheFile) {
  std::string net = kNet;
  net.replace(net.find("dim: 1"), 6, "dim: 8");
  const int64_t before = PreparedForms::Count().made;
  Predictor predictor(LoadCaffeModelFromMemory(net, Weights()));
  EXPECT_EQ(PreparedForms::Count().made - before, 1);
  Tensor x(std::vector<int64_t>{8, 2}, CPU);
  for (int64_t i = 0; i < 16; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({x}, &out));
  EXPECT_EQ(out.at(0).data<float>()[7], 2 * 14 + 3 * 15 + 0.5f);
  EXPECT_EQ(PreparedForms::Count().made - before, 1);
}

}  // namespace
}  // namespace caffe2rt::test::caffe_model_test
