#pragma once
// Runs operators on IDEEP over tensors in a chosen layout and compares them with the CPU.
//
//   TEST_P(OnednnPoolTest, ...) {        // OnednnTest is the fixture; OnednnCases() the parameters
//     FeedImage("X");
//     ExpectSameAsCpu(R"(type: "MaxPool" input: "X" output: "Y" ...)");
//   }

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_tensor.h"
#include "operators/common/onednn_planes.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// The index of value (n, c, pixel) of a tensor in memory.
inline int64_t IndexIn(const ChannelPlanes& planes, int64_t n, int64_t c, int64_t pixel) {
  if (!planes.blocked) return (n * planes.pixels() + pixel) * planes.channels + c;
  const int64_t block = n * ((planes.channels + 15) / 16) + c / 16;
  return (block * planes.pixels() + pixel) * 16 + c % 16;
}
// [N, C, H, W] in the layout of the planes, with zeros as padding.
inline std::vector<float> ToPlanes(const ChannelPlanes& planes, const std::vector<float>& x) {
  std::vector<float> y(static_cast<size_t>(planes.size()));
  int64_t i = 0;
  for (int64_t n = 0; n < planes.batch; ++n) {
    for (int64_t c = 0; c < planes.channels; ++c) {
      for (int64_t p = 0; p < planes.pixels(); ++p) y[IndexIn(planes, n, c, p)] = x[i++];
    }
  }
  return y;
}

struct OnednnCase {
  const char* layout;
  int64_t batch, channels, height, width;
  int threads;
};
inline void PrintTo(const OnednnCase& c, std::ostream* out) {
  *out << c.layout << " [" << c.batch << ", " << c.channels << ", " << c.height << ", " << c.width
       << "], threads " << c.threads;
}
// Channels that are and that are not multiples of 16, empty and large batches, one pixel.
inline std::vector<OnednnCase> OnednnCases() {
  std::vector<OnednnCase> cases;
  for (const char* layout : {"nchw", "nhwc", "nChw16c"}) {
    cases.push_back({layout, 1, 16, 9, 7, 1});
    cases.push_back({layout, 3, 20, 6, 11, 1});
    cases.push_back({layout, 1, 3, 5, 8, 1});
    cases.push_back({layout, 2, 37, 1, 1, 1});
    cases.push_back({layout, 0, 18, 4, 4, 1});
    cases.push_back({layout, 1, 64, 40, 40, 2});
    cases.push_back({layout, 3, 44, 23, 30, 2});
  }
  return cases;
}

class OnednnTest : public testing::TestWithParam<OnednnCase> {
 protected:
  void SetUp() override { SetNumThreads(GetParam().threads); }
  void TearDown() override { SetNumThreads(1); }

  std::vector<int64_t> dims() const {
    return {GetParam().batch, GetParam().channels, GetParam().height, GetParam().width};
  }
  // Feeds random values to the CPU workspace, and in the layout of the case to the other one.
  void FeedImage(const std::string& name, uint32_t seed = 1) {
    FeedImage(name, dims(), GetParam().layout, seed);
  }
  void FeedImage(const std::string& name, const std::vector<int64_t>& dims,
                 const std::string& layout, uint32_t seed = 1) {
    Tensor* const plain = FeedRandom(&cpu_, name, dims, -1, 1, seed);
    Tensor* const tensor = onednn_.CreateBlob(name)->GetMutableTensor(IDEEP);
    const dnnl::memory::desc desc = DescIn(ParseOnednnFormat(layout), dims);
    float* const data = PrepareOutput(tensor, dims, OnednnLayout::New(desc));
    const std::vector<float> values(plain->data<float>(), plain->data<float>() + plain->numel());
    const std::vector<float> placed =
        layout == "nchw" ? values : ToPlanes(PlanesIn(ParseOnednnFormat(layout), dims), values);
    std::copy(placed.begin(), placed.end(), data);
  }
  // Feeds the same CPU tensor to both workspaces.
  void FeedWeights(const std::string& name, const std::vector<int64_t>& dims, float low = -1,
                   float high = 1, uint32_t seed = 2) {
    FeedRandom(&cpu_, name, dims, low, high, seed);
    FeedRandom(&onednn_, name, dims, low, high, seed);
  }

