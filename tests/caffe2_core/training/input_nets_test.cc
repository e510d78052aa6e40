#include "caffe2_core/training/input_nets.h"

#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_text.h"

namespace caffe2rt::test::input_nets_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

InputDef Parse(const std::string& text) {
  InputDef input;
  TextError error;
  EXPECT_TRUE(ParseText(text, &input, &error)) << text;
  return input;
}

DataFacts Records(TensorProto::DataType type, const std::vector<int64_t>& dims) {
  return {.place = {"minidb", "points.minidb"},
          .records = 10,
          .tensors = {{.type = type, .dims = dims}, {.type = TensorProto::INT32, .dims = {1}}}};
}
const DataFacts kPixels = Records(TensorProto::BYTE, {32, 24, 3});
const DataFacts kGreyPixels = Records(TensorProto::BYTE, {32, 24});
const DataFacts kFloats = Records(TensorProto::FLOAT, {5});
const DataFacts kImages = Records(TensorProto::STRING, {1});
const DataFacts kIndices = Records(TensorProto::INT32, {7});

// The operator types, and the shape of the net's input.
struct Case {
  const char* name;
  const char* input;
  const DataFacts& facts;
  const char* types;
  const char* fills;
  std::vector<int64_t> shape;
};

class InputNetsTest : public ::testing::TestWithParam<Case> {};

TEST_P(InputNetsTest, PreparesARecord) {
  const Case& c = GetParam();
  const InputDef input = Parse(c.input);
  CheckInput(input, c.facts);
  std::vector<std::string> types, fills;
  const auto ops =
      InputOperators(input, c.facts, {.reader = "reader", .batch_size = 8, .prefix = "p_"});
  for (const OperatorDef& op : ops) types.push_back(op.type());
  for (const OperatorDef& op : InputFills(input, c.facts)) fills.push_back(op.output(0));
  EXPECT_EQ(absl::StrJoin(types, " "), c.types);
  EXPECT_EQ(absl::StrJoin(fills, " "), c.fills);
  EXPECT_EQ(InputShape(input, c.facts), c.shape);
  // The first operator reads; the blobs of the net are each written once.
  EXPECT_THAT(ops[0].input(), ElementsAre("reader"));
  EXPECT_EQ(ArgumentHelper(ops[0]).GetSingleArgument<int>("batch_size", 0), 8);
  int data = 0, label = 0;
  for (const OperatorDef& op : ops) {
    for (const std::string& output : op.output()) {
      data += output == "p_data" ? 1 : 0;
      label += output == "p_label" ? 1 : 0;
    }
  }
  EXPECT_EQ(data, 1);
  EXPECT_EQ(label, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Records, InputNetsTest,
    ::testing::Values(
        Case{"Floats", "", kFloats, "TensorProtosDBInput FlattenToVec", "", {1, 5}},
        Case{"Pixels",
             "",
             kPixels,
             "TensorProtosDBInput Cast NHWC2NCHW FlattenToVec",
             "",
             {1, 3, 32, 24}},
        Case{"ChannelsLast",
             "channels_last: true scale: 0.5",
             kPixels,
             "TensorProtosDBInput Cast Scale FlattenToVec",
             "",
             {1, 32, 24, 3}},
        Case{"Bytes", "", kGreyPixels, "TensorProtosDBInput Cast FlattenToVec", "", {1, 32, 24}},
        Case{"GreyPixels",
             "grey: true scale: 0.5",
             kGreyPixels,
             "TensorProtosDBInput Cast ExpandDims Scale FlattenToVec",
             "",
             {1, 1, 32, 24}},
        Case{"GreyPixelsChannelsLast",
             "grey: true channels_last: true",
             kGreyPixels,
             "TensorProtosDBInput Cast FlattenToVec",
             "",
             {1, 32, 24}},
        Case{"CutGreyPixels", "crop: 20 grey: true", kGreyPixels, "ImageInput", "", {1, 1, 20, 20}},
        Case{"OneMean",
             "mean: 128 std: 64",
             kPixels,
             "TensorProtosDBInput Cast NHWC2NCHW Scale Add FlattenToVec",
             "input_offset",
             {1, 3, 32, 24}},
        Case{"MeanOfEachChannel",
             "mean: [1, 2, 3] std: [4, 5, 6]",
             kPixels,
             "TensorProtosDBInput Cast NHWC2NCHW Mul Add FlattenToVec",
             "input_factor input_offset",
             {1, 3, 32, 24}},
        // Integers other than bytes may be indices, which stay.
        Case{"Indices", "", kIndices, "TensorProtosDBInput FlattenToVec", "", {1, 7}},
        Case{"Images", "crop: 20 mean: 1", kImages, "ImageInput", "", {1, 3, 20, 20}},
        Case{"GreyImages", "crop: 20 grey: true", kImages, "ImageInput", "", {1, 1, 20, 20}},
        Case{"CutPixels", "crop: 20", kPixels, "ImageInput", "", {1, 3, 20, 20}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(InputNetsValuesTest, SubtractsTheMeanAndDivides) {
  // (x - mean) * scale / std = x * (2 / 4) - 10 * (2 / 4), and x * (2 / 8) - 20 * (2 / 8).
  const InputDef input = Parse("mean: [10, 20] std: [4, 8] scale: 2");
  const std::vector<OperatorDef> fills = InputFills(input, kPixels);
  ASSERT_EQ(fills.size(), 2u);
  EXPECT_THAT(ArgumentHelper(fills[0]).GetRepeatedArgument<float>("values"),
              ElementsAre(0.5f, 0.25f));
  EXPECT_THAT(ArgumentHelper(fills[1]).GetRepeatedArgument<float>("values"),
              ElementsAre(-5.0f, -5.0f));
}

TEST(InputNetsValuesTest, ChangesImagesAtRandomInTrainingOnly) {
  const InputDef input = Parse("crop: 20 mirror: true");
  for (const bool is_test : {false, true}) {
    const OperatorDef op =
        InputOperators(input, kImages, {.reader = "r", .batch_size = 1, .is_test = is_test})[0];
    EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<int>("mirror", 0), is_test ? 0 : 1);
    EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<int>("is_test", 2), is_test ? 1 : 0);
  }
}

TEST(InputNetsValuesTest, FindsTheLabel) {
  EXPECT_EQ(LabelBlob(Parse("")), "label");
  EXPECT_EQ(LabelBlob(Parse("blob: [\"x\", \"label\", \"z\"]")), "label");
  EXPECT_EQ(LabelBlob(Parse("blob: [\"x\", \"y\"]")), "y");
  EXPECT_EQ(LabelBlob(Parse("blob: \"x\"")), "");
}

TEST(InputNetsErrorTest, NamesWhatDoesNotFit) {
  struct ErrorCase {
    const char* input;
    const DataFacts& facts;
    const char* text;
  };
  const ErrorCase cases[] = {
      {"batch_size: 0", kFloats, "batch_size is 0, want at least 1"},
      {"std: [1, 0]", kPixels, "std contains 0"},
      {"blob: [\"a\", \"b\", \"c\"]", kFloats,
       "have 2 tensors, but the input has 3 blobs: a, b, c"},
      {"", kImages, "are encoded images: set the size of the net's input"},
      {"crop: 8 channels_last: true", kPixels, "channels_last does not apply to images"}};
  for (const ErrorCase& c : cases) {
    try {
      CheckInput(Parse(c.input), c.facts);
      ADD_FAILURE() << c.input;
    } catch (const EnforceNotMet& error) {
      EXPECT_THAT(error.message(), HasSubstr(c.text)) << c.input;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::input_nets_test
