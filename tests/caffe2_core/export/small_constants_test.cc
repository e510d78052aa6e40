// Constants that look alike in text, lists of one number, and numbers below the usual ones.
#include <gtest/gtest.h>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"

namespace caffe2rt::test::small_constants_test {
namespace {

using namespace operator_text;  // used throughout this file

std::string TextOf(const ExportedNet& net) { return GraphText(Export(net)); }

TEST(SmallConstantsTest, ListsOfTheSameDigitsAreOthers) {
  EXPECT_EQ(TextOf({Op("Tile", I("axis", 1) + I("tiles", 11), "x", "a") +
                        Op("Tile", I("axis", 0) + I("tiles", 11), "x", "y"),
                    {{"x", {{2, 3}}}}}),
            "a = Tile(x, [1, 11])\ny = Tile(x, [11, 1])\n");
}

TEST(SmallConstantsTest, SmallEpsilonsStay) {
  const std::map<std::string, Tensor> weights = {{"s", FloatWeight({4})}, {"b", FloatWeight({4})}};
  EXPECT_EQ(
      TextOf({Op("InstanceNorm", F("epsilon", 1e-7f), "x s b"), {{"x", {{1, 4, 2}}}}, weights}),
      "y = InstanceNormalization(x, s, b) epsilon=1e-07\n");
}

// The one group has a list of one scale and one bias.
TEST(SmallConstantsTest, ListsOfOneFloatAreLists) {
  const OnnxExport exported = Export({Op("GroupNorm", I("group", 1), "x s b", "y m v"),
                                      {{"x", {{1, 4, 2, 2}}}},
                                      {{"s", FloatWeight({4})}, {"b", FloatWeight({4})}}});
  int lists = 0;
  for (const onnx::TensorProto& tensor : exported.model.graph().initializer()) {
    if (tensor.float_data_size() != 1) continue;
    EXPECT_EQ(tensor.dims_size(), 1);
    ++lists;
  }
  EXPECT_EQ(lists, 2);
}

TEST(SmallConstantsTest, EmptyTextsAreTexts) {
  const OnnxExport exported =
      Export({Op("TfIdfVectorizer", S("mode", "")), {{"x", {{4}, TensorProto::INT64}}}, {}, {}});
  const onnx::NodeProto& node = exported.model.graph().node(0);
  ASSERT_EQ(node.attribute_size(), 1);
  EXPECT_EQ(node.attribute(0).type(), onnx::AttributeProto::STRING);
}

}  // namespace
}  // namespace caffe2rt::test::small_constants_test