  // Runs the operator on IDEEP.
  void RunOnednn(const std::string& text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(IDEEP);
    ASSERT_TRUE(onednn_.RunOperatorOnce(def));
  }
  // Expects that padding of `name` on IDEEP is zero and that its values are those on the CPU.
  void ExpectSame(const std::string& name, double tolerance) {
    const Tensor& got = onednn_.GetBlob(name)->Get<Tensor>();
    ASSERT_EQ(got.GetDeviceType(), IDEEP);
    Tensor plain(CPU);
    plain.CopyFrom(got);
    const std::vector<float> values(plain.data<float>(), plain.data<float>() + plain.numel());
    ExpectTensor<float>(cpu_, name, got.dims(), values, tolerance);
    ExpectZeroPadding(got);
  }
  // Runs the operator on both devices, twice on IDEEP, and compares the output.
  void ExpectSameAsCpu(const std::string& text, double tolerance = 0,
                       const std::string& output = "Y") {
    SCOPED_TRACE(text);
    RunOp(&cpu_, text);
    const bool in_place = ParseOp(text).input(0) == output;
    for (int run = 0; run < (in_place ? 1 : 2); ++run) RunOnednn(text);
    ExpectSame(output, tolerance);
    if (!in_place && GetParam().threads == 1) ExpectPlannedAhead(text);
  }
  // Expects that an operator that plans ahead, before its first run, gives its outputs the shapes, types and layouts of
  // the run that was before, and computes the same afterwards.
  void ExpectPlannedAhead(const std::string& text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(IDEEP);
    for (const std::string& name : def.output()) {
      if (std::find(def.input().begin(), def.input().end(), name) != def.input().end()) return;
    }
    const OperatorDef run = def;
    for (std::string& name : *def.mutable_output()) name = "ahead_" + name;
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &onednn_);
    auto* const planner = dynamic_cast<PlansAhead*>(op.get());
    if (planner == nullptr) return;
    std::vector<bool> constant(static_cast<size_t>(def.input_size()), true);
    constant[0] = false;
    planner->PlanAhead(AheadInputs(constant));
    const auto expect = [&](const char* when, bool values) {
      SCOPED_TRACE(when);
      for (const std::string& name : run.output()) ExpectLike("ahead_" + name, name, values);
    };
    expect("planned ahead", false);
    ASSERT_TRUE(op->Run());
    expect("run after planning ahead", true);
    for (const std::string& name : def.output()) onednn_.RemoveBlob(name);
  }
  OnednnFormat FormatOfOutput(const std::string& name) const {
    return FormatOf(onednn_.GetBlob(name)->Get<Tensor>());
  }

  void ExpectLike(const std::string& name, const std::string& like, bool values) {
    SCOPED_TRACE("output " + like);
    const Tensor& got = onednn_.GetBlob(name)->Get<Tensor>();
    const Tensor& want = onednn_.GetBlob(like)->Get<Tensor>();
    ASSERT_EQ(got.GetDeviceType(), want.GetDeviceType());
    EXPECT_EQ(got.dims(), want.dims());
    EXPECT_EQ(got.dtype(), want.dtype());
    if (got.GetDeviceType() == IDEEP && want.IsType<float>()) {
      EXPECT_EQ(got.opaque_layout() == nullptr, want.opaque_layout() == nullptr);
      EXPECT_TRUE(DescOf(got) == DescOf(want)) << "layout";
    }
    if (!values) return;
    Tensor a(CPU), b(CPU);
    a.CopyFrom(got);
    b.CopyFrom(want);
    ASSERT_EQ(a.nbytes(), b.nbytes());
    if (a.numel() > 0) {
      EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()), 0) << "values";
    }
  }
  static void ExpectZeroPadding(const Tensor& x) {
    const std::optional<ChannelPlanes> planes = PlanesOf(x);
    if (!planes.has_value() || !planes->blocked) return;
    for (int64_t n = 0; n < planes->batch; ++n) {
      for (int64_t c = planes->channels; c < (planes->channels + 15) / 16 * 16; ++c) {
        for (int64_t p = 0; p < planes->pixels(); ++p) {
          const float value = OnednnData(x)[IndexIn(*planes, n, c, p)];
          ASSERT_EQ(value, 0) << "padding of image " << n << ", channel " << c << ", pixel " << p;
        }
      }
    }
  }

  Workspace cpu_, onednn_;
};

}  // namespace caffe2rt::test
