#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::sparse_normalize_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

constexpr char kOp[] = R"(type: "SparseNormalize" input: "P" input: "I" output: "P")";
constexpr char kAll[] = R"(type: "SparseNormalize" input: "P" input: "I" input: "G" output: "P"
                           arg { name: "use_max_norm" i: 0 } arg { name: "norm" f: 2 })";

void FeedRows(Workspace* ws) {
  Feed<float>(ws, "P", {4, 2}, {3, 4, 0.3f, 0.4f, 0, 0, 30, 40});
  Feed<int64_t>(ws, "I", {3}, {0, 2, 1});
  Feed<float>(ws, "G", {1}, {0});
}

TEST(SparseNormalizeTest, ShortensLongRows) {
  Workspace ws;
  FeedRows(&ws);
  ExpectShapeInferred(&ws, kOp);
  ExpectTensor<float>(ws, "P", {4, 2}, {0.6f, 0.8f, 0.3f, 0.4f, 0, 0, 30, 40}, 1e-6);
}

TEST(SparseNormalizeTest, ScalesAllRowsWithoutUseMaxNorm) {
  Workspace ws;
  FeedRows(&ws);
  Feed<int32_t>(&ws, "I", {3}, {0, 2, 1});
  RunOp(&ws, kAll);
  ExpectTensor<float>(ws, "P", {4, 2}, {1.2f, 1.6f, 1.2f, 1.6f, 0, 0, 30, 40}, 1e-6);
  Feed<int32_t>(&ws, "I", {0}, {});
  RunOp(&ws, kAll);
  ExpectTensor<float>(ws, "P", {4, 2}, {1.2f, 1.6f, 1.2f, 1.6f, 0, 0, 30, 40}, 1e-6);
}

// The factors are rounded to float16 too: 3 * float16(0.6) lies between two numbers, of which the
// even one is 1.80078125.
TEST(SparseNormalizeTest, ScalesRowsOfFloat16) {
  Workspace ws;
  const std::vector<float16> rows = {3.0f, 4.0f, 0.0f, 0.0f, 0.25f, 0.0f};
  Feed<float16>(&ws, "P", {3, 2}, rows);
  Feed<int64_t>(&ws, "I", {3}, {0, 1, 2});
  const std::string text =
      R"(type: "Float16SparseNormalize" input: "P" input: "I" output: "P" arg { name: "norm" f: 3 })";
  ExpectShapeInferred(&ws, text);
  ExpectTensor<float16>(ws, "P", {3, 2}, {1.80078125f, 2.400390625f, 0.0f, 0.0f, 0.25f, 0.0f});
  Feed<float16>(&ws, "P", {3, 2}, rows);
  RunOp(&ws, text + R"( arg { name: "use_max_norm" i: 0 })");
  ExpectTensor<float16>(ws, "P", {3, 2}, {1.80078125f, 2.400390625f, 0.0f, 0.0f, 3.0f, 0.0f});
  Feed<float>(&ws, "P", {1, 2}, {3, 4});
  ExpectThrows([&] { RunOp(&ws, text); }, "float16");
  Feed<float16>(&ws, "P", {2, 1}, {3.0f, 4.0f});
  Feed<int64_t>(&ws, "I", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, text); }, "element 0 of input 1 (indices) is 2, want 0 to 1");
}

TEST(SparseNormalizeTest, HasNoGradientAndNamesWhatDoesNotFit) {
  Workspace ws;
  FeedRows(&ws);
  for (const int64_t index : {-1, 4}) {
    Feed<int64_t>(&ws, "I", {2}, {0, index});
    ExpectThrows([&] { RunOp(&ws, kOp); },
                 "element 1 of input 1 (indices) is " + std::to_string(index) + ", want 0 to 3");
  }
  // Nothing was modified.
  ExpectTensor<float>(ws, "P", {4, 2}, {3, 4, 0.3f, 0.4f, 0, 0, 30, 40});
  for (const char* norm : {"-0.5", "nan"}) {
    const std::string text = std::string(
                                 "type: 'SparseNormalize' input: 'P' input: 'I' output: 'P' "
                                 "arg { name: 'norm' f: ") +
                             norm + " }";
    ExpectThrows([&] { RunOp(&ws, text); }, "argument \"norm\" is");
  }
  Feed<float>(&ws, "I", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 1 (indices)");
  ExpectThrows([&] { RunOp(&ws, R"(type: "SparseNormalize" input: "P" input: "I" output: "Q")"); },
               "must be the same blob");
  ExpectThrows([] { test::DescribeGradient(kOp); }, "SparseNormalize");
}

// Rows of norm 1.5, 2.5 and 0.5.
TEST(SparseNormalizeTest, ScalesRowsAboveTheNormThatIsGiven) {
  const struct {
    const char* norm;
    std::vector<float> want;
  } rows[] = {{"2", {0.9f, 1.2f, 1.2f, 1.6f, 0.3f, 0.4f}},
              {"0.75", {0.45f, 0.6f, 0.45f, 0.6f, 0.3f, 0.4f}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.norm);
    Workspace ws;
    Feed<float>(&ws, "P", {3, 2}, {0.9f, 1.2f, 1.5f, 2, 0.3f, 0.4f});
    Feed<int64_t>(&ws, "I", {3}, {0, 1, 2});
    RunOp(&ws, kOp + (" arg { name: 'norm' f: " + std::string(row.norm) + " }"));
    ExpectTensor<float>(ws, "P", {3, 2}, row.want, 1e-6);
  }
}

}  // namespace
}  // namespace caffe2rt::sparse_normalize_test
