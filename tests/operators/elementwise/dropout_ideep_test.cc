#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::dropout_ideep_test {
namespace {

using namespace test;  // used throughout this file

constexpr char kIdeepDropout[] = R"(type: "Dropout" input: "X" output: "Y" output: "mask"
                                    device_option { device_type: 5 } )";

std::string RatioArgument(float ratio) {
  return MakeString("arg { name: \"ratio\" f: ", ratio, " } ");
}

// Any is_test but 0 means yes.
TEST(OnednnDropoutTest, PassesTheInputOnInTestMode) {
  for (const int yes : {1, 2, -1}) {
    Workspace ws;
    Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
    std::fill_n(PrepareOutput(x, {1, 2, 1, 2}, nullptr), 4, 3.0f);
    const std::string test = MakeString("arg { name: \"is_test\" i: ", yes, " }");
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kIdeepDropout + test)));
    EXPECT_EQ(OnednnData(ws.GetBlob("Y")->Get<Tensor>())[3], 3.0f);
    Feed<float>(&ws, "x", {2}, {1, 2});
    RunOp(&ws, "type: 'Dropout' input: 'x' output: 'y' output: 'm' " + test);
    ExpectTensor<float>(ws, "y", {2}, {1, 2});
    RunOp(&ws, "type: 'DropoutGrad' input: 'x' output: 'd' " + test);
    ExpectTensor<float>(ws, "d", {2}, {1, 2});
  }
}

// The ratio has no effect in test mode, but is checked as on the CPU.
TEST(OnednnDropoutTest, ChecksItsArguments) {
  const std::string tests = R"(arg { name: "is_test" i: 1 } )";
  Workspace ws;
  Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
  std::fill_n(PrepareOutput(x, {1, 2, 1, 2}, nullptr), 4, 3.0f);
  for (const float ratio : {-0.25f, 1.0f, 2.0f}) {
    ExpectThrows([&] { ws.RunOperatorOnce(ParseOp(kIdeepDropout + tests + RatioArgument(ratio))); },
                 MakeString("argument \"ratio\" is ", ratio, ", want at least 0 and below 1"));
  }
  for (const float ratio : {0.0f, 0.5f, 0.75f}) {
    EXPECT_TRUE(ws.RunOperatorOnce(ParseOp(kIdeepDropout + tests + RatioArgument(ratio))));
    EXPECT_EQ(OnednnData(ws.GetBlob("Y")->Get<Tensor>())[3], 3.0f);
  }
  ExpectThrows(
      [&] {
        ws.RunOperatorOnce(ParseOp(kIdeepDropout + std::string("arg { name: 'is_test' i: 0 }")));
      },
      "argument is_test is 0, want 1: IDEEP is for inference");
}

}  // namespace
}  // namespace caffe2rt::dropout_ideep_test
