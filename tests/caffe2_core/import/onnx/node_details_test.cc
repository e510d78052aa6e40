// Nodes whose values show what their operators alone do not: defaults of older opsets, constants of large
// shapes, Reshapes that only look like a swap of axes, and tensors of more than one piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::node_details_test {
namespace {

using namespace node_forms;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

const std::string kY = "output { name: 'y' } ";

std::vector<float> Counting(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

// --- constants ---

TEST(NodeDetailsTest, ConstantsOfLargeShapes) {
  const auto run = [](const std::string& value, bool known) {
    const std::string attribute =
        value.empty() ? ""
                      : "attribute { name: 'value' type: TENSOR t { dims: 1 " + value + " } } ";
    const std::string shape = known ? List("s", {80, 60}) : OnnxValue("input", "s", {"2"}, kInt64);
    NamedTensors inputs;
    if (!known) inputs.emplace_back("s", IntTensor({2}, {80, 60}));
    return RunOnnxBytes(OnnxBytes(shape + Node("ConstantOfShape", "s", attribute) + kY), inputs,
                        "y");
  };
  for (const bool known : {true, false}) {
    SCOPED_TRACE(known);
    const std::vector<int64_t> dims = {80, 60};
    const Tensor zeros = run("", known);
    EXPECT_EQ(zeros.sizes(), dims);
    EXPECT_EQ(FloatsOf(zeros), std::vector<float>(4800, 0));
    EXPECT_EQ(FloatsOf(run("data_type: 1 float_data: 2.5", known)), std::vector<float>(4800, 2.5f));
    EXPECT_EQ(IntsOf(run("data_type: 7 int64_data: -3", known)), std::vector<int64_t>(4800, -3));
    const Tensor small = run("data_type: 6 int32_data: 7", known);
    ASSERT_TRUE(small.IsType<int32_t>());
    EXPECT_EQ(small.sizes(), dims);
    EXPECT_EQ(small.data<int32_t>()[4799], 7);
    const Tensor truth = run("data_type: 9 int32_data: 1", known);
    ASSERT_TRUE(truth.IsType<bool>());
    EXPECT_EQ(truth.sizes(), dims);
    EXPECT_TRUE(truth.data<bool>()[4799]);
    EXPECT_TRUE(run("data_type: 3 int32_data: 1", known).IsType<int8_t>());
  }
}

// The quotient of the least number and -1 does not fit.
TEST(NodeDetailsTest, QuotientsThatDoNotFitAreLeftToTheRun) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const std::string graph = List("a", {least, 7}) + List("b", {-1, -2}) + Node("Div", "ab");
  EXPECT_EQ(OnnxImportError(OnnxBytes(graph + kY)), "");
  const std::string fits = List("a", {least, 7}) + List("b", {2, -2}) + Node("Div", "ab") + kY;
  EXPECT_EQ(IntsOf(RunOnnxBytes(OnnxBytes(fits), {}, "y")), (std::vector<int64_t>{least / 2, -3}));
}

TEST(NodeDetailsTest, ReductionsOfConstantsThatHaveNoIntegers) {
  const std::string reals = "initializer { name: 'a' data_type: 1 dims: 2 float_data: [1.5, 2] } ";
  const auto run = [](const std::string& graph) { return RunOnnxBytes(OnnxBytes(graph), {}, "y"); };
  EXPECT_EQ(FloatsOf(run(reals + Node("ReduceSum", "a") + kY)), std::vector<float>{3.5f});
  EXPECT_EQ(FloatsOf(run(reals + Node("ReduceMax", "a") + kY)), std::vector<float>{2});
  EXPECT_EQ(FloatsOf(run(reals + Node("ReduceProd", "a") + kY)), std::vector<float>{3});
  EXPECT_EQ(IntsOf(run(List("a", {}) + Node("ReduceSum", "a") + kY)), std::vector<int64_t>{0});
}

// --- shapes ---

// x [2, 3, 4, 5] is merged to three axes, the last two are exchanged, and they are divided again: as a
// swap of the last two axes, and in other ways.
TEST(NodeDetailsTest, ReshapesAroundATransposeNeedNotSwapAxes) {
  const auto run = [](const std::string& before, const std::vector<int64_t>& merged) {
    const std::string graph = OnnxValue("input", "x", {"2", "3", "4", "5"}) + List("m", merged) +
                              List("d", {2, 3, 5, 4}) + before +
                              Node("Transpose", "p", Ints("perm", {0, 2, 1}), "q") +
                              Node("Reshape", "qd") + kY;
    return FloatsOf(
        RunOnnxBytes(OnnxBytes(graph), {{"x", FloatTensor({2, 3, 4, 5}, Counting(120))}}, "y"));
  };
  // y[r, j, i] is x[r, i, j] of `rows` matrices of `height` rows and `width` columns.
  const auto swapped = [](int64_t rows, int64_t height, int64_t width) {
    std::vector<float> values;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < width; ++j) {
        for (int64_t i = 0; i < height; ++i)
          values.push_back(static_cast<float>((r * height + i) * width + j));
      }
    }
    return values;
  };
  const std::string merge = Node("Reshape", "xm", "", "p");
  EXPECT_EQ(run(merge, {6, 4, 5}), swapped(6, 4, 5));
  EXPECT_EQ(run(merge, {3, 8, 5}), swapped(3, 8, 5));
  EXPECT_EQ(run(merge, {6, 5, 4}), swapped(6, 5, 4));
  EXPECT_EQ(run(merge, {10, 4, 3}), swapped(10, 4, 3));
  // What is between, or in place of, the Reshape.
  std::vector<float> negative = swapped(6, 4, 5);
  for (float& value : negative) value = -value;
  EXPECT_EQ(run(Node("Reshape", "xm", "", "h") + Node("Neg", "h", "", "p"), {6, 4, 5}), negative);
  const std::string plain = OnnxValue("input", "p", {"6", "4", "5"}) + List("d", {2, 3, 5, 4}) +
                            Node("Transpose", "p", Ints("perm", {0, 2, 1}), "q") +
                            Node("Reshape", "qd") + kY;
  EXPECT_EQ(
      FloatsOf(RunOnnxBytes(OnnxBytes(plain), {{"p", FloatTensor({6, 4, 5}, Counting(120))}}, "y")),
      swapped(6, 4, 5));
}

