#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_dropout_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXDropout",
     R"()",
     {F32({2, 3}, {-0.78, 2.39, -0.1, 2.94, 0.31, -2.39})},
     {F32({2, 3}, {-0.78, 2.39, -0.1, 2.94, 0.31, -2.39}), Bool({2, 3}, {1, 1, 1, 1, 1, 1})}},
    {"ONNXDropout",
     R"()",
     {F32({2, 3}, {2.93, 1.16, 2.21, 0.76, 2.29, -1.11}), F32({}, {0.75}), Bool({}, {0})},
     {F32({2, 3}, {2.93, 1.16, 2.21, 0.76, 2.29, -1.11}), Bool({2, 3}, {1, 1, 1, 1, 1, 1})}},
    {"ONNXDropout",
     R"()",
     {F64({2, 3}, {2.809999942779541, 2.319999933242798, -1.4500000476837158, 1.5199999809265137,
                   1.7699999809265137, 1.6799999475479126}),
      F32({}, {0}), Bool({}, {1})},
     {F64({2, 3}, {2.809999942779541, 2.319999933242798, -1.4500000476837158, 1.5199999809265137,
                   1.7699999809265137, 1.6799999475479126}),
      Bool({2, 3}, {1, 1, 1, 1, 1, 1})}},
};

TEST(OnnxDropoutTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(OnnxDropoutTest, DropsAboutTheRatio) {
  Workspace ws;
  Feed<float>(&ws, "A", {10000}, std::vector<float>(10000, 1));
  Feed<float>(&ws, "B", {}, {0.25f});
  Feed<bool>(&ws, "C", {}, {true});
  RunOp(&ws, R"(type: "ONNXDropout" input: "A" input: "B" input: "C" output: "Y" output: "M")");
  const std::vector<float> y = Fetch<float>(ws, "Y");
  const std::vector<bool> mask = [&] {
    const std::vector<bool> m = [&] {
      const Tensor& tensor = ws.GetBlob("M")->Get<Tensor>();
      return std::vector<bool>(tensor.data<bool>(), tensor.data<bool>() + tensor.numel());
    }();
    return m;
  }();
  int kept = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_FLOAT_EQ(y[i], mask[i] ? 1 / 0.75f : 0.f);
    kept += mask[i];
  }
  EXPECT_NEAR(kept, 7500, 300);  // seven standard deviations
}

TEST(OnnxDropoutTest, RejectsOtherRatios) {
  ExpectCaseThrows({"ONNXDropout", "", {F32({1}, {1}), F32({}, {1}), Bool({}, {1})}, {F32({}, {})}},
                   "input 1 (ratio) is 1");
  ExpectCaseThrows(
      {"ONNXDropout", "", {F32({1}, {1}), F32({}, {NAN}), Bool({}, {1})}, {F32({}, {})}},
      "input 1 (ratio) is nan");
}

}  // namespace
}  // namespace caffe2rt::onnx_dropout_test
