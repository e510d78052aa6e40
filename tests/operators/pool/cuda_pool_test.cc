#include "operators/pool/cuda_pool.h"

#include <algorithm>
#include <limits>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/pool/naive_pool.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::cuda_pool_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const Agreement kAllEngines = {.tolerance = 1e-5, .engines = {"", "CUDNN", "NATIVE"}};

using CudaPoolTest = OnDeviceTest;

TEST_F(CudaPoolTest, AgreesWithTheCpuOverAllKindsOfWindowsInBothLayouts) {
  for (const std::vector<NaiveAxis>& axes : PoolShapes()) {
    std::vector<int64_t> dims{2, 3}, last{2};
    for (const NaiveAxis& axis : axes) {
      dims.push_back(axis.in);
      last.push_back(axis.in);
    }
    last.push_back(3);
    for (const char* type : {"MaxPool", "AveragePool"}) {
      Workspace ws;
      FeedRandom(&ws, "X", dims);
      ExpectDevicesAgree(&ws, PoolOp(type, axes, "NCHW"), kAllEngines);
      FeedRandom(&ws, "X", last);
      ExpectDevicesAgree(&ws, PoolOp(type, axes, "NHWC"), kAllEngines);
      if (std::string(type) == "MaxPool") continue;
      const std::string more = R"( arg { name: "count_include_pad" i: 1 })";
      ExpectDevicesAgree(&ws, PoolOp(type, axes, "NHWC") + more, kAllEngines);
      FeedRandom(&ws, "X", dims);
      ExpectDevicesAgree(&ws, PoolOp(type, axes, "NCHW") + more, kAllEngines);
    }
  }
}

// Feeds X, in which all elements are different, Y and dY of a pool, and returns the gradient's text.
// cuDNN gives the gradient of a maximum to one of several equal elements.
std::string FeedGradient(Workspace* ws, const std::string& op, const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t dim : dims) n *= dim;
  std::vector<float> x;
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i * 7919 % n) / 16 + 1);
  Feed<float>(ws, "X", dims, x);
  CreateOperator(ParseOp(op), ws)->Run();
  FeedRandom(ws, "dY", DimsOf(*ws, "Y"));
  return GradientOf(op);
}

TEST_F(CudaPoolTest, GradientsAgreeWithTheCpuInBothLayouts) {
  const std::vector<std::vector<NaiveAxis>> shapes = {{{7, 2, 2, 0, 1}},
                                                      {{5, 3, 2, 1, 1}, {37, 3, 2, 1, 1}},
                                                      {{4, 4, 1, 3, 0}, {19, 1, 2, 0, 0}},
                                                      {{12, 2, 1, -2, -3}, {11, 3, 2, -1, 1}},
                                                      {{5, 5, 1, 0, 0}, {6, 6, 1, 0, 0}},
                                                      {{5, 2, 1, 1, 0}, {6, 3, 2, 0, 2}}};
  for (const std::vector<NaiveAxis>& axes : shapes) {
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::vector<int64_t> dims = PoolDims(axes, 2, 3, std::string(order) == "NHWC", false);
      for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
        const bool norm = std::string(type) == "LpPool";
        if (norm && axes.size() != 2) continue;
        Workspace ws;
        std::string text = PoolOp(type, axes, order);
        ExpectDevicesAgree(&ws, FeedGradient(&ws, text, dims),
                           norm ? Agreement{.tolerance = 1e-5} : kAllEngines);
        if (norm) {
          ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5});
          text += R"( arg { name: "p" f: 2.5 })";
          ExpectDevicesAgree(&ws, FeedGradient(&ws, text, dims), {.tolerance = 1e-5});
          ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5});
        } else if (std::string(type) == "AveragePool") {
          text += R"( arg { name: "count_include_pad" i: 1 })";
          ExpectDevicesAgree(&ws, FeedGradient(&ws, text, dims), kAllEngines);
        }
      }
    }
  }
}

