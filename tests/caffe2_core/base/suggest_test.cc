#include "caffe2_core/base/suggest.h"

#include <gtest/gtest.h>

namespace caffe2rt {
namespace {

const std::vector<std::string> kKnown = {"Conv", "ConvTranspose", "FC", "MaxPool", "Relu"};

TEST(EditDistanceTest, CountsEditsUpToTheLimit) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3);
  EXPECT_EQ(EditDistance("same", "same", 9), 0);
  EXPECT_EQ(EditDistance("", "abc", 9), 3);
  EXPECT_EQ(EditDistance("abc", "xyz", 1), 2);     // limit + 1
  EXPECT_EQ(EditDistance("a", "abcdefgh", 2), 3);  // limit + 1
}

TEST(NearestNamesTest, FindsTypingErrors) {
  EXPECT_EQ(NearestNames("Convv", kKnown), (std::vector<std::string>{"Conv", "ConvTranspose"}));
  EXPECT_EQ(NearestNames("relu", kKnown), std::vector<std::string>{"Relu"});
  EXPECT_EQ(NearestNames("Maxpol", kKnown), std::vector<std::string>{"MaxPool"});
}

TEST(NearestNamesTest, FindsNamesThatHoldTheWord) {
  EXPECT_EQ(NearestNames("pool", kKnown), std::vector<std::string>{"MaxPool"});
}

TEST(NearestNamesTest, FindsNothingFarAway) {
  EXPECT_TRUE(NearestNames("Quaternion", kKnown).empty());
  EXPECT_TRUE(NearestNames("", kKnown).empty());
  EXPECT_TRUE(NearestNames(std::string(100000, 'x'), kKnown).empty());
}

TEST(NearestNamesTest, GivesAtMostAsManyAsAsked) {
  EXPECT_EQ(NearestNames("Conv", kKnown, 1), std::vector<std::string>{"Conv"});
}

}  // namespace
}  // namespace caffe2rt
