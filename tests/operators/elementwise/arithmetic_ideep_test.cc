#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::arithmetic_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnArithmeticTest : public OnednnTest {
 protected:
  void ExpectAllTypes(const std::string& rest, const std::string& output = "Y") {
    for (const char* type : {"Add", "Sub", "Mul"}) {
      if (output == "X") FeedImage("X");
      ExpectSameAsCpu(std::string("type: \"") + type + rest, 0, output);
    }
  }
};

TEST_P(OnednnArithmeticTest, CombinesImagesInAnyTwoLayouts) {
  FeedImage("X");
  for (const char* layout : {"nchw", "nhwc", "nChw16c"}) {
    FeedImage("Z", dims(), layout, 5);
    ExpectAllTypes(R"(" input: "X" input: "Z" output: "Y")");
    ExpectAllTypes(R"(" input: "X" input: "Z" output: "X")", "X");
  }
}

TEST_P(OnednnArithmeticTest, BroadcastsOneValueForEachChannel) {
  FeedImage("X");
  const int64_t channels = GetParam().channels, batch = GetParam().batch;
  FeedWeights("W", {channels});
  ExpectAllTypes(R"(" input: "X" input: "W" output: "Y" arg { name: "broadcast" i: 1 }
                     arg { name: "axis" i: 1 })");
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{channels, 1, 1}, {1, channels, 1, 1}, {1}, {1, 1}}) {
    FeedWeights("W", dims);
    ExpectAllTypes(R"(" input: "X" input: "W" output: "Y")");
    ExpectAllTypes(R"(" input: "X" input: "W" output: "X")", "X");
  }
  FeedImage("W", {batch, channels, 1, 1}, "nchw", 4);  // values for each image
  ExpectAllTypes(R"(" input: "X" input: "W" output: "Y")");
  FeedImage("W", {batch, channels, 1, 1}, "nChw16c", 4);
  ExpectAllTypes(R"(" input: "X" input: "W" output: "Y")");
}

TEST_P(OnednnArithmeticTest, BroadcastsOtherShapes) {
  FeedImage("X");
  FeedWeights("W", {GetParam().width});
  ExpectAllTypes(R"(" input: "X" input: "W" output: "Y")");
  FeedWeights("W", {GetParam().height, 1});
  ExpectAllTypes(R"(" input: "X" input: "W" output: "Y")");
  ExpectAllTypes(R"(" input: "X" input: "W" output: "X")", "X");
}

// The axis decides, also where other axes have the size of the operand.
TEST_P(OnednnArithmeticTest, BroadcastsAlongTheAxisOfTheArgument) {
  // Of a case, only the layout counts here: one case of each is enough.
  if (GetParam().channels != 16) return;
  FeedImage("X", {5, 5, 5, 5}, GetParam().layout);
  FeedWeights("W", {5});
  for (const int axis : {0, 1, 2, 3, -1}) {
    ExpectAllTypes(MakeString(R"(" input: "X" input: "W" output: "Y" arg { name: "broadcast" i: 1 }
                                 arg { name: "axis" i: )",
                              axis, " }"));
  }
  FeedWeights("W", {5, 5});
  for (const int axis : {0, 1, 2}) {
    ExpectAllTypes(MakeString(R"(" input: "X" input: "W" output: "Y" arg { name: "broadcast" i: 1 }
                                 arg { name: "axis" i: )",
                              axis, " }"));
  }
}

TEST_P(OnednnArithmeticTest, RejectsShapesThatDoNotFit) {
  FeedImage("X");
  const std::string add = R"(type: "Add" input: "X" input: "W" output: "Y")";
  FeedWeights("W", {GetParam().channels + 2, 1, 1});
  EXPECT_THROW(RunOnednn(add), EnforceNotMet);
  FeedWeights("W", {GetParam().width + 2});
  if (GetParam().width > 1) {
    EXPECT_THROW(RunOnednn(add), EnforceNotMet);
  } else {
    ExpectSameAsCpu(add);  // X is repeated along its width
  }
}

// One operator whose operand B changes from run to run while X stays: no plan of an earlier B remains.
TEST_P(OnednnArithmeticTest, FollowsTheShapeOfTheOperandOfEachRun) {
  const OnednnCase& c = GetParam();
  if (c.threads > 1) return;  // the plan does not depend on them
  const std::vector<std::vector<int64_t>> shapes = {{c.channels, 1, 1},
                                                    {c.batch, c.channels, 1, 1},
                                                    {1},
                                                    {c.width},
                                                    {c.channels, 1, 1},
                                                    {c.height, 1},
                                                    {c.batch, 1, 1, 1},
                                                    {1, c.channels, 1, 1},
                                                    {c.channels, c.height, c.width},
                                                    {c.batch, c.channels, c.height, c.width},
                                                    {c.batch, c.channels, 1, 1}};
  FeedImage("X");
  for (const std::string type : {"Add", "Sub", "Mul"}) {
    SCOPED_TRACE(type);
    const std::string text = "type: '" + type + "' input: 'X' input: 'W' output: 'Y'";
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(IDEEP);
    FeedWeights("W", shapes[0]);
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &onednn_);
    uint32_t seed = 3;
    for (const std::vector<int64_t>& dims : shapes) {
      SCOPED_TRACE(testing::PrintToString(dims));
      FeedWeights("W", dims, -1, 1, ++seed);
      RunOp(&cpu_, text);
      ASSERT_TRUE(op->Run());
      ExpectSame("Y", 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnArithmeticTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::arithmetic_ideep_test
