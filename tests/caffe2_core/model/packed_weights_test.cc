#include "caffe2_core/model/packed_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::packed_weights_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAre;

Tensor Matrix(int64_t rows, const std::vector<float>& values) {
  Tensor tensor({rows, static_cast<int64_t>(values.size()) / rows}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

TEST(PackedWeightsTest, Int8HasAScaleForEachRow) {
  // Row 0 has the scale 1, and -63.5 is rounded to even; row 1 has the scale 0.5; row 2 is zero.
  const auto reduced = ReduceWeights(Matrix(3, {127, -63.5f, 1.4f, -63.5f, 0.5f, 0.2f, 0, 0, 0}),
                                     WeightStorage::kInt8);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_THAT(reduced->row_scales, ElementsAre(1, 0.5f, 0));
  EXPECT_THAT(reduced->bytes, ElementsAre(127, -64, 1, -127, 1, 0, 0, 0, 0));
  // Errors of 0.5, 0.4 and 0.2.
  const double signal = 127 * 127 + 2 * 63.5 * 63.5 + 1.4 * 1.4 + 0.25 + 0.04;
  EXPECT_NEAR(reduced->snr_db, 10 * std::log10(signal / 0.45), 1e-4);
  std::vector<float> widened(9);
  WidenInt8(reduced->bytes.data(), reduced->row_scales.data(), 3, 9, widened.data());
  EXPECT_THAT(widened, ElementsAre(127, -64, 1, -63.5f, 0.5f, 0, 0, 0, 0));
}

TEST(PackedWeightsTest, Float16RoundsToNearestEven) {
  const auto reduced =
      ReduceWeights(Matrix(1, {1 + 0x1p-10f, 1 + 0x1p-11f, -65504, 0}), WeightStorage::kFloat16);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_EQ(reduced->bytes.size(), 8u);
  EXPECT_TRUE(reduced->row_scales.empty());
  std::vector<float> widened(4);
  WidenFloat16(reduced->bytes.data(), 4, widened.data());
  EXPECT_THAT(widened, ElementsAre(1 + 0x1p-10f, 1, -65504, 0));
}

TEST(PackedWeightsTest, Float16KeepsMoreThan67Decibels) {
  // The relative error of an element is at most 2^-11, which alone means 66 dB; most are smaller.
  std::vector<float> values;
  for (int i = 0; i < 5000; ++i) values.push_back(std::sin(static_cast<float>(i)) * 0.1f);
  const auto reduced = ReduceWeights(Matrix(10, values), WeightStorage::kFloat16);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_GE(reduced->snr_db, 67);
}

TEST(PackedWeightsTest, LeavesTensorsThatWouldLoseTheirMeaning) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto is_left = [](const Tensor& tensor, WeightStorage to) {
    return !ReduceWeights(tensor, to).has_value();
  };
  EXPECT_TRUE(is_left(Vector({1, 2}), WeightStorage::kInt8));  // a bias
  EXPECT_TRUE(is_left(Matrix(1, {1, infinity}), WeightStorage::kInt8));
  EXPECT_TRUE(is_left(Matrix(1, {1, std::nanf("")}), WeightStorage::kFloat16));
  EXPECT_TRUE(is_left(Matrix(1, {1, 65505}), WeightStorage::kFloat16));
  EXPECT_FALSE(is_left(Matrix(1, {1, 65505}), WeightStorage::kInt8));
  Tensor integers({1, 2}, CPU);
  integers.mutable_data<int32_t>();
  EXPECT_TRUE(is_left(integers, WeightStorage::kInt8));
}

TEST(PackedWeightsTest, WeightsAreReadByConvolutionsAndMatrixMultiplicationsOnly) {
  const auto net = ParseNet(R"(
      op { type: "Conv" input: "x" input: "f" input: "b" output: "y" arg { name: "kernel" i: 1 } }
      op { type: "FC" input: "y" input: "w" input: "c" output: "z" }
      op { type: "FC" input: "z" input: "shared" input: "d" output: "v" }
      op { type: "Add" input: "v" input: "shared" output: "u" }
      op { type: "MatMul" input: "u" input: "computed" output: "t" }
      op { type: "Copy" input: "u" output: "computed" })");
  EXPECT_THAT(WeightBlobsOf(net), ElementsAre("b", "c", "d", "f", "w"));
}

TEST(PackedWeightsTest, OutputsAndFirstInputsAreNoWeights) {
  const auto weights = [](const std::string& rest) {
    return WeightBlobsOf(ParseNet(rest + R"( op { type: "FC" input: "x" input: "w" input: "b"
                                                  output: "y" })"));
  };
  EXPECT_THAT(weights(""), ElementsAre("b", "w"));
  EXPECT_THAT(weights(R"(external_input: "w" external_output: "b")"), ElementsAre("w"));
  EXPECT_THAT(weights(R"(op { type: "Relu" input: "b" output: "r" })"), ElementsAre("w"));
  EXPECT_THAT(weights(R"(op { type: "FC" input: "w" input: "b" input: "c" output: "r" })"),
              ElementsAre("b", "c"));
}

TEST(PackedWeightsTest, RowsThatAreTooSmallForAScaleAreZero) {
  // The scale of the first row would be 2^-126 / 127 and lose bits, that of the second is 2^-126.
  const float small = std::numeric_limits<float>::min();
  const auto reduced =
      ReduceWeights(Matrix(2, {small, -small, 127 * small, -2 * small}), WeightStorage::kInt8);
  ASSERT_TRUE(reduced.has_value());
  EXPECT_THAT(reduced->row_scales, ElementsAre(0, small));
  EXPECT_THAT(reduced->bytes, ElementsAre(0, 0, 127, -2));
  float untouched = 3;
  WidenInt8(nullptr, nullptr, 0, 0, &untouched);
  EXPECT_EQ(untouched, 3);
  Tensor empty({0, 2}, CPU);
  empty.mutable_data<float>();
  EXPECT_FALSE(ReduceWeights(empty, WeightStorage::kInt8).has_value());
  EXPECT_FALSE(ReduceWeights(Matrix(1, {1, -65505}), WeightStorage::kFloat16).has_value());
  EXPECT_TRUE(ReduceWeights(Matrix(1, {1, -65504}), WeightStorage::kFloat16).has_value());
}

class PackedWeightsFileTest : public ::testing::Test {
 protected:
  // A packed model whose FC has the weights {{127, 1.4}, {-63.5, 0.2}} and the bias {0.3, 0.7}.
  ModelPacker::Summary Pack(WeightStorage storage) {
    Model model = LoadModel({.predict_net = dir_.Write(
                                 "net.pbtxt", R"(name: "fc" external_input: "x" external_input: "w"
        external_input: "b" op { type: "FC" input: "x" input: "w" input: "b" output: "y" })")});
    Workspace ws;
    Feed<float>(&ws, "w", {2, 2}, {127, 1.4f, -63.5f, 0.2f});
    Feed<float>(&ws, "b", {2}, {0.3f, 0.7f});
    return ModelPacker(model, ws, storage).Write(path_);
  }
  std::vector<float> Loaded(const std::string& name) {
    Model model = LoadModel({.predict_net = path_});
    Workspace ws;
    RunInitNets(&model, &ws);
    return Values(std::as_const(ws).GetBlob(name)->Get<Tensor>());
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("model.c2pack");
};

TEST_F(PackedWeightsFileTest, LoadsWeightsAsFloats) {
  const ModelPacker::Summary summary = Pack(WeightStorage::kInt8);
  EXPECT_EQ(summary.reduced, 1);
  EXPECT_EQ(summary.worst, "w");
  EXPECT_THAT(Loaded("w"), ElementsAre(127, 1, -63.5f, 0));
  EXPECT_THAT(Loaded("b"), ElementsAre(0.3f, 0.7f));
  Pack(WeightStorage::kFloat16);
  EXPECT_THAT(Loaded("w"), ElementsAre(127, static_cast<float>(0x1.668p0), -63.5f,
                                       static_cast<float>(0x1.998p-3)));
  EXPECT_EQ(Pack(WeightStorage::kFull).reduced, 0);
  EXPECT_THAT(Loaded("w"), ElementsAre(127, 1.4f, -63.5f, 0.2f));
}

// Of three weights, one is exact in any form, and one is the worst; what is no weight does not count.
TEST_F(PackedWeightsFileTest, NamesTheWeightWithTheMostNoise) {
  Model model = LoadModel({.predict_net = dir_.Write("net.pbtxt", R"(name: "fcs"
      external_input: "x" external_input: "a" external_input: "b" external_input: "c"
      external_input: "z"
      op { type: "FC" input: "x" input: "a" input: "z" output: "p" }
      op { type: "FC" input: "p" input: "b" input: "z" output: "q" }
      op { type: "FC" input: "q" input: "c" input: "z" output: "y" })")});
  Workspace ws;
  Feed<float>(&ws, "a", {2, 2}, {1, 0, 0, 2});
  Feed<float>(&ws, "b", {2, 2}, {1, 0.2f, 0.3f, 1});
  Feed<float>(&ws, "c", {2, 2}, {1, 0.1f, 0.001f, 0});
  Feed<float>(&ws, "z", {2}, {0.3f, 0.7f});
  // Of rows with 1 as the largest, the levels are multiples of 1 / 127.
  const auto noise = [](double value) {
    const double difference = std::nearbyint(value * 127) / 127 - value;
    return difference * difference;
  };
  const double of_b = 10 * std::log10((1 + 0.04 + 0.09 + 1) / (noise(0.2) + noise(0.3)));
  const double of_c = 10 * std::log10((1 + 0.01 + 1e-6) / noise(0.1));
  const ModelPacker::Summary int8 = ModelPacker(model, ws, WeightStorage::kInt8).Write(path_);
  EXPECT_EQ(int8.reduced, 3);
  EXPECT_EQ(int8.worst, of_b < of_c ? "b" : "c");
  EXPECT_NEAR(int8.worst_snr_db, std::min(of_b, of_c), 1e-3);
  // If all of them are exact, the first one is named.
  for (const char* const name : {"b", "c"}) Feed<float>(&ws, name, {2, 2}, {4, 0, 0, -8});
  const ModelPacker::Summary exact = ModelPacker(model, ws, WeightStorage::kFloat16).Write(path_);
  EXPECT_EQ(exact.reduced, 3);
  EXPECT_EQ(exact.worst, "a");
  EXPECT_EQ(exact.worst_snr_db, HUGE_VAL);
  const ModelPacker::Summary full = ModelPacker(model, ws, WeightStorage::kFull).Write(path_);
  EXPECT_EQ(full.reduced, 0);
  EXPECT_EQ(full.worst, "");
}

TEST_F(PackedWeightsFileTest, RejectsADamagedIndex) {
  Pack(WeightStorage::kInt8);
  const auto expect_error = [&](const std::function<void(PackedTensor*)>& damage,
                                const std::string& text) {
    PackedIndex index = PackFile::Open(path_)->index();
    for (PackedTensor& tensor : *index.mutable_tensor()) {
      if (tensor.name() == "w") damage(&tensor);
    }
    PackWriter writer(dir_.path("damaged.c2pack"));
    writer.Add(std::string(1024, '\0').data(), 1024);
    ExpectThrows([&] { writer.Finish(index); }, text);
  };
  expect_error([](PackedTensor* w) { w->set_stored_type(TensorProto_DataType_INT32); },
               "want FLOAT16 or INT8");
  expect_error([](PackedTensor* w) { w->set_data_type(TensorProto_DataType_INT32); },
               "want it only of floats");
  expect_error([](PackedTensor* w) { w->clear_row_scales(); }, "want them for INT8 only");
  expect_error([](PackedTensor* w) { w->clear_stored_type(); }, "without a stored type");
  expect_error([](PackedTensor* w) { w->mutable_row_scales()->set_size(4); },
               "bytes of the scales of the rows");
  expect_error([](PackedTensor* w) { w->mutable_block()->set_size(16); },
               "want those of its shape");
}

TEST_F(PackedWeightsFileTest, DoesNotStoreAPreparedNet) {
  Model model = LoadModel({.predict_net = dir_.Write("net.pbtxt", kPredict)});
  Workspace ws;
  ModelPacker packer(model, ws, WeightStorage::kFloat16);
  ExpectThrows([&] { packer.Prepare({}, &ws); }, "stored with fewer bits; want one of both");
}

// Whatever their form in the file, weights may be shared; what the net changes may be written.
TEST_F(PackedWeightsFileTest, LoadedWeightsAreReadOnlyUnlessTheNetChangesThem) {
  for (const WeightStorage storage :
       {WeightStorage::kFull, WeightStorage::kFloat16, WeightStorage::kInt8}) {
    Pack(storage);
    Model model = LoadModel({.predict_net = path_});
    Workspace ws;
    RunInitNets(&model, &ws);
    for (const char* name : {"w", "b"})
      EXPECT_TRUE(std::as_const(ws).GetBlob(name)->Get<Tensor>().storage()->read_only()) << name;
    EXPECT_EQ(PackFile::Open(path_)->index().instruction_set(), "") << "nothing is prepared";
    EXPECT_EQ(model.packed->Note(), "");
  }
  Model changing =
      LoadModel({.predict_net = dir_.Write("changing.pbtxt", R"(name: "fc" external_input: "x"
      external_input: "w" external_input: "b"
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
      op { type: "Sqr" input: "b" output: "b" })")});
  Workspace from;
  Feed<float>(&from, "w", {2, 2}, {127, 1, -63, 0});
  Feed<float>(&from, "b", {2}, {3, 7});
  ModelPacker(changing, from, WeightStorage::kInt8).Write(path_);
  Model model = LoadModel({.predict_net = path_});
  Workspace ws;
  RunInitNets(&model, &ws);
  EXPECT_TRUE(std::as_const(ws).GetBlob("w")->Get<Tensor>().storage()->read_only());
  EXPECT_FALSE(std::as_const(ws).GetBlob("b")->Get<Tensor>().storage()->read_only());
}

}  // namespace
}  // namespace caffe2rt::packed_weights_test
