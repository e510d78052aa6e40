// Tests that the helpers of operator tests report failures.
#include "tests/support/operator_test.h"

#include <gtest/gtest-spi.h>

#include <filesystem>
#include <limits>

#include "tests/support/shared.h"

namespace caffe2rt::test::operator_test_test {
namespace {

TEST(FeedTest, MakesATensorOfThatTypeAndShape) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2, 1}, {3, 4});
  ExpectTensor<int64_t>(ws, "X", {2, 1}, {3, 4});
  EXPECT_THROW(Feed<float>(&ws, "Y", {3}, {1, 2}), EnforceNotMet);
}

TEST(ExpectTensorTest, ReportsWhatDiffers) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  ExpectTensor<float>(ws, "X", {2}, {1, 2.1f}, 0.1);
  static Workspace* shared = &ws;
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {2}, {1, 3}), "element 1 is 2, want 3");
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {1, 2}, {1, 2}), "tensor.dims()");
  EXPECT_FATAL_FAILURE(ExpectTensor<int>(*shared, "X", {2}, {1, 2}), "elements are float");
  EXPECT_FATAL_FAILURE(ExpectTensor<float>(*shared, "no", {2}, {1, 2}), "not in the workspace");
}

TEST(ExpectTensorTest, AcceptsOnlyInfinityWhereItIsExpected) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, kInfinity});
  ExpectTensor<float>(ws, "X", {2}, {1, kInfinity}, 0.1);
  static Workspace* shared = &ws;
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {2}, {kInfinity, kInfinity}, 0.1),
                          "element 0 is 1, want inf");
}

TEST(ExpectThrowsTest, ChecksTheTextAndTheType) {
  ExpectThrows([] { CAFFE_THROW("argument group is 0"); }, "group is 0");
  EXPECT_NONFATAL_FAILURE(ExpectThrows([] {}, "any"), "nothing was thrown");
  EXPECT_NONFATAL_FAILURE(ExpectThrows([] { CAFFE_THROW("a"); }, "b"), "has substring \"b\"");
}

TEST(ParseNetTest, RejectsTextThatDoesNotParse) {
  EXPECT_EQ(ParseNet("name: \"n\" op { type: \"Relu\" }").op(0).type(), "Relu");
  EXPECT_THROW(ParseNet("nam: 1"), EnforceNotMet);
}

TEST(TempDirTest, GoesWithItsContent) {
  std::string path;
  {
    TempDir dir;
    path = dir.path();
    EXPECT_TRUE(std::filesystem::exists(dir.Write("a/b.txt", "text")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SharedPathTest, FollowsTheEnvironment) {
  ASSERT_EQ(setenv("CAFFE2_TEST_SHARED", "/elsewhere", 1), 0);
  EXPECT_EQ(SharedPath("models"), "/elsewhere/models");
  unsetenv("CAFFE2_TEST_SHARED");
  EXPECT_THAT(SharedPath("models"), testing::EndsWith("/../shared/models"));
  EXPECT_TRUE(std::filesystem::exists(SourcePath("CMakeLists.txt")));
}

}  // namespace
}  // namespace caffe2rt::test::operator_test_test
