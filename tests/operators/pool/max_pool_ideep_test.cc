#include "tests/operators/common/onednn_run.h"
#include "tests/operators/pool/naive_pool.h"

namespace caffe2rt::max_pool_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnPoolTest : public OnednnTest {
 protected:
  // Runs the pool and compares it with NaivePool.
  void ExpectPool(const std::string& type, const NaiveAxis& rows, const NaiveAxis& columns,
                  bool include_pad, double tolerance) {
    const OnednnCase& c = GetParam();
    NaiveAxis h = rows, w = columns;
    h.in = static_cast<int>(c.height);
    w.in = static_cast<int>(c.width);
    if (h.in + h.head + h.tail < h.kernel || w.in + w.head + w.tail < w.kernel) return;
    FeedImage("X");
    const bool mean = type == "AveragePool";
    const std::vector<float> want =
        NaivePool(Fetch<float>(cpu_, "X"), static_cast<int>(c.batch * c.channels), {}, h, w, mean,
                  include_pad);
    Feed<float>(&cpu_, "Y", {c.batch, c.channels, h.out(), w.out()}, want);
    std::string text = PoolOp(type, {h, w}, "NCHW");
    if (include_pad) text += R"( arg { name: "count_include_pad" i: 1 })";
    SCOPED_TRACE(text);
    for (int run = 0; run < 2; ++run) RunOnednn(text);
    ExpectSame("Y", tolerance);
  }
  // Rounds a float tensor to bf16 in the layout.
  static void Reduce(const std::string& layout, Tensor* tensor) {
    const std::vector<int64_t> dims = tensor->dims();
    const Tensor plain(*tensor, CPU);
    const dnnl::memory::desc desc =
        DescIn(ParseOnednnFormat(layout), dims, dnnl::memory::data_type::bf16);
    void* const to = PrepareOutputMemory(tensor, dims, OnednnLayout::New(desc));
    if (plain.numel() == 0) return;
    Reorder(DescIn(OnednnFormat::kNchw, dims), plain.data<float>(), desc, to);
  }
  const std::vector<NaiveAxis> axes_ = {{1, 3, 2, 0, 0}, {1, 2, 2, 0, 1}, {1, 3, 1, 1, 1},
                                        {1, 3, 2, 1, 2}, {1, 4, 3, 2, 1}, {1, 1, 2, 0, 0}};
};

TEST_P(OnednnPoolTest, ComputesTheLargestValueOfEachWindow) {
  for (size_t i = 0; i < axes_.size(); ++i) {
    ExpectPool("MaxPool", axes_[i], axes_[i], false, 0);
    ExpectPool("MaxPool", axes_[i], axes_[(i + 1) % axes_.size()], false, 0);
  }
}

// Runs a pool of one window per channel on both devices.
void ExpectOnBothDevices(const std::string& args, const std::vector<int64_t>& dims,
                         const std::vector<float>& x, const std::vector<float>& want) {
  const std::string op = R"(type: "MaxPool" input: "X" output: "Y" )" + args;
  SCOPED_TRACE(op);
  Workspace cpu, onednn;
  const Tensor* const plain = Feed<float>(&cpu, "X", dims, x);
  onednn.CreateBlob("X")->GetMutableTensor(IDEEP)->CopyFrom(*plain);
  RunOp(&cpu, op);
  ExpectTensor<float>(cpu, "Y", {1, dims[1], 1, 1}, want);
  RunOp(&onednn, op + " device_option { device_type: 5 }");
  cpu.GetBlob("X")->GetMutableTensor(CPU)->CopyFrom(onednn.GetBlob("Y")->Get<Tensor>());
  ExpectTensor<float>(cpu, "X", {1, dims[1], 1, 1}, want);
}

// Every element of a window is NaN in turn, and all of them in the last channel. A NaN at the start
// of a window is its maximum, and others are ignored. In a global pool, only the last one is NaN.
TEST(OnednnMaxPoolTest, TreatsNaNAsThePoolOnTheCpu) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const int size : {2, 3, 4}) {
    const int elements = size * size, channels = elements + 1;
    std::vector<float> x, want, want_global;
    for (int nan = 0; nan < channels; ++nan) {
      for (int i = 0; i < elements; ++i) {
        x.push_back(i == nan || nan == elements ? kNaN : static_cast<float>(i - 5));
      }
      const auto largest = static_cast<float>((nan == elements - 1 ? nan - 1 : elements - 1) - 5);
      want.push_back(nan == 0 || nan == elements ? kNaN : largest);
      want_global.push_back(nan == elements ? kNaN : largest);
    }
    ExpectOnBothDevices(MakeString(R"(arg { name: "kernel" i: )", size, " }"),
                        {1, channels, size, size}, x, want);
    ExpectOnBothDevices(R"(arg { name: "global_pooling" i: 1 })", {1, channels, size, size}, x,
                        want_global);
  }
}

