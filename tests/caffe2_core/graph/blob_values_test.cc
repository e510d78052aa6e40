#include "caffe2_core/graph/blob_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::blob_values_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> KeysOf(const std::string& net) {
  std::vector<std::string> keys;
  for (const BlobValue& value : ListBlobValues(ParseNet(net))) keys.push_back(value.key);
  return keys;
}

TEST(BlobValuesTest, ListsInputsAndEachWriteOfABlob) {
  const std::vector<BlobValue> values = ListBlobValues(ParseNet(R"(
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
      op { type: "Relu" input: "y" output: "y" }
      op { type: "Exp" input: "y" output: "z" })"));
  std::vector<std::string> titles;
  for (const BlobValue& value : values) titles.push_back(value.Title());
  EXPECT_THAT(titles, ElementsAre("x", "w", "b", "y after operator 0", "y after operator 1", "z"));
  EXPECT_EQ(values[3].from_last, 1);
  EXPECT_FALSE(values[3].stays);
  EXPECT_EQ(values[4].key, "y");
  EXPECT_EQ(values[4].position, 1);
  EXPECT_TRUE(values[4].stays);
}

TEST(BlobValuesTest, NamesTheValueOfAnInputThatTheNetOverwrites) {
  EXPECT_THAT(KeysOf(R"(op { type: "Relu" input: "x" output: "x" })"),
              ElementsAre("x before the run", "x"));
}

TEST(BlobValuesTest, MakesKeysUnique) {
  EXPECT_THAT(KeysOf(R"(
      op { type: "Exp" input: "x after operator 1" output: "y" }
      op { type: "Exp" input: "y" output: "x" }
      op { type: "Relu" input: "x" output: "x" })"),
              ElementsAre("x after operator 1", "y", "x after operator 1_", "x"));
}

// An operator that writes a blob twice makes two values of the same title.
TEST(BlobValuesTest, MakesKeysOfOneOperatorUnique) {
  EXPECT_THAT(KeysOf(R"(
      op { type: "Split" input: "a" output: "x" output: "x" output: "x" }
      op { type: "Exp" input: "x" output: "x after operator 0_" }
      op { type: "Relu" input: "x" output: "x" })"),
              ElementsAre("a", "x after operator 0", "x after operator 0__",
                          "x after operator 0___", "x after operator 0_", "x"));
}

TEST(BlobValuesTest, KnowsThatAnAliasMayChangeABlob) {
  const std::vector<BlobValue> values = ListBlobValues(ParseNet(R"(
      op { type: "Exp" input: "x" output: "y" }
      op { type: "Alias" input: "y" output: "z" }
      op { type: "Relu" input: "z" output: "z" })"));
  ASSERT_EQ(values[1].key, "y");
  EXPECT_FALSE(values[1].stays);
}

}  // namespace
}  // namespace caffe2rt::test::blob_values_test
