#include "caffe2_core/graph/stated_inputs.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace caffe2rt::test::stated_inputs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(StatedInputsTest, WritesTypesAndDimsAsArguments) {
  NetDef net;
  StateInput("ids", {TensorProto::INT64, true, {-1, 12}}, &net);
  StateInput("any", {TensorProto::FLOAT, false, {}}, &net);
  StateInput("rate", {TensorProto::INT32, true, {}}, &net);
  StateOutput("y", {1, -1}, &net);
  NetDef want;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(arg { name: "input_type:ids" i: 10 } arg { name: "input_dims:ids" ints: [-1, 12] }
         arg { name: "input_type:any" i: 1 }
         arg { name: "input_type:rate" i: 2 } arg { name: "input_dims:rate" }
         arg { name: "output_dims:y" ints: [1, -1] })",
      &want));
  EXPECT_EQ(net.DebugString(), want.DebugString());
  const std::map<std::string, StatedInput> inputs = StatedInputs(net);
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs.at("ids").type, TensorProto::INT64);
  EXPECT_THAT(inputs.at("ids").dims, ElementsAre(-1, 12));
  EXPECT_FALSE(inputs.at("any").has_dims);
  EXPECT_TRUE(inputs.at("rate").has_dims);
  EXPECT_THAT(inputs.at("rate").dims, IsEmpty());
  EXPECT_THAT(StatedOutputs(net), ElementsAre(Pair("y", ElementsAre(1, -1))));
}

TEST(StatedInputsTest, ArgumentsThatMakeNoSenseHaveNoEffect) {
  NetDef net;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(arg { name: "input_type:a" i: 9999 } arg { name: "input_type:b" i: 4294967297 }
         arg { name: "input_type:c" i: 0 } arg { name: "input_dims:d" ints: 2 }
         arg { name: "input_type:e" i: 1 } arg { name: "input_dims:e" ints: -2 }
         arg { name: "output_dims:f" ints: -7 } arg { name: "other" i: 3 })",
      &net));
  const std::map<std::string, StatedInput> inputs = StatedInputs(net);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_FALSE(inputs.at("e").has_dims);
  EXPECT_THAT(StatedOutputs(net), IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::stated_inputs_test
