#include <fstream>

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::summarize_test {
namespace {

const std::string kOp = R"(type: "Summarize" input: "X" output: "Y")";
const std::string kToFile = R"( arg { name: "to_file" i: 1 })";

TEST(SummarizeTest, ComputesLeastLargestMeanAndDeviation) {
  Workspace ws;
  // The squared distances from the mean 5 add up to 32.
  Feed<float>(&ws, "X", {2, 4}, {2, 4, 4, 4, 5, 5, 7, 9});
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "Y", {4}, {2, 9, 5, std::sqrt(32.0f / 7)}, 1e-6);
  ExpectShapeInferred(&ws, kOp);
  Feed<float>(&ws, "X", {}, {-3});
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "Y", {4}, {-3, -3, -3, 0});
  // 0, 1, ..., 9999 far from 0: n (n + 1) / 12 is the squared deviation.
  FeedRange<float>(&ws, "X", {10000}, 1e6);
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "Y", {4}, {1e6f, 1009999, 1004999.5f, std::sqrt(1e4f * 10001 / 12)},
                      1e-6);
}

TEST(SummarizeTest, NeedsElementsOfFloat) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2}, {});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "elements of input 0 (data) of shape [0, 2]");
  FeedRange<double>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "double");
  ExpectThrows([] { DescribeGradient(kOp); }, "One should not call gradient");
}

TEST(SummarizeTest, WritesTheNumbersToAFileAndToItsOutput) {
  const TempDir folder;
  Workspace ws(folder.path());
  Feed<float>(&ws, "X", {3}, {1, 3, 5});
  NetBase* const net = ws.CreateNet(ParseNet("name: 'n' op { " + kOp + kToFile + " }"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {4}, {1, 5, 3, 2});
  Feed<float>(&ws, "X", {1}, {7});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {4}, {7, 7, 7, 0});
  std::ifstream file(folder.path("X.summary"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "1 5 3 2\n7 7 7 0\n");
}

TEST(SummarizeTest, AppendsALineToAFileOfTheRootFolder) {
  const TempDir folder;
  Workspace ws(folder.path());
  ws.CreateBlob("a/b")->GetMutableTensor(CPU);
  NetDef def = ParseNet(R"(name: "n" op { type: "Summarize" input: "a/b")" + kToFile + " }");
  ws.CreateNet(def);
  Feed<float>(&ws, "a/b", {2}, {1, 2.5f});
  ASSERT_TRUE(ws.RunNet("n"));
  Feed<float>(&ws, "a/b", {1}, {-1e10f});
  ASSERT_TRUE(ws.RunNet("n"));
  std::ifstream file(folder.path("a%2Fb.summary"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "1 2.5 1.75 1.06066\n-1e+10 -1e+10 -1e+10 0\n");
  ws.SetFileAccess(FileAccess::Off());
  ExpectThrows([&] { RunOp(&ws, R"(type: "Summarize" input: "a/b")" + kToFile); },
               "a net may not write");
}

}  // namespace
}  // namespace caffe2rt::test::summarize_test