// --- older opsets ---

TEST(NodeDetailsTest, ConcatenationsOfOldModelsAreAlongAxis1UnlessTheyTell) {
  const auto run = [](const std::string& attributes) {
    return RunOnnxBytes(
        OnnxBytes(OnnxValue("input", "x", {"2", "1"}) + Node("Concat", "xx", attributes) + kY, 3),
        {{"x", FloatTensor({2, 1}, {1, 2})}}, "y");
  };
  EXPECT_EQ(FloatsOf(run("")), (std::vector<float>{1, 1, 2, 2}));
  EXPECT_EQ(run("").sizes(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(FloatsOf(run(Int("axis", 0))), (std::vector<float>{1, 2, 1, 2}));
}

// Position i of the result is floor(i / factor): not the nearest by the centres.
TEST(NodeDetailsTest, EnlargedImagesOfOldModelsRoundDown) {
  const std::string x = OnnxValue("input", "x", {"1", "1", "1", "3"});
  const Tensor image = FloatTensor({1, 1, 1, 3}, {1, 2, 3});
  const auto scales = [](float width) {
    return MakeString(
        "initializer { name: 's' data_type: 1 dims: 4 float_data: 1 float_data: 1 "
        "float_data: 1 float_data: ",
        width, " } ");
  };
  const std::vector<float> tripled = {1, 1, 1, 2, 2, 2, 3, 3, 3};
  for (const auto& [node, opset] : {std::pair("Upsample", 9), {"Resize", 10}}) {
    SCOPED_TRACE(node);
    EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(x + scales(3) + Node(node, "xs") + kY, opset),
                                    {{"x", image}}, "y")),
              tripled);
  }
  const std::string factors = "attribute { name: 'scales' type: FLOATS floats: [1, 1, 1, 3] } ";
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(x + Node("Upsample", "x", factors) + kY, 7),
                                  {{"x", image}}, "y")),
            tripled);
}

