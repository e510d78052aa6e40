// The windows of convolutions, and what is estimated of their sizes, for the choice of layouts.
#include "caffe2_core/graph/passes/onednn_estimates.h"

#include <list>

#include "caffe2_core/graph/passes/onednn_placement.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/workspace_constants.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onednn_estimates_test {
namespace {

std::string WindowText(const std::string& args) {
  const OnednnWindow w = OnednnWindowOf(test::ParseOp("type: \"Conv\" " + args));
  return MakeString(w.kernel[0], "x", w.kernel[1], " ", w.stride[0], "x", w.stride[1], " ",
                    w.dilation[0], "x", w.dilation[1], " ", w.group);
}

// For each of the three, the place that it has in the text.
TEST(OnednnWindowTest, ReadsListsNumbersAndSides) {
  struct Row {
    const char *list, *one;
    size_t at;
  };
  for (const Row& row : {Row{"kernels", "kernel", 0}, Row{"strides", "stride", 4},
                         Row{"dilations", "dilation", 8}}) {
    SCOPED_TRACE(row.one);
    const auto with = [&](const char* pair) {
      return std::string("1x1 1x1 1x1 1").replace(row.at, 3, pair);
    };
    const auto arg = [](const std::string& name, const std::string& value) {
      return "arg { name: \"" + name + "\" " + value + " } ";
    };
    const std::string one = row.one, list = row.list;
    EXPECT_EQ(WindowText(arg(list, "ints: [3, 5]")), with("3x5"));
    EXPECT_EQ(WindowText(arg(list, "ints: 3")), with("1x1"));
    EXPECT_EQ(WindowText(arg(list, "ints: [3, 5, 7]")), with("1x1"));
    EXPECT_EQ(WindowText(arg(one, "i: 4")), with("4x4"));
    EXPECT_EQ(WindowText(arg(one + "_h", "i: 2") + arg(one + "_w", "i: 6")), with("2x6"));
    EXPECT_EQ(WindowText(arg(one + "_h", "i: 2")), with("1x1"));
    EXPECT_EQ(WindowText(arg(one + "_w", "i: 6")), with("1x1"));
  }
  EXPECT_EQ(WindowText(""), "1x1 1x1 1x1 1");
  EXPECT_EQ(WindowText(R"(arg { name: "group" i: 4 })"), "1x1 1x1 1x1 4");
}

class OnednnEstimatesTest : public testing::Test {
 protected:
  OnednnEstimatesTest() {
    test::FeedRandom(&ws_, "w", {8, 3, 3, 5});
    test::FeedRandom(&ws_, "flat", {8, 3, 15});
    test::FeedRandom(&ws_, "image", {2, 3, 4, 5});
    test::Feed<int>(&ws_, "ints", {1, 1, 2, 2}, {1, 2, 3, 4});
  }
  OnednnEstimates Of(const std::string& text, const ShapeMap& shapes = {}) {
    net_ = test::ParseNet(text);
    constants_.emplace_back(net_, std::set<std::string>{"x"}, std::set<std::string>(), &ws_);
    contexts_.push_back(PassContext{.constants = constants_.back()});
    contexts_.back().input_shapes = shapes;
    contexts_.back().has_operator = [](const std::string&, DeviceType) { return true; };
    return OnednnEstimates(net_, contexts_.back());
  }
  Workspace ws_;
  NetDef net_;
  std::list<WorkspaceConstants> constants_;
  std::list<PassContext> contexts_;
};

TensorShape ImageShape(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

constexpr char kOddConv[] = R"(
    op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "strides" ints: [2, 3] }
         arg { name: "pads" ints: [1, 2, 1, 2] } arg { name: "dilations" ints: [1, 2] }
         arg { name: "kernels" ints: [3, 5] } arg { name: "group" i: 2 } })";

std::string SizeText(const ConvSize& s) {
  return MakeString("batch ", s.batch, " channels ", s.in_channels, ">", s.out_channels, " group ",
                    s.group, " out ", s.out_h, "x", s.out_w, " kernel ", s.kernel_h, "x",
                    s.kernel_w, " stride ", s.stride_h, "x", s.stride_w, " dilation ", s.dilation_h,
                    "x", s.dilation_w);
}

