// What the inputs of operators may be: the table of the built-in operators, and its text.
#include "caffe2_core/graph/accepted_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caffe2rt::test::accepted_inputs_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(AcceptedInputsTest, DescribeTheInputsOfBuiltinOperators) {
  // One to three spatial axes besides the batch and the channels.
  const auto conv = FindAcceptedInput("Conv", 0);
  ASSERT_TRUE(conv.has_value());
  EXPECT_THAT(conv->types, ElementsAre(TensorProto::FLOAT));
  EXPECT_THAT(conv->ranks, ElementsAre(3, 4, 5));
  const auto indices = FindAcceptedInput("Gather", 1);
  ASSERT_TRUE(indices.has_value());
  EXPECT_THAT(indices->types, ElementsAre(TensorProto::INT32, TensorProto::INT64));
  const auto condition = FindAcceptedInput("If", 0);
  ASSERT_TRUE(condition.has_value());
  EXPECT_THAT(condition->types, ElementsAre(TensorProto::BOOL));
  // Both inputs of a sum change their type together.
  const auto sum = FindAcceptedInput("Add", 1);
  ASSERT_TRUE(sum.has_value());
  EXPECT_THAT(sum->types, Contains(TensorProto::INT64));
  EXPECT_THAT(sum->types, Not(Contains(TensorProto::STRING)));
}

TEST(AcceptedInputsTest, KnowNothingOfOtherInputs) {
  EXPECT_FALSE(FindAcceptedInput("Conv", 3).has_value());
  EXPECT_FALSE(FindAcceptedInput("NoSuchOperator", 0).has_value());
}

TEST(AcceptedInputsTest, AreWrittenForPeopleAndForTheTable) {
  struct Row {
    std::vector<int> ranks;
    const char* text;
  };
  for (const Row& row : std::vector<Row>{{{4}, "rank 4"},
                                         {{1, 2}, "rank 1 or 2"},
                                         {{1, 2, 3}, "rank 1 to 3"},
                                         {{0, 2, 4, 5, 6}, "rank 0, 2 or 4 and more"},
                                         {{0, 1, 2, 3, 4, 5, 6}, "any rank"}}) {
    EXPECT_EQ(RanksText({{}, row.ranks}), row.text);
  }
  EXPECT_EQ(TypesText({{TensorProto::FLOAT, TensorProto::INT64}, {}}), "float, int64");
  EXPECT_EQ(TypesText({TriedTypes(), {}}), "any type");
  EXPECT_EQ(AcceptedInputRow("Sum", 1, {{TensorProto::FLOAT, TensorProto::DOUBLE}, {0, 2}}),
            "Sum\t1\tfloat,double\t02");
}

}  // namespace
}  // namespace caffe2rt::test::accepted_inputs_test