// --- normalizations ---

TEST(NodeDetailsTest, StatisticsOfABatchAreByChannel) {
  const std::string graph =
      OnnxValue("input", "x", {"1", "2", "1", "2"}) +
      "initializer { name: 's' data_type: 1 dims: 2 float_data: [2, 3] } "
      "initializer { name: 'b' data_type: 1 dims: 2 float_data: [1, -1] } "
      "initializer { name: 'm' data_type: 1 dims: 2 float_data: [4, 2] } "
      "initializer { name: 'v' data_type: 1 dims: 2 float_data: [2, 6] } " +
      Node("BatchNormalization", "xsbmv",
           Int("training_mode", 1) + Float("momentum", 0.5f) + Float("epsilon", 0), "ypq") +
      kY + "output { name: 'p' } output { name: 'q' } ";
  // Means of 2 and 12, variances of 1 and 4.
  const NamedTensors inputs = {{"x", FloatTensor({1, 2, 1, 2}, {1, 3, 10, 14})}};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "y")),
            (std::vector<float>{-1, 3, -4, 2}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "p")), (std::vector<float>{3, 7}));
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph), inputs, "q")), (std::vector<float>{1.5f, 5}));
  // The variance alone.
  std::string without_mean = graph;
  for (const char* const part : {"output: 'p' ", "output { name: 'p' } "})
    without_mean.erase(without_mean.find(part), std::string(part).size());
  without_mean.insert(without_mean.find("output: 'q'"), "output: '' ");
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(without_mean), inputs, "q")),
            (std::vector<float>{1.5f, 5}));
}

// Computed in floats and rounded before it is scaled.
TEST(NodeDetailsTest, RootMeanSquaresOfHalfPrecisionAreRounded) {
  const auto run = [](const std::string& attributes) {
    const std::string graph =
        OnnxValue("input", "a", {"2"}) + Node("Cast", "a", Int("to", 10), "x") +
        Node("Cast", "a", Int("to", 10), "s") +
        Node("RMSNormalization", "xs", attributes + Float("epsilon", 0), "h") +
        Node("Cast", "h", Int("to", 1)) + kY;
    return FloatsOf(
        RunOnnxBytes(OnnxBytes(graph, 23), {{"a", FloatTensor({2}, {0.125f, 3.25f})}}, "y"));
  };
  const auto half = [](float value) { return static_cast<float>(float16(value)); };
  // Of the squares 0.015625 and 10.5625.
  const float root = std::sqrt(5.2890625f), rough = half(std::sqrt(half(5.2890625f)));
  const auto scaled = [&](float by) {
    return std::vector<float>{half(half(0.125f / by) * 0.125f), half(half(3.25f / by) * 3.25f)};
  };
  EXPECT_NE(scaled(root), scaled(rough));
  EXPECT_EQ(run(""), scaled(root));
  EXPECT_EQ(run(Int("stash_type", 10)), scaled(rough));
}

