#include "tests/support/operator_test.h"

namespace caffe2rt::test::ensure_clipped_test {
namespace {

const std::string kLimits = R"( arg { name: "min" f: -1 } arg { name: "max" f: 2 })";
const std::string kAll = R"(type: "EnsureClipped" input: "P" output: "Q")" + kLimits;
const std::string kRows =
    R"(type: "EnsureClipped" input: "P" input: "I" input: "G" output: "P")" + kLimits;

TEST(EnsureClippedTest, LimitsEveryElement) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {-3, 1, 9, 2});
  RunOp(&ws, kAll);
  ExpectTensor<float>(ws, "Q", {2, 2}, {-1, 1, 2, 2});
  ExpectTensor<float>(ws, "P", {2, 2}, {-3, 1, 9, 2});
  ExpectShapeInferred(&ws, kAll);
  // Without limits, nothing changes.
  RunOp(&ws, R"(type: "EnsureClipped" input: "P" output: "P")");
  ExpectTensor<float>(ws, "P", {2, 2}, {-3, 1, 9, 2});
  Feed<float>(&ws, "P", {0, 3}, {});
  RunOp(&ws, kAll);
  ExpectTensor<float>(ws, "Q", {0, 3}, {});
}

TEST(EnsureClippedTest, LimitsTheRowsThatWereUpdated) {
  Workspace ws;
  Feed<float>(&ws, "P", {3, 2}, {-3, 1, 9, 9, 8, -8});
  Feed<float>(&ws, "G", {2, 2}, {0, 0, 0, 0});
  Feed<int64_t>(&ws, "I", {2}, {2, 0});
  RunOp(&ws, kRows);
  ExpectTensor<float>(ws, "P", {3, 2}, {-1, 1, 9, 9, 2, -1});
  Feed<int32_t>(&ws, "I", {1, 1}, {1});
  Feed<float>(&ws, "G", {1, 1, 2}, {0, 0});
  RunOp(&ws, kRows);
  ExpectTensor<float>(ws, "P", {3, 2}, {-1, 1, 2, 2, 2, -1});
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "G", {0, 2}, {});
  RunOp(&ws, kRows);
  ExpectTensor<float>(ws, "P", {3, 2}, {-1, 1, 2, 2, 2, -1});
}

TEST(EnsureClippedTest, CopiesTheOtherRowsUnlessInPlace) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {-3, 1, 9, 9});
  Feed<float>(&ws, "G", {1, 2}, {0, 0});
  Feed<int64_t>(&ws, "I", {1}, {0});
  const std::string op =
      R"(type: "EnsureClipped" input: "P" input: "I" input: "G" output: "Q")" + kLimits;
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Q", {2, 2}, {-1, 1, 9, 9});
  ExpectTensor<float>(ws, "P", {2, 2}, {-3, 1, 9, 9});
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "G", {0, 2}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Q", {2, 2}, {-3, 1, 9, 9});
}

TEST(EnsureClippedTest, RejectsRowsAndTypesThatDoNotFit) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {0, 0, 0, 0});
  Feed<int32_t>(&ws, "I", {1}, {2});
  Feed<float>(&ws, "G", {1, 2}, {0, 0});
  const auto rejects = [&](const std::string& op, const char* part) {
    ExpectThrows([&] { RunOp(&ws, op); }, part);
  };
  rejects(kRows, "index 2 at position 0 is out of range, want at least 0 and below 2");
  rejects(R"(type: "EnsureClipped" input: "P" input: "I" output: "P")",
          "the operator has 2 inputs");
  Feed<float>(&ws, "G", {1, 3}, {0, 0, 0});
  rejects(kRows, "elements in a row of input 2 (grad), want those in a row of input 0 (param)");
  Feed<float>(&ws, "I", {1}, {0});
  Feed<float>(&ws, "G", {1, 2}, {0, 0});
  rejects(kRows, "input 1 (indices)");
  FeedRange<int32_t>(&ws, "P", {2, 2});
  rejects(kAll, "int");
}

}  // namespace
}  // namespace caffe2rt::test::ensure_clipped_test
