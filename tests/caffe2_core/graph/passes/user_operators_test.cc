#include "caffe2_core/graph/passes/user_operators.h"

#include "caffe2_core/graph/arguments.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::user_operators_test {
namespace {

std::vector<std::string> MarksOf(const OperatorDef& op) {
  std::vector<std::string> marks;
  for (const UserOperator& user : UserOperatorsOf(op)) {
    marks.push_back(std::to_string(user.position) + " " + user.text);
  }
  return marks;
}

TEST(UserOperatorsTest, AreMarkedMergedAndRemovedIfNeedless) {
  NetDef net = test::ParseNet(R"(op { type: "Conv" name: "c 1" } op { type: "Relu" }
                                 op { type: "Sum" })");
  MarkUserOperators(&net);
  EXPECT_THAT(MarksOf(net.op(0)), testing::ElementsAre("0 Conv \"c 1\""));
  AddUserOperators(net.op(0), net.mutable_op(1));
  AddUserOperators(net.op(0), net.mutable_op(1));
  EXPECT_THAT(MarksOf(net.op(1)), testing::ElementsAre("0 Conv \"c 1\"", "1 Relu"));
  net.mutable_op()->DeleteSubrange(0, 1);
  MarkUserOperators(&net);  // keeps the marks
  RemoveNeedlessMarks(&net);
  EXPECT_THAT(MarksOf(net.op(0)), testing::ElementsAre("0 Conv \"c 1\"", "1 Relu"));
  EXPECT_THAT(MarksOf(net.op(1)), testing::ElementsAre("2 Sum"));
  net.mutable_op()->SwapElements(0, 1);
  NetDef same = test::ParseNet(R"(op { type: "Sum" })");
  MarkUserOperators(&same);
  RemoveNeedlessMarks(&same);
  EXPECT_EQ(same.op(0).arg_size(), 0);
}

// A mark is needless if it is the only one, and that of the operator at its place.
TEST(UserOperatorsTest, SeveralMarksAreNeededAlthoughTheFirstIsTheOperatorsOwn) {
  NetDef net = test::ParseNet(R"(op { type: "Conv" } op { type: "Relu" })");
  MarkUserOperators(&net);
  AddUserOperators(net.op(1), net.mutable_op(0));
  EXPECT_THAT(MarksOf(net.op(0)), testing::ElementsAre("0 Conv", "1 Relu"));
  RemoveNeedlessMarks(&net);
  EXPECT_THAT(MarksOf(net.op(0)), testing::ElementsAre("0 Conv", "1 Relu"));
  EXPECT_EQ(net.op(1).arg_size(), 0);
}

TEST(UserOperatorsTest, AreEmptyForADamagedList) {
  for (const char* mark : {"", "Relu", "-1 Relu", "x Relu", "99999999999 Relu"}) {
    OperatorDef op;
    GetMutableArgument(kUserOperators, true, &op)->add_strings(mark);
    EXPECT_TRUE(UserOperatorsOf(op).empty()) << mark;
  }
}

}  // namespace
}  // namespace caffe2rt::user_operators_test
