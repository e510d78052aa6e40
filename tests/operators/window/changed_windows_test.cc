// Operators with windows on inputs that change from run to run: as many elements in another shape, other numbers of
// axes, other filters. Each run gives what a new operator gives.
#include <gtest/gtest.h>

#include "tests/operators/common/changed_runs.h"

namespace caffe2rt::test::changed_windows_test {
namespace {

TEST(ChangedWindowsTest, Pools) {
  for (const std::string args :
       {"kernel_shape=2,3", "kernel_shape=2,2 strides=2,1 pads=1,0,1,1 ceil_mode=1",
        "kernel_shape=2,2 dilations=2,1 auto_pad=SAME_LOWER"}) {
    const std::vector<std::string> images = {"X f 2,3,4,6", "X f 2,3,6,4", "X f 3,2,4,6",
                                             "X d 1,1,3,5", "X f 0,3,4,6"};
    ExpectRunsAsNew({{"ONNXMaxPool X -> Y I " + args, images},
                     {"ONNXMaxPool X -> Y I storage_order=1 " + args, images},
                     {"ONNXMaxPool X -> Y " + args, {"X u 2,3,4,6", "X c 2,3,6,4", "X f 1,1,3,5"}},
                     {"ONNXAveragePool X -> Y " + args, images},
                     {"ONNXAveragePool X -> Y count_include_pad=1 " + args, images},
                     {"ONNXLpPool X -> Y " + args, images},
                     {"ONNXLpPool X -> Y p=3 " + args, images}});
  }
  for (const std::string type : {"ONNXMaxPool", "ONNXAveragePool", "ONNXLpPool"}) {
    ExpectRunsAsNew({{type + " X -> Y kernel_shape=2,", {"X f 2,3,8", "X f 3,2,8", "X f 2,8,3"}},
                     {type + " X -> Y kernel_shape=1,2,2",
                      {"X f 1,2,2,3,4", "X f 1,2,3,2,4", "X f 1,2,4,3,2", "X f 2,1,2,2,6"}}});
  }
}

TEST(ChangedWindowsTest, Unpools) {
  ExpectRunsAsNew(
      {{"MaxUnpool X I -> Y kernel_shape=2,2 strides=2,2",
        {"X f 1,1,2,3; I l 1,1,2,3 = 0,2,4,12,14,16", "X f 1,1,3,2; I l 1,1,3,2 = 0,2,8,10,16,18",
         "X d 1,2,1,1; I l 1,2,1,1 = 3,5", "X f 0,1,1,1; I l 0,1,1,1"}},
       {"MaxUnpool X I s -> Y kernel_shape=2,",
        {"X f 1,1,2; I l 1,1,2 = 0,2; s l 3 = 1,1,5", "X f 1,1,2; I l 1,1,2 = 0,2; s l 3 = 1,2,4",
         "X f 2,1,1; I l 2,1,1 = 1,2; s l 3 = 2,2,2"}}});
}

TEST(ChangedWindowsTest, Convolutions) {
  for (const std::string args : {"", " strides=2,1 dilations=1,2", " auto_pad=SAME_UPPER strides=2,2",
                                 " pads=1,0,-1,1", " output_shape=9,8"}) {
    ExpectRunsAsNew({"ONNXConvTranspose X w b -> Y" + args,
                     {"X f 2,4,3,5; w f 4,3,2,3; b f 3", "X f 2,4,5,3; w f 4,3,3,2; b f 3",
                      "X f 1,2,3,3; w f 2,1,2,2; b f 1 = 0.5", "X f 1,4,3,5; w f 4,3,2,3; b f 3 = 7",
                      "X f 0,4,3,5; w f 4,3,2,3; b f 3"}});
  }
  ExpectRunsAsNew(
      {{"ONNXConvTranspose X w -> Y group=2",
        {"X f 2,4,5; w f 4,3,2", "X f 2,2,10; w f 2,3,2", "X f 1,4,2,5; w f 4,1,2,1"}},
       {"ONNXDeformConv X w o b m -> Y",
        {"X f 2,3,4,5; w f 2,3,2,2; o f 2,8,3,4; b f 2; m f 2,4,3,4",
         "X f 2,3,5,4; w f 2,3,2,2; o f 2,8,4,3; b f 2; m f 2,4,4,3",
         "X f 1,2,3,3; w f 1,2,1,1; o f 1,2,3,3; b f 1; m f 1,1,3,3",
         "X f 0,3,4,5; w f 2,3,2,2; o f 0,8,3,4; b f 2; m f 0,4,3,4"}},
       {"ONNXDeformConv X w o -> Y group=2 offset_group=2 pads=1,1,0,0",
        {"X f 1,4,4,5; w f 2,2,2,2; o f 1,16,4,5", "X f 1,4,5,4; w f 4,2,2,2; o f 1,16,5,4",
         "X f 2,2,2,2; w f 2,1,2,2; o f 2,16,2,2"}}});
}

// A filter with steps between its taps reaches as far as the output: each tap of each element counts.
TEST(ChangedWindowsTest, TapsOfDilatedTransposedFilters) {
  // x[i] w[k] stands at 2 i + 3 k, from 0 to 8.
  const std::string op = "ONNXConvTranspose X w -> Y strides=2, dilations=3, ";
  const auto expect = [&](const std::string& args, const std::vector<float>& want) {
    Workspace ws;
    FeedInputs({"", "X f 1,1,2 = 1,10; w f 1,1,3 = 1,2,3"}, &ws);
    OperatorDef def = OperatorsOf({(op + args).c_str(), ""}).back();
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    ASSERT_TRUE(ws.RunOperatorOnce(def));
    ExpectTensor<float>(ws, "Y", {1, 1, static_cast<int64_t>(want.size())}, want);
  };
  expect("", {1, 0, 10, 2, 0, 20, 3, 0, 30});
  expect("pads=1,0", {0, 10, 2, 0, 20, 3, 0, 30});
  expect("pads=0,1", {1, 0, 10, 2, 0, 20, 3, 0});
  expect("pads=2,2", {10, 2, 0, 20, 3});
  expect("output_padding=1,", {1, 0, 10, 2, 0, 20, 3, 0, 30, 0});
  // Of 9 elements 8 and 7 are left: the larger part is cut off in front.
  expect("output_shape=8,", {0, 10, 2, 0, 20, 3, 0, 30});
  expect("output_shape=7,", {0, 10, 2, 0, 20, 3, 0});
  expect("output_shape=6,", {10, 2, 0, 20, 3, 0});
  expect("output_shape=8, auto_pad=SAME_UPPER", {1, 0, 10, 2, 0, 20, 3, 0});
  expect("output_shape=6, auto_pad=SAME_UPPER", {0, 10, 2, 0, 20, 3});
  expect("auto_pad=SAME_UPPER", {10, 2, 0, 20});
  expect("auto_pad=SAME_LOWER", {2, 0, 20, 3});
}

}  // namespace
}  // namespace caffe2rt::test::changed_windows_test