// Statistics have the type that stash_type states, and other results that of one of several inputs.
TEST(NodeDetailsTest, ResultsOfMixedPrecisionHaveTheirOwnTypes) {
  const auto run = [](const std::string& nodes) {
    const std::string graph = OnnxValue("input", "a", {"1", "3"}) + OnnxValue("input", "s", {"3"}) +
                              Node("Cast", "a", Int("to", 10), "x") +
                              Node("Cast", "s", Int("to", 10), "g") + nodes + kY;
    return FloatsOf(RunOnnxBytes(
        OnnxBytes(graph, 23),
        {{"a", FloatTensor({1, 3}, {1, 2, 2})}, {"s", FloatTensor({3}, {0.1f, 0.3f, 3})}}, "y"));
  };
  const auto half = [](float value) { return static_cast<float>(float16(value)); };
  const std::string exact = Float("epsilon", 0);
  // The mean is 5 / 3, the variance 2 / 9, and the mean of the squares 3.
  EXPECT_THAT(run(Node("LayerNormalization", "xgg", exact, "hy")),
              Pointwise(FloatNear(1e-6f), {5.0f / 3}));
  EXPECT_THAT(run(Node("LayerNormalization", "xgg", exact, "hmy")),
              Pointwise(FloatNear(1e-6f), {std::sqrt(4.5f)}));
  EXPECT_THAT(run(Node("LayerNormalization", "xgg", exact + Int("stash_type", 10), "hy")),
              ElementsAre(half(5.0f / 3)));
  const float root = std::sqrt(3.0f);
  const std::vector<float> rows = {half(1 / root), half(2 / root), half(2 / root)};
  EXPECT_THAT(run(Node("RMSNormalization", "xs", exact)),
              Pointwise(FloatNear(1e-6f), {rows[0] * 0.1f, rows[1] * 0.3f, rows[2] * 3}));
  EXPECT_THAT(run(Node("RMSNormalization", "ag", exact, "h") + Node("Cast", "h", Int("to", 1))),
              ElementsAre(half(rows[0] * half(0.1f)), half(rows[1] * half(0.3f)), rows[2] * 3));
  // A batch of one image: the means of the channels become 0.5 * s + 0.5 * x.
  EXPECT_THAT(run(Node("BatchNormalization", "xggss",
                       Int("training_mode", 1) + Float("momentum", 0.5f), "hy")),
              Pointwise(FloatNear(1e-6f), {0.55f, 1.15f, 2.5f}));
  // The regions of Resize do not matter for its type.
  EXPECT_THAT(run(Node("Constant", "", Ints("value_ints", {1, 3}), "n") +
                  Node("Mul", "as", "", "p") + Node("Resize", "pg-n")),
              Pointwise(FloatNear(1e-6f), {0.1f, 0.6f, 6.0f}));
}

// --- types and files ---

TEST(NodeDetailsTest, InputsKeepTheirTypes) {
  for (const auto& [type, want] : {std::pair(10, TensorProto::FLOAT16),
                                   {16, TensorProto::BFLOAT16},
                                   {1, TensorProto::FLOAT},
                                   {11, TensorProto::DOUBLE},
                                   {3, TensorProto::INT8}}) {
    const OnnxModel model = ImportOnnxFromMemory(
        OnnxBytes(OnnxValue("input", "x", {"2"}, type) + Node("Identity") + kY), {});
    ASSERT_EQ(model.inputs.size(), 1u);
    EXPECT_EQ(model.inputs[0].type, want) << type;
  }
}

TEST(NodeDetailsTest, TensorsOfFourBitsMayHaveSeveralPieces) {
  const TempDir folder;
  const std::string path = folder.path("t.pb");
  constexpr int64_t kCount = 140'001;  // of which a piece of 65,536 bytes has 131,072
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::UINT4);
  proto.add_dims(kCount);
  std::string bytes((kCount + 1) / 2, '\0');
  for (int64_t i = 0; i < kCount; ++i) {
    bytes[static_cast<size_t>(i / 2)] |= static_cast<char>(i % 13 << (i % 2 * 4));
  }
  proto.set_raw_data(bytes);
  WriteFileAtomically(path, ProtoToBinary(proto));
  const Tensor got = ReadOnnxTensor(path);
  ASSERT_EQ(got.numel(), kCount);
  ASSERT_TRUE(got.IsType<uint8_t>());
  int wrong = 0;
  for (int64_t i = 0; i < kCount; ++i) wrong += got.data<uint8_t>()[i] != i % 13;
  EXPECT_EQ(wrong, 0);
}

TEST(NodeDetailsTest, WrittenTensorsHaveTheirNames) {
  const TempDir folder;
  WriteOnnxTensor(folder.path("t.pb"), "weights", FloatTensor({1}, {2}));
  onnx::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(ReadWholeFile(folder.path("t.pb"))));
  EXPECT_EQ(proto.name(), "weights");
}

}  // namespace
}  // namespace caffe2rt::test::node_details_test