TEST_P(OnednnPoolTest, ComputesTheMeanOfEachWindow) {
  for (size_t i = 0; i < axes_.size(); ++i) {
    ExpectPool("AveragePool", axes_[i], axes_[(i + 2) % axes_.size()], false, 1e-6);
    ExpectPool("AveragePool", axes_[i], axes_[(i + 1) % axes_.size()], true, 1e-6);
  }
}

TEST_P(OnednnPoolTest, PoolsWholeImages) {
  FeedImage("X");
  const std::string arguments = R"(" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })";
  ExpectSameAsCpu("type: \"MaxPool" + arguments);
  ExpectSameAsCpu("type: \"AveragePool" + arguments, 1e-6);
}

TEST_P(OnednnPoolTest, RoundsUpAsCaffeDid) {
  if (GetParam().height < 3) GTEST_SKIP() << "the image is smaller than the window";
  FeedImage("X");
  for (const char* type : {"MaxPool", "AveragePool"}) {
    ExpectSameAsCpu(std::string("type: \"") + type + R"(" input: "X" output: "Y"
                      arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 }
                      arg { name: "legacy_pad" i: 3 })",
                    1e-6);
  }
}

// Caffe's rounding adds windows behind the image.
TEST(OnednnAveragePoolTest, TheMeanOfNothingIsNaN) {
  for (const std::string layout : {"nchw", "nhwc", "nChw16c"}) {
    SCOPED_TRACE(layout);
    const std::vector<int64_t> dims = {1, 2, 3, 3};
    Workspace ws;
    Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
    float* const data =
        PrepareOutput(x, dims, OnednnLayout::New(DescIn(ParseOnednnFormat(layout), dims)));
    std::fill_n(data, FloatsOf(*x), 7.0f);
    RunOp(&ws, R"(type: "AveragePool" input: "X" output: "Y" device_option { device_type: 5 }
                  arg { name: "kernel" i: 1 } arg { name: "stride" i: 3 }
                  arg { name: "legacy_pad" i: 3 })");
    ws.CreateBlob("P")->GetMutableTensor(CPU)->CopyFrom(ws.GetBlob("Y")->Get<Tensor>());
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    ExpectTensor<float>(ws, "P", {1, 2, 2, 2}, {7, kNaN, kNaN, kNaN, 7, kNaN, kNaN, kNaN});
  }
}

TEST_P(OnednnPoolTest, KeepsTheLayout) {
  if (GetParam().channels < 16 || GetParam().height < 2) GTEST_SKIP() << "layouts coincide";
  FeedImage("X");
  RunOnednn(R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 2 })");
  const std::string layout = GetParam().layout;
  // 16 channels lie in nChw16c as in nhwc.
  const bool last = layout == "nchw" || GetParam().channels == 16;
  EXPECT_EQ(OnednnFormatName(FormatOfOutput("Y")), last ? "nhwc" : layout);
}

// Pools of bf16 are those of the rounded numbers, and kept in bf16 if that is asked for.
TEST_P(OnednnPoolTest, PoolsImagesOfBf16) {
  const std::string layout = GetParam().layout;
  if (layout == "nchw" || GetParam().height < 3) GTEST_SKIP() << "bf16 is kept in other layouts";
  FeedImage("X");
  Tensor* const x = onednn_.CreateBlob("X")->GetMutableTensor(IDEEP);
  Reduce(layout, x);
  cpu_.GetBlob("X")->GetMutableTensor(CPU)->CopyFrom(*x);
  for (const char* type : {"MaxPool", "AveragePool"}) {
    const std::string op = MakeString("type: \"", type, "\"", R"( input: "X" output: "Y"
        arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } arg { name: "pad" i: 1 })");
    for (const char* kept : {"f32", "bf16", "int8"}) {
      ExpectSameAsCpu(op + " arg { name: \"output_precision\" s: \"" + kept + "\" }", 4e-3);
      EXPECT_EQ(IsReduced(onednn_.GetBlob("Y")->Get<Tensor>()), kept == std::string("bf16"));
    }
  }
}

TEST_P(OnednnPoolTest, RejectsChannelsLast) {
  FeedImage("X");
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 1 }
                     arg { name: "order" s: "NHWC" })");
      },
      "argument order is NHWC, want NCHW");
}

TEST_P(OnednnPoolTest, RejectsOtherRanks) {
  Tensor* const x = onednn_.CreateBlob("X")->GetMutableTensor(IDEEP);
  x->Resize(1, 2, 3);
  x->mutable_data<float>();
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernels" ints: 1 })");
      },
      "rank of input 0 (X) of shape [1, 2, 3]");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnPoolTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::max_pool_ideep_test
