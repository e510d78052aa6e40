#include "caffe2_core/base/suggest.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace caffe2rt::suggest_test {
namespace {

const std::vector<std::string> kKnown = {"Conv", "ConvTranspose", "FC", "MaxPool", "Relu"};

TEST(EditDistanceTest, CountsEditsUpToTheLimit) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3);
  EXPECT_EQ(EditDistance("same", "same", 9), 0);
  EXPECT_EQ(EditDistance("", "abc", 9), 3);
  EXPECT_EQ(EditDistance("abc", "xyz", 1), 2);     // limit + 1
  EXPECT_EQ(EditDistance("a", "abcdefgh", 2), 3);  // limit + 1
}

TEST(EditDistanceTest, CountsTransposedLettersAsOneEdit) {
  EXPECT_EQ(EditDistance("Rleu", "Relu", 9), 1);
  EXPECT_EQ(EditDistance("ab", "ba", 1), 1);
  EXPECT_EQ(EditDistance("Sofmtax", "Softmax", 1), 1);
  EXPECT_EQ(EditDistance("abcd", "badc", 9), 2);
  EXPECT_EQ(EditDistance("ca", "abc", 9), 3);  // transposed letters are not edited again
}

// The algorithm of Wagner and Fischer (1974) with transpositions, without a bound.
int FullDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
      } else {
        d[i][j] =
            std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistanceTest, EqualsTheFullDistanceBelowEveryLimit) {
  std::vector<std::string> words = {""};
  for (size_t i = 0; i < 40; ++i) words.push_back(words[i] + 'a');  // a, aa, ...
  words.resize(6);
  for (const char* word : {"abcab", "bcabc", "cab", "aabbcc", "abccba", "bbbbbbb", "cacaca"}) {
    words.emplace_back(word);
  }
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      for (int limit = 0; limit <= 8; ++limit) {
        ASSERT_EQ(EditDistance(a, b, limit), std::min(FullDistance(a, b), limit + 1))
            << a << " " << b << " " << limit;
      }
    }
  }
}

TEST(NearestNamesTest, EndsWhenItsWorkIsUsedUp) {
  // There are 1000 names of 100 characters. A full search compares 100 x 67 characters for each
  // name.
  const std::vector<std::string> many(1000, std::string(100, 'x'));
  const std::string wanted(100, 'y');
  int64_t left = 100000;
  EXPECT_TRUE(NearestNames(wanted, many, 3, &left).empty());
  EXPECT_LE(left, 0);
  EXPECT_GT(left, -10000);  // at most one name more than allowed
  EXPECT_TRUE(NearestNames("Convv", kKnown, 3, &left).empty());
  left = 10000;
  EXPECT_EQ(NearestNames("Convv", kKnown, 3, &left).size(), 2u);
  EXPECT_GT(left, 9000);
  EXPECT_LT(left, 10000);
}

TEST(NearestNamesTest, SkipsOverlongNames) {
  const std::vector<std::string> huge(1000, std::string(1 << 20, 'a'));
  int64_t left = 2000;
  EXPECT_TRUE(NearestNames(std::string(1 << 20, 'a'), huge, 3, &left).empty());
  EXPECT_EQ(left, 1000);
}

TEST(NearestNamesTest, FindsTypingErrors) {
  EXPECT_EQ(NearestNames("Convv", kKnown), (std::vector<std::string>{"Conv", "ConvTranspose"}));
  EXPECT_EQ(NearestNames("relu", kKnown), std::vector<std::string>{"Relu"});
  EXPECT_EQ(NearestNames("Maxpol", kKnown), std::vector<std::string>{"MaxPool"});
  EXPECT_EQ(NearestNames("Rleu", kKnown), std::vector<std::string>{"Relu"});
  EXPECT_EQ(NearestNames("CF", kKnown), std::vector<std::string>{"FC"});
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

TEST(NearestNamesTest, RanksByDistanceAndKeepsTheOrderOfEqualOnes) {
  const std::vector<std::string> known = {"Bolt", "Colt", "Cola", "Colts", "Xyz"};
  EXPECT_EQ(NearestNames("Colt", known, 9),
            (std::vector<std::string>{"Colt", "Bolt", "Cola", "Colts"}));
  EXPECT_EQ(NearestNames("Colt", known, 2), (std::vector<std::string>{"Colt", "Bolt"}));
  EXPECT_TRUE(NearestNames("Colt", known, 0).empty());
}

TEST(NearestNamesTest, FindsNamesThatBeginTheWordOrAlmostDo) {
  EXPECT_EQ(NearestNames("ReluGradientOp", kKnown), std::vector<std::string>{"Relu"});
  EXPECT_TRUE(NearestNames("MyRelu123456", kKnown).empty()) << "it only ends or holds it";
  EXPECT_TRUE(NearestNames("FCTransposedX", kKnown).empty()) << "two letters are too few";
  // Three quarters of the word are the beginning of the name.
  EXPECT_EQ(NearestNames("MaxPooler", {"MaxPool3dWithIndex"}),
            std::vector<std::string>{"MaxPool3dWithIndex"});
  EXPECT_TRUE(NearestNames("MaxOften", {"MaxPool3dWithIndex"}).empty());
}

TEST(NearestNamesTest, ALongNameIsNearIfThreeQuartersOfItsBeginningAreCommon) {
  using Names = std::vector<std::string>;
  const std::string rest = "_of_something_else";
  EXPECT_EQ(NearestNames("abcdefgh", {"abcdef" + rest}), (Names{"abcdef" + rest}));
  EXPECT_EQ(NearestNames("abcdefgh", {"abcde" + rest}), Names());
  EXPECT_EQ(NearestNames("abcde", {"abcd" + rest}), (Names{"abcd" + rest}));
  EXPECT_EQ(NearestNames("abcd", {"abc" + rest}), Names());  // fewer than four
  EXPECT_EQ(NearestNames("convolution", {"convol" + rest}), Names());
  EXPECT_EQ(NearestNames("convolution", {"convoluti" + rest}), (Names{"convoluti" + rest}));
}

TEST(NearestNamesTest, NamesAsNearKeepTheirOrder) {
  const std::vector<std::string> known = {"abcf", "abcz", "abce", "xbcd", "abcd", "abca"};
  EXPECT_EQ(NearestNames("abcd", known, 9),
            (std::vector<std::string>{"abcd", "abcf", "abcz", "abce", "xbcd", "abca"}));
}

TEST(NearestNamesTest, NamesUpToAKilobyteAreCompared) {
  for (const size_t size : {size_t{1023}, size_t{1024}, size_t{1025}}) {
    const std::string name = "abc" + std::string(size - 3, 'x');
    EXPECT_EQ(NearestNames("abc", {name}).size(), size <= 1024 ? 1u : 0u) << size;
  }
}

}  // namespace
}  // namespace caffe2rt::suggest_test