TEST_F(CudaPoolTest, GradientsOfGlobalAndLegacyPoolsAgreeWithTheCpu) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      for (const std::vector<int64_t>& dims :
           {std::vector<int64_t>{2, 3}, {2, 3, 6, 4}, {2, 3, 1, 2, 2, 3}, {0, 3, 6, 4}}) {
        const std::string op = MakeString("type: \"", type, "\" input: \"X\" output: \"Y\"",
                                          " arg { name: \"order\" s: \"", order, "\" }");
        Workspace ws;
        ExpectDevicesAgree(&ws,
                           FeedGradient(&ws, op + R"( arg { name: "global_pooling" i: 1 })", dims),
                           kAllEngines);
        if (dims.size() != 4) continue;
        const std::string legacy = op + R"( arg { name: "kernel" i: 1 } arg { name: "stride" i: 3 }
                                            arg { name: "legacy_pad" i: 3 })";
        ExpectDevicesAgree(&ws, FeedGradient(&ws, legacy, dims), kAllEngines);
      }
    }
  }
}

TEST_F(CudaPoolTest, PoolsGloballyOverAnyNumberOfAxes) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2, 3},
                                           {2, 3, 6},
                                           {2, 3, 5, 7},
                                           {2, 3, 2, 3, 4},
                                           {2, 3, 1, 2, 2, 3},
                                           {0, 3, 5, 7},
                                           {1, 2, 64, 70}}) {
    for (const char* type : {"MaxPool", "AveragePool"}) {
      for (const char* order : {"NCHW", "NHWC"}) {
        Workspace ws;
        FeedRandom(&ws, "X", dims);
        const std::string text = std::string("type: \"") + type +
                                 R"(" input: "X" output: "Y" arg { name: "global_pooling" i: 1 }
                                 arg { name: "order" s: ")" +
                                 order + "\" }";
        ExpectDevicesAgree(&ws, text, kAllEngines);
      }
    }
  }
}

TEST_F(CudaPoolTest, FollowsLegacyPadding) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (int rule = 1; rule <= 3; ++rule) {
      for (const int64_t size : {4, 6, 11}) {
        for (const int kernel : {1, 3}) {
          Workspace ws;
          FeedRandom(&ws, "X", {2, 2, size, size});
          const std::string text = MakeString(
              "type: \"", type, R"(" input: "X" output: "Y" arg { name: "kernel" i: )", kernel,
              R"( } arg { name: "stride" i: 3 } arg { name: "legacy_pad" i: )", rule, " }");
          ExpectDevicesAgree(&ws, text, kAllEngines);
        }
      }
    }
  }
}

// The result for NaN and infinities is as described in pool.h. cuDNN computes something else, so it
// is not used by default.
TEST_F(CudaPoolTest, MaximaOfNaNAreTheCpus) {
  const std::vector<float> values = {kNaN, 1,    -kInf, -kInf, kNaN, kNaN,
                                     5,    kNaN, kNaN,  -kInf, kInf, 2};
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 1, 2, 6},
                                           {1, 2, 6, 1},
                                           {2, 6, 1, 1},
                                           {1, 2, 3, 2},
                                           {3, 1, 2, 2},
                                           {1, 2, 2, 3}}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      for (
          const char* window :
          {R"( arg { name: "global_pooling" i: 1 })",
           R"( arg { name: "kernel" i: 2 } arg { name: "pads" ints: 1 ints: 0 ints: 1 ints: 1 })"}) {
        Workspace ws;
        Feed<float>(&ws, "X", dims, values);
        const std::string text = std::string(R"(type: "MaxPool" input: "X" output: "Y")") + window +
                                 R"( arg { name: "order" s: ")" + order + "\" }";
        ExpectDevicesAgree(&ws, text, {.engines = {"", "NATIVE"}});
      }
    }
  }
}

// A pooling kernel of at least 2^28 elements makes the CUDA kernel use 64-bit indices.
TEST_F(CudaPoolTest, CountsLongWindowsIn64Bits) {
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      Workspace ws;
      FeedRandom(&ws, "X", {2, 4, 4});
      const std::string text =
          MakeString("type: \"", type, R"(" input: "X" output: "Y" arg { name: "kernels" ints: )",
                     (1 << 28) + 5, R"( } arg { name: "pads" ints: 0 ints: )", (1 << 28) + 4,
                     R"( } arg { name: "order" s: ")", order, "\" }");
      ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5, .engines = {"NATIVE"}});
      ExpectDevicesAgree(&ws, FeedGradient(&ws, text, {2, 4, 4}),
                         {.tolerance = 1e-5, .engines = {"NATIVE"}});
    }
  }
}

WindowGeometry Geometry(const std::string& args, const std::vector<int64_t>& x) {
  const OperatorDef def = ParseOp("type: \"MaxPool\" " + args);
  return MakeWindowGeometry(ParseWindowArguments(ArgumentHelper(def), WindowUse::kPool), x);
}

