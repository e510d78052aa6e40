// Whole messages of operators on IDEEP, and how their images are read.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/onednn/onednn_tensor.h"
#include "operators/common/onednn_planes.h"
#include "tests/operators/common/long_calls.h"
#include "tests/operators/common/onednn_run.h"
#include "tests/support/refusals.h"

namespace caffe2rt::onednn_calls_test {
namespace {

using namespace test;  // used throughout this file

using Dims = std::vector<int64_t>;

// A tensor of ones in row-major order, or in the layout.
void FeedOnednn(Workspace* ws, const std::string& name, const Dims& dims,
                const std::string& layout = "") {
  Tensor* const tensor = ws->CreateBlob(name)->GetMutableTensor(IDEEP);
  std::shared_ptr<const OnednnLayout> of_tensor;
  if (!layout.empty()) of_tensor = OnednnLayout::New(DescIn(ParseOnednnFormat(layout), dims));
  float* const data = PrepareOutput(tensor, dims, of_tensor);
  std::fill_n(data, FloatsOf(*tensor), 1.0f);
}

struct OnednnRow {
  std::string op;
  std::string weights;  // on the CPU, as in long_calls.h
  Dims x;               // "X" and, if `s` is not empty, "S" are on IDEEP
  Dims s;
  std::string message;
};

void ExpectRejectedOnednn(const std::vector<OnednnRow>& rows) {
  EnsureBuiltinOperators();
  for (const OnednnRow& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    if (!row.weights.empty()) FeedInputs({"", row.weights.c_str()}, &ws);
    FeedOnednn(&ws, "X", row.x);
    if (!row.s.empty()) FeedOnednn(&ws, "S", row.s);
    OperatorDef op = OperatorsOf({row.op.c_str(), ""})[0];
    op.mutable_device_option()->set_device_type(IDEEP);
    const std::string got = MessageOf([&] { ws.RunOperatorOnce(op); });
    EXPECT_TRUE(got == row.message || got.ends_with(": " + row.message))
        << got << "\nwant: " << row.message;
  }
}

const Dims kImage = {1, 2, 4, 5};

TEST(OnednnRejectionTest, NamesTheOrderThatIsMissing) {
  const std::string nchw =
      "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W";
  ExpectRejectedOnednn({
      {"Conv X w -> Y kernel=3 order=NHWC",
       "w f 2,3,3,2",
       kImage,
       {},
       "argument order is NHWC: convolutions on IDEEP support NCHW only"},
      {"ConvFusion X w -> Y kernel=3 order=NHWC",
       "w f 2,3,3,2",
       kImage,
       {},
       "argument order is NHWC: convolutions on IDEEP support NCHW only"},
      {"MaxPool X -> Y kernel=2 order=NHWC", "", kImage, {}, nchw},
      {"AveragePool X -> Y kernel=2 order=NHWC", "", kImage, {}, nchw},
      {"LRN X -> Y size=1 order=NHWC", "", kImage, {}, nchw},
      {"SpatialBN X s b m v -> Y is_test=1 order=NHWC",
       "s f 2; b f 2; m f 2; v f 2",
       kImage,
       {},
       nchw},
      {"SpatialBN X s b m v -> Y m v d e is_test=0",
       "s f 2; b f 2; m f 2; v f 2",
       kImage,
       {},
       "argument is_test is 0, want 1: IDEEP is for inference"},
      {"SpatialBN X s b m v -> Y m v d e is_test=1",
       "s f 2; b f 2; m f 2; v f 2",
       kImage,
       {},
       "outputs with is_test 1: got 5, want 1"},
  });
}

TEST(OnednnRejectionTest, NamesShapes) {
  ExpectRejectedOnednn({
      {"Conv X w -> Y kernels=3,",
       "w f 2,2,3",
       {1, 2, 4},
       {},
       "rank of input 0 (X) of a convolution on IDEEP: got 3, want 4"},
      {"Conv X w -> Y kernel=3",
       "w f 2,1,3,3",
       kImage,
       {},
       "channels of input 1 (filter) of shape [2, 1, 3, 3], want those of input 0 (X) of shape [1, "
       "2, 4, "
       "5] divided by group 1 (got 1, want 2)"},
      {"Conv X w b -> Y kernel=3",
       "w f 2,2,3,3; b f 3",
       kImage,
       {},
       "input 2 (bias) has shape [3], want [2]: one entry for each output channel"},
      {"ConvFusion X w S -> Y kernel=3 sum=1",
       "w f 2,2,3,3",
       kImage,
       {1, 2, 3, 2},
       "input 2 (S) has shape [1, 2, 3, 2], want that of the convolution, [1, 2, 2, 3]"},
      {"ConvFusion X w -> Y kernel=3 sum=1",
       "w f 2,2,3,3",
       kImage,
       {},
       "argument sum is 1: number of inputs - 1, want the added tensor (got 1, want at least 2)"},
      {"MaxPool X -> Y kernels=2,",
       "",
       {1, 2, 4},
       {},
       "rank of input 0 (X) of shape [1, 2, 4], want 4 (got 3, want 4)"},
      {"AveragePool X -> Y kernel=5",
       "",
       kImage,
       {},
       "axis of 4 with pads 0 and 0, want at least its dilated kernel (got 4, want at least 5)"},
      {"LRN X -> Y size=1",
       "",
       {1, 2, 4},
       {},
       "rank of input 0 of shape [1, 2, 4], want 4: N, C, H, W (got 3, want 4)"},
      {"LRN X -> Y size=0",
       "",
       kImage,
       {},
       "argument \"size\" is 0 in order NCHW, want at least 1"},
      {"Softmax X -> Y axis=4", "", kImage, {}, "axis 4 of a tensor of rank 4, want -4 to 3"},
      {"FC X W b -> Y",
       "W f 3,39; b f 3",
       kImage,
       {},
       "input 0 (X) of shape [1, 2, 4, 5] has rows of 40 at axis 1, but input 1 (W) of shape [3, "
       "39] needs "
       "rows of 39: got 40, want 39"},
      {"FCTransposed X W b -> Y",
       "W f 40,3; b f 2",
       kImage,
       {},
       "input 2 (b) has shape [2], want [3]: one value for each output of input 1 (W) of shape "
       "[40, 3]"},
  });
}

TEST(PlanesOfTest, ReadsOnlyTheLayoutsOfChannels) {
  Workspace ws;
  const auto planes = [&](const Dims& dims, const std::string& layout) {
    FeedOnednn(&ws, "X", dims, layout);
    return PlanesOf(ws.GetBlob("X")->Get<Tensor>());
  };
  const std::optional<ChannelPlanes> last = planes({2, 20, 3, 4}, "nhwc");
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(*last, (ChannelPlanes{.batch = 2, .channels = 20, .height = 3, .width = 4}));
  const std::optional<ChannelPlanes> blocked = planes({2, 20, 3, 4}, "nChw16c");
  ASSERT_TRUE(blocked.has_value());
  EXPECT_TRUE(blocked->blocked);
  EXPECT_EQ(DimsOf(*blocked), (Dims{2, 20, 3, 4}));
  EXPECT_FALSE(planes({2, 20, 3, 4}, "nchw").has_value());
  EXPECT_FALSE(planes({2, 20, 3, 4}, "").has_value());
  EXPECT_FALSE(planes({2, 20, 12}, "").has_value());
  // With one channel or one pixel, row-major order is that of nhwc.
  EXPECT_TRUE(planes({2, 1, 3, 4}, "").has_value());
  EXPECT_TRUE(planes({2, 20, 1, 1}, "").has_value());
  EXPECT_FALSE(planes({2, 20, 1, 2}, "").has_value());
  EXPECT_FALSE(planes({2, 20, 2, 1}, "").has_value());
  EXPECT_EQ(LayoutOf({.batch = 1, .channels = 1, .height = 3, .width = 4}), nullptr);
  EXPECT_NE(LayoutOf({.batch = 1, .channels = 2, .height = 3, .width = 4}), nullptr);
  FeedOnednn(&ws, "X", {1, 20, 3, 4}, "nChw16c");
  EXPECT_EQ(FloatsOf(ws.GetBlob("X")->Get<Tensor>()), 32 * 12);
  EXPECT_FALSE(IsBytesInNhwc(ws.GetBlob("X")->Get<Tensor>()));
  EXPECT_FALSE(
      ReducedPlanesOf(ws.GetBlob("X")->Get<Tensor>(), dnnl::memory::data_type::bf16).has_value());
  EXPECT_NE(SharedLayout(ws.GetBlob("X")->Get<Tensor>()), nullptr);
  FeedOnednn(&ws, "X", {1, 20, 3, 4});
  EXPECT_EQ(FloatsOf(ws.GetBlob("X")->Get<Tensor>()), 240);
  EXPECT_EQ(SharedLayout(ws.GetBlob("X")->Get<Tensor>()), nullptr);
}

TEST(PlanesInputTest, ConvertsOnlyOtherLayouts) {
  Workspace ws;
  FeedOnednn(&ws, "X", {1, 2, 1, 2});
  Tensor* const x = ws.GetBlob("X")->GetMutable<Tensor>();
  float* const data = PrepareOutput(x, {1, 2, 1, 2}, nullptr);
  for (int i = 0; i < 4; ++i) data[i] = static_cast<float>(i);
  PlanesInput input;
  EXPECT_FALSE(input.Matches(*x));
  input.Plan(0, *x);
  EXPECT_TRUE(input.Matches(*x));
  EXPECT_TRUE(input.converts());
  const float* read = input.Read(*x);
  EXPECT_EQ(std::vector<float>(read, read + 4), (std::vector<float>{0, 2, 1, 3}));
  float other[4];
  input.ConvertTo(*x, other);
  EXPECT_EQ(other[1], 2);
  input.Forget();
  EXPECT_FALSE(input.Matches(*x));
  FeedOnednn(&ws, "X", {1, 2, 1, 2}, "nhwc");
  input.Plan(0, *x);
  EXPECT_FALSE(input.converts());
  EXPECT_EQ(input.Read(*x), OnednnData(*x));
  RowMajorInput rows;
  FeedOnednn(&ws, "X", {1, 2, 1, 2}, "nhwc");
  float* const placed =
      PrepareOutput(x, {1, 2, 1, 2}, OnednnLayout::New(DescIn(OnednnFormat::kNhwc, {1, 2, 1, 2})));
  for (int i = 0; i < 4; ++i) placed[i] = static_cast<float>(i);
  read = rows.Read(*x);
  EXPECT_EQ(std::vector<float>(read, read + 4), (std::vector<float>{0, 2, 1, 3}));
}

}  // namespace
}  // namespace caffe2rt::onednn_calls_test