// (20 + 2 - 3) / 2 + 1 is 10, (30 + 4 - 9) / 3 + 1 is 9.
TEST_F(OnednnEstimatesTest, KnowsTheSizesOfConvolutionsFromTheInputs) {
  const OnednnEstimates known = Of(kOddConv, {{"x", ImageShape({2, 6, 20, 30})}});
  EXPECT_EQ(SizeText(known.SizeOfConv(0)),
            "batch 2 channels 6>8 group 2 out 10x9 kernel 3x5 stride 2x3 dilation 1x2");
  EXPECT_EQ(known.InputCount(0, 0), 2 * 6 * 20 * 30);
  EXPECT_EQ(known.InputCount(0, 1), 8 * 3 * 3 * 5);
  EXPECT_EQ(known.OutputCount(0), 2 * 8 * 10 * 9);
  EXPECT_TRUE(known.IsImage(0, 0));
  EXPECT_TRUE(known.IsImage(0, 1));
  EXPECT_FALSE(known.IsImage(0, 2));
  EXPECT_EQ(known.InputCount(0, 2), 100e3);
}

// Of an input of unknown shape: one image of 224 x 224 with the channels of the filter.
TEST_F(OnednnEstimatesTest, GuessesTheImageOfAnInputOfUnknownShape) {
  const OnednnEstimates guessed = Of(kOddConv);
  EXPECT_EQ(guessed.InputCount(0, 0), 6 * 224 * 224);
  EXPECT_EQ(SizeText(guessed.SizeOfConv(0)),
            "batch 1 channels 6>8 group 2 out 112x74 kernel 3x5 stride 2x3 dilation 1x2");
  // Nothing is known of what another operator computes.
  const std::string written = R"(op { type: "Relu" input: "z" output: "x" })";
  const OnednnEstimates unknown = Of(written + kOddConv);
  EXPECT_EQ(unknown.InputCount(1, 0), 100e3);
  EXPECT_EQ(unknown.OutputCount(0), 100e3);
  EXPECT_EQ(unknown.OutputCount(1), 100e3);
  EXPECT_FALSE(unknown.IsImage(1, 0));
  EXPECT_EQ(SizeText(unknown.SizeOfConv(1)),
            "batch 1 channels 6>8 group 2 out 14x14 kernel 3x5 stride 2x3 dilation 1x2");
  // Without a filter of four dimensions, nor of that.
  const OnednnEstimates flat =
      Of(R"(op { type: "Conv" input: "x" input: "flat" output: "y" arg { name: "kernel" i: 3 } })");
  EXPECT_EQ(flat.InputCount(0, 0), 100e3);
  EXPECT_EQ(SizeText(flat.SizeOfConv(0)),
            "batch 1 channels 0>0 group 1 out 14x14 kernel 3x3 stride 1x1 dilation 1x1");
  const OnednnEstimates none = Of(R"(op { type: "Conv" input: "x" output: "y" })");
  EXPECT_EQ(none.InputCount(0, 0), 100e3);
}

// A shape that the caller states, or a constant, is not guessed.
TEST_F(OnednnEstimatesTest, PrefersStatedShapesAndConstants) {
  const OnednnEstimates stated = Of(kOddConv, {{"x", ImageShape({1, 6, 9, 9})}});
  EXPECT_EQ(stated.InputCount(0, 0), 6 * 81);
  const OnednnEstimates constant = Of(R"(
      op { type: "Conv" input: "image" input: "w" output: "a" arg { name: "kernels" ints: [3, 5] } }
      op { type: "Sum" input: "ints" input: "flat" output: "y" })");
  EXPECT_EQ(constant.InputCount(0, 0), 2 * 3 * 4 * 5);
  EXPECT_EQ(constant.InputCount(1, 0), 4);
  EXPECT_EQ(constant.InputCount(1, 1), 8 * 3 * 15);
  EXPECT_TRUE(constant.IsImage(0, 0));
  EXPECT_FALSE(constant.IsImage(1, 0));  // of integers
  EXPECT_FALSE(constant.IsImage(1, 1));  // of three dimensions
}

}  // namespace
}  // namespace caffe2rt::onednn_estimates_test