TEST_F(CudaPoolTest, ReportsWhyCudnnLeavesAPoolToNativeKernels) {
  if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
  const auto refusal = [](const WindowGeometry& geometry) {
    std::string reason;
    return NewCudnnPool(PoolKind::kMean, geometry, false, &reason) != nullptr ? "taken" : reason;
  };
  const std::string three = R"(arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } )";
  const std::string global = R"(arg { name: "global_pooling" i: 1 })";
  EXPECT_EQ(refusal(Geometry(three, {2, 3, 7, 7})), "taken");
  EXPECT_EQ(refusal(Geometry(three + R"(arg { name: "legacy_pad" i: 3 })", {2, 3, 7, 7})), "taken");
  EXPECT_EQ(refusal(Geometry(three + R"(arg { name: "legacy_pad" i: 3 })", {2, 3, 8, 8})),
            "axis 0 has pads 0 and 0, for which cuDNN computes another number of windows");
  EXPECT_EQ(refusal(Geometry(global, {2, 3, 7, 7})), "taken");
  EXPECT_EQ(refusal(Geometry(global, {2, 3})), "number of axes is 0, cuDNN supports 1 to 3");
  EXPECT_EQ(refusal(Geometry(global, {2, 3, 2, 2, 2, 2})),
            "number of axes is 4, cuDNN supports 1 to 3");
}

// Collects what is logged from severity WARNING on.
class Warnings {
 public:
  Warnings() : threshold_(LogThreshold()) {
    SetLogThreshold(1);
    SetLogSink([this](const LogEntry& entry) { texts_.emplace_back(entry.text); });
  }
  ~Warnings() {
    SetLogSink(nullptr);
    SetLogThreshold(threshold_);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  const int threshold_;
  std::vector<std::string> texts_;
};

// Runs a global pool over two, four and two axes, of which cuDNN supports two.
TEST_F(CudaPoolTest, NamesTheEngineThatRanAndWarnsOnceIfItIsNotTheRequestedOne) {
  if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
  const auto fill = [&](const std::string& blob, std::vector<int64_t> dims, bool pooled) {
    if (pooled) std::fill(dims.begin() + 2, dims.end(), 1);
    std::string op = "type: 'ConstantFill' output: '" + blob +
                     "' device_option { device_type: 1 } arg { name: 'shape' ";
    for (const int64_t dim : dims) op += MakeString("ints: ", dim, " ");
    ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(op + "}")));
  };
  struct Row {
    const char *type, *engine;
    const char* two_axes;  // the engine that runs
    bool warns;
  };
  constexpr Row kRows[] = {{"AveragePool", "", "CUDNN", false},
                           {"AveragePool", "CUDNN", "CUDNN", true},
                           {"AveragePool", "NATIVE", "NATIVE", false},
                           {"MaxPool", "", "NATIVE", false},
                           {"MaxPool", "CUDNN", "CUDNN", true},
                           {"MaxPool", "NATIVE", "NATIVE", false}};
  const std::string args = R"( device_option { device_type: 1 }
                               arg { name: "global_pooling" i: 1 })";
  for (const Row& row : kRows) {
    const std::string forward = MakeString("type: \"", row.type, R"(" input: "X" output: "Y")");
    for (const std::string& text : {forward, GradientOf(forward)}) {
      SCOPED_TRACE(MakeString(text, " engine ", row.engine));
      const Warnings warnings;
      OperatorDef def = ParseOp(text + args);
      def.set_engine(row.engine);
      fill("X", {1}, false), fill("Y", {1}, false), fill("dY", {1}, false);
      const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws_);
      for (const std::vector<int64_t>& dims :
           {std::vector<int64_t>{2, 3, 4, 5}, {2, 3, 2, 2, 2, 2}, {2, 3, 4, 5}, {1, 1, 1, 2, 1, 2}}) {
        fill("X", dims, false), fill("Y", dims, true), fill("dY", dims, true);
        ASSERT_TRUE(op->Run());
        EXPECT_EQ(op->engine(), dims.size() == 4 ? row.two_axes : "NATIVE");
      }
      std::vector<std::string> want;
      if (row.warns) {
        want.push_back(MakeString("engine \"CUDNN\" of operator ", def.type(),
                                  " is not used: number of axes is 4, cuDNN supports 1 to 3; "
                                  "native kernels run"));
      }
      EXPECT_EQ(warnings.texts(), want);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::cuda_pool_test
