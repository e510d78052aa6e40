#include "operators/conv/cuda_conv.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/conv_geometry.h"
#include "tests/operators/conv/cudnn_api.h"
#include "tests/support/devices_agree.h"

extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test::cuda_conv_test {
namespace {

using testing::HasSubstr;

struct Case {
  std::vector<int64_t> x, w;
  int64_t bias;  // 0 means no bias
  std::string args;
};

std::string Ints(const std::string& name, const std::vector<int>& values) {
  std::string text = " arg { name: \"" + name + "\"";
  for (const int value : values) text += " ints: " + std::to_string(value);
  return text + " }";
}
const std::string kLast = R"( arg { name: "order" s: "NHWC" })";
std::string Group(int group) { return " arg { name: \"group\" i: " + std::to_string(group) + " }"; }
std::string Legacy(int rule) {
  return " arg { name: \"legacy_pad\" i: " + std::to_string(rule) + " }";
}

void ExpectCasesAgree(const std::string& type, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    Workspace ws;
    FeedRandom(&ws, "X", c.x);
    FeedRandom(&ws, "W", c.w, -1, 1, 2);
    std::string text = "type: \"" + type + R"(" input: "X" input: "W")";
    if (c.bias > 0) {
      FeedRandom(&ws, "b", {c.bias}, -1, 1, 3);
      text += R"( input: "b")";
    }
    text += R"( output: "Y")" + c.args;
    // cuDNN's heuristics may choose Winograd's or FFT algorithms, which round more than native sums.
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-4, .engines = {"", "CUDNN"}});
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5, .engines = {"NATIVE"}});
  }
}

class CudaConvTest : public OnBothCudnnApis {};
INSTANTIATE_TEST_SUITE_P(Api, CudaConvTest, testing::Bool(), NameOfCudnnApi);

TEST_P(CudaConvTest, AgreesWithTheCpuOverAllKindsOfWindows) {
  ExpectCasesAgree(
      "Conv",
      {
          {{2, 3, 7, 9}, {5, 3, 3, 3}, 5, Ints("kernels", {3, 3})},
          {{2, 3, 7, 9}, {5, 3, 3, 2}, 0, Ints("kernels", {3, 2}) + Ints("strides", {2, 3})},
          {{1, 4, 8, 8},
           {6, 2, 3, 3},
           6,
           Ints("kernels", {3, 3}) + Group(2) + Ints("dilations", {2, 1}) +
               Ints("pads", {2, 1, 2, 1})},
          {{3, 6, 5, 5}, {6, 1, 3, 3}, 6, Ints("kernels", {3, 3}) + Group(6)},
          {{2, 3, 6, 6}, {4, 3, 3, 3}, 4, Ints("kernels", {3, 3}) + Ints("pads", {0, 1, 2, 3})},
          {{2, 3, 9, 9}, {4, 3, 2, 2}, 4, Ints("kernels", {2, 2}) + Ints("pads", {-2, 1, -1, -3})},
          {{2, 3, 6, 6}, {4, 3, 3, 3}, 4, Ints("kernels", {3, 3}) + Ints("dilations", {0, 1})},
          {{1, 3, 6, 7}, {4, 3, 3, 3}, 4, Ints("kernels", {3, 3}) + Legacy(1)},
          {{1, 3, 6, 7},
           {4, 3, 3, 3},
           4,
           Ints("kernels", {3, 3}) + Legacy(2) + Ints("strides", {2, 2})},
          {{1, 3, 6, 7},
           {4, 3, 3, 3},
           4,
           Ints("kernels", {3, 3}) + Legacy(3) + Ints("strides", {2, 2})},
          {{0, 3, 6, 7}, {4, 3, 3, 3}, 4, Ints("kernels", {3, 3})},
          {{2, 7, 9, 3}, {5, 3, 3, 3}, 5, Ints("kernels", {3, 3}) + kLast},
          {{2, 7, 9, 4}, {6, 3, 2, 2}, 6, Ints("kernels", {3, 2}) + Group(2) + kLast},
          {{2, 7, 9, 3},
           {5, 3, 3, 3},
           0,
           Ints("kernels", {3, 3}) + Ints("pads", {1, 0, 0, 2}) + kLast},
      });
}

TEST_P(CudaConvTest, AgreesWithTheCpuOverOneThreeAndFourAxes) {
  ExpectCasesAgree(
      "Conv", {
                  {{2, 3, 11}, {4, 3, 3}, 4, Ints("kernels", {3}) + Ints("strides", {2})},
                  {{2, 11, 3}, {4, 3, 3}, 4, Ints("kernels", {3}) + Ints("pads", {1, 1}) + kLast},
                  {{2, 3, 4, 5, 6},
                   {4, 3, 2, 3, 2},
                   4,
                   Ints("kernels", {2, 3, 2}) + Ints("pads", {1, 1, 0, 1, 1, 0})},
                  {{2, 4, 5, 6, 4},
                   {4, 2, 3, 2, 2},
                   0,
                   Ints("kernels", {2, 3, 2}) + Ints("strides", {1, 2, 1}) + Group(2) + kLast},
                  {{1, 2, 5, 6, 7},
                   {3, 2, 2, 3, 2},
                   3,
                   Ints("kernels", {2, 3, 2}) + Ints("dilations", {3, 2, 4})},
                  {{1, 5, 6, 7, 2},
                   {3, 2, 3, 2, 2},
                   0,
                   Ints("kernels", {2, 3, 2}) + Ints("dilations", {3, 2, 4}) + kLast},
                  {{1, 2, 3, 4, 3, 4},
                   {3, 2, 2, 3, 2, 1},
                   3,
                   Ints("kernels", {2, 3, 2, 1}) + Ints("pads", {1, 0, 1, 0, 0, 2, 1, 0})},
                  {{1, 3, 4, 3, 4, 2},
                   {3, 2, 3, 2, 1, 2},
                   3,
                   Ints("kernels", {2, 3, 2, 1}) + Ints("dilations", {2, 1, 1, 1}) + kLast},
              });
  for (const char* type : {"Conv1D", "Conv2D", "Conv3D"}) {
    EXPECT_TRUE(HasOperator(CUDA, type)) << type;
  }
}

TEST_P(CudaConvTest, TransposesAsTheCpuDoes) {
  const std::string three = Ints("kernels", {3, 3});
  ExpectCasesAgree(
      "ConvTranspose",
      {
          {{2, 3, 5, 4}, {3, 4, 3, 3}, 4, three},
          {{2, 4, 5, 4},
           {4, 3, 3, 2},
           6,
           Ints("kernels", {3, 2}) + Group(2) + Ints("strides", {2, 3})},
          {{2, 3, 5, 4},
           {3, 4, 3, 3},
           4,
           three + Ints("strides", {2, 2}) + Ints("pads", {1, 1, 1, 1}) + Ints("adjs", {1, 1})},
          {{1, 3, 5, 4}, {3, 4, 3, 3}, 0, three + Ints("strides", {2, 2}) + Ints("adjs", {2, 0})},
          {{1, 3, 5, 4},
           {3, 4, 3, 3},
           4,
           three + Ints("strides", {2, 3}) + Ints("pads", {0, 1, 2, 0})},
          {{1, 2, 3, 3}, {2, 4, 1, 1}, 4, Ints("kernels", {1, 1}) + Ints("strides", {3, 2})},
          {{0, 3, 5, 4}, {3, 4, 3, 3}, 4, three},
          {{2, 5, 4, 3}, {3, 3, 3, 4}, 4, three + Ints("strides", {2, 1}) + kLast},
          {{2, 5, 4, 4}, {4, 3, 3, 2}, 4, three + Group(2) + Ints("pads", {1, 0, 1, 2}) + kLast},
      });
}

// Shapes that cuDNN supports as they are, shapes for which X is padded or cropped, and shapes left to
// native kernels.
TEST_P(CudaConvTest, ComputesGradientsAsTheCpuDoes) {
  struct GradientCase {
    const char* type;
    std::vector<int64_t> x, w, dy;
    std::string args;
  };
  const std::string three = Ints("kernels", {3, 3});
  const GradientCase cases[] = {
      {"Conv", {2, 3, 7, 9}, {5, 3, 3, 3}, {2, 5, 5, 7}, three},
      {"Conv",
       {2, 9, 8, 4},
       {6, 3, 3, 2},
       {2, 5, 7, 6},
       three + Group(2) + Ints("strides", {2, 1}) + Ints("pads", {1, 1, 1, 0}) + kLast},
      {"Conv",
       {2, 3, 9, 9},
       {4, 3, 2, 2},
       {2, 4, 5, 7},
       Ints("kernels", {2, 2}) + Ints("pads", {-2, 1, -1, -2})},
      {"Conv", {1, 3, 6, 6}, {4, 3, 3, 3}, {1, 4, 6, 4}, three + Ints("dilations", {0, 1})},
      {"Conv1D", {2, 3, 11}, {4, 3, 3}, {2, 4, 5}, Ints("kernels", {3}) + Ints("strides", {2})},
      {"Conv3D",
       {1, 4, 5, 6, 2},
       {3, 2, 3, 2, 2},
       {1, 4, 3, 5, 3},
       Ints("kernels", {2, 3, 2}) + Ints("pads", {1, 0, 0, 0, 0, 0}) + kLast},
      {"Conv3D",
       {1, 2, 5, 6, 7},
       {3, 2, 2, 3, 2},
       {1, 3, 2, 2, 3},
       Ints("kernels", {2, 3, 2}) + Ints("dilations", {3, 2, 4})},
      {"Conv",
       {1, 2, 3, 4, 3, 4},
       {3, 2, 2, 3, 2, 1},
       {1, 3, 2, 2, 2, 4},
       Ints("kernels", {2, 3, 2, 1})},
      {"ConvTranspose",
       {2, 4, 5, 4},
       {4, 3, 3, 2},
       {2, 6, 11, 11},
       Ints("kernels", {3, 2}) + Group(2) + Ints("strides", {2, 3})},
      {"ConvTranspose",
       {1, 5, 4, 3},
       {3, 3, 3, 4},
       {1, 6, 4, 4},
       three + Ints("pads", {1, 0, 0, 2}) + kLast},
      {"Conv", {40, 1, 16, 16}, {1, 1, 1, 1}, {40, 1, 16, 16}, Ints("kernels", {1, 1})},
  };
  for (const GradientCase& c : cases) {
    SCOPED_TRACE(c.type + c.args);
    Workspace ws;
    FeedRandom(&ws, "X", c.x);
    FeedRandom(&ws, "W", c.w, -1, 1, 2);
    FeedRandom(&ws, "dY", c.dy, -1, 1, 3);
    ExpectDevicesAgree(&ws,
                       std::string("type: \"") + c.type +
                           R"(Gradient" input: "X" input: "W" input: "dY" output: "dW" output: "db"
                              output: "dX")" +
                           c.args,
                       {.tolerance = 1e-4, .engines = {"", "CUDNN", "NATIVE"}});
  }
}

ConvShape Shape(const std::string& args, const std::vector<int64_t>& x, int64_t filters) {
  const OperatorDef def = ParseOp("type: \"Conv\"" + args);
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kConv);
  return {MakeWindowGeometry(window, x), filters, window.group, false};
}

// Tests which shapes cuDNN accepts. For all others, NewCudnnConv returns null and the reason why
// native kernels must be used.
class CudnnConvTest : public OnBothCudnnApis {
 protected:
  void SetUp() override {
    OnDeviceTest::SetUp();
    if (!HasCudnn()) GTEST_SKIP() << CudnnProblem();
  }
  std::string Refusal(const ConvShape& shape, const CudnnConvOptions& options = {}) {
    CUDAContext context(0);
    std::string reason;
    Tensor scratch(CUDA);
    return NewCudnnConv(context, shape, options, &scratch, &reason) != nullptr ? "taken" : reason;
  }
};
INSTANTIATE_TEST_SUITE_P(Api, CudnnConvTest, testing::Bool(), NameOfCudnnApi);

TEST_P(CudnnConvTest, AcceptsWindowsWithEqualPadsOnBothSides) {
  const std::string three = Ints("kernels", {3, 3});
  EXPECT_EQ(Refusal(Shape(three, {2, 3, 7, 9}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(three + kLast, {2, 7, 9, 3}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(Ints("kernels", {3}), {2, 3, 7}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(Ints("kernels", {3, 1, 2}), {2, 3, 7, 4, 3}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(three + Group(3), {2, 3, 7, 9}, 6)), "taken");
  // Padding at the end does not matter if no window reaches it.
  const std::string steps = three + Ints("strides", {2, 2});
  EXPECT_EQ(Refusal(Shape(steps + Ints("pads", {1, 1, 1, 1}), {2, 3, 8, 8}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(steps + Ints("pads", {1, 1, 0, 0}), {2, 3, 8, 8}, 5)), "taken");
}

TEST_P(CudnnConvTest, CopiesXWherePadsDifferOrCrop) {
  const std::string three = Ints("kernels", {3, 3});
  EXPECT_EQ(Refusal(Shape(three + Ints("pads", {0, 1, 1, 1}), {2, 3, 7, 9}, 5)), "taken");
  EXPECT_EQ(Refusal(Shape(three + Ints("pads", {0, -1, 0, -1}), {2, 3, 7, 9}, 5)), "taken");
  ExpectCasesAgree(
      "Conv",
      {
          {{2, 3, 7}, {5, 3, 2}, 5, Ints("kernels", {2}) + Ints("pads", {0, 1})},
          {{2, 7, 4, 5, 3},
           {4, 2, 3, 2, 3},
           4,
           Ints("kernels", {2, 3, 2}) + Ints("pads", {1, -1, 0, 0, 2, 1}) + kLast},
          {{2, 4, 4, 5, 6},
           {4, 2, 2, 3, 2},
           0,
           Ints("kernels", {2, 3, 2}) + Ints("pads", {0, 1, 1, 1, 0, 0}) + Group(2)},
          {{1, 1, 3}, {1, 1, 5}, 0, Ints("kernels", {5}) + Ints("strides", {3}) + Legacy(1)},
      });
}

TEST_P(CudnnConvTest, ReportsWhyItLeavesAShapeToNativeKernels) {
  const std::string three = Ints("kernels", {3, 3});
  EXPECT_EQ(Refusal(Shape(three + Ints("pads", {90, 0, 0, 0}), {2, 3, 7, 9}, 5)),
            "padding makes X more than 4 times as large");
  EXPECT_EQ(Refusal(Shape(three + Ints("dilations", {0, 1}), {2, 3, 7, 9}, 5)),
            "axis 0 has pad 0 and dilation 0, cuDNN supports at least 0 and 1");
  EXPECT_EQ(Refusal(Shape(Ints("kernels", {1, 1, 1, 1}), {2, 3, 2, 2, 2, 2}, 5)),
            "number of axes is 4, cuDNN supports 1 to 3");
  EXPECT_EQ(Refusal(Shape(Ints("kernels", {1, 1}), {64, 3, 1 << 13, 1 << 12}, 5)),
            "cuDNN supports fewer than 2^31 elements");
  EXPECT_EQ(Refusal(Shape(Ints("kernels", {1, 1}), {1, 3, 1 << 13, 1 << 12}, 64)),
            "cuDNN supports fewer than 2^31 elements");
}

TEST_P(CudnnConvTest, KeepsToTheLimitOfTheWorkspaceAndToAForcedAlgorithm) {
  const ConvShape shape = Shape(Ints("kernels", {3, 3}), {2, 3, 7, 9}, 5);
  EXPECT_EQ(Refusal(shape, {.workspace_limit_bytes = 0}), "taken");
  EXPECT_EQ(Refusal(shape, {.workspace_limit_bytes = 0, .algorithm = 0}), "taken");
  EXPECT_EQ(Refusal(shape, {.algorithm = 2}), "taken");
  ExpectThrows([&] { Refusal(shape, {.algorithm = 99}); }, "force_algo");
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "the workspaces are those of the fake CUDA";
  // There, algorithm 2 builds columns in a workspace.
  EXPECT_EQ(Refusal(shape, {.workspace_limit_bytes = 0, .algorithm = 2}),
            "algorithm 2 does not support this shape with 0 bytes of workspace");
}

TEST_P(CudnnConvTest, UsesDeterministicAlgorithmsForGradients) {
  CUDAContext context(0);
  Tensor scratch(CUDA);
  const auto refusal = [&](const auto& shape, const CudnnConvOptions& options) {
    std::string reason;
    return NewCudnnConv(context, shape, options, &scratch, &reason) != nullptr ? "taken" : reason;
  };
  const ConvShape shape = Shape(Ints("kernels", {3, 3}), {2, 3, 7, 9}, 5);
  const CudnnConvOptions forced{.workspace_limit_bytes = 0, .deterministic = true, .algorithm = 0};
  EXPECT_EQ(refusal(ConvFilterGradientShape{shape}, forced), "taken");
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "the workspaces are those of the fake CUDA";
  // There, all deterministic algorithms of both gradients need a workspace.
  for (const bool deterministic : {false, true}) {
    const CudnnConvOptions options{.workspace_limit_bytes = 0, .deterministic = deterministic};
    const auto want = testing::StartsWith(deterministic ? "none of" : "taken");
    EXPECT_THAT(refusal(ConvFilterGradientShape{shape}, options), want);
    EXPECT_THAT(refusal(ConvDataGradientShape{shape}, options), want);
  }
  // A transposed convolution is a data gradient, but uses the argument.
  const ConvTransposeShape transposed = Transposed(shape);
  for (const bool deterministic : {false, true}) {
    EXPECT_THAT(refusal(transposed, {.workspace_limit_bytes = 0, .deterministic = deterministic}),
                testing::StartsWith(deterministic ? "none of" : "taken"));
  }
}

TEST_P(CudnnConvTest, ReadsTheArgumentsOfTheOriginal) {
  constexpr auto kForward = ConvDirection::kForward, kData = ConvDirection::kDataGradient,
                 kFilter = ConvDirection::kFilterGradient;
  const auto read = [](const std::string& args, ConvDirection direction) {
    const OperatorDef def = ParseOp("type: \"Conv\"" + args);
    return CudnnConvOptions::Read(ArgumentHelper(def), direction);
  };
  EXPECT_EQ(read("", kForward).workspace_limit_bytes, std::nullopt);
  EXPECT_EQ(read("", kForward).algorithm, -1);
  EXPECT_EQ(read(R"( arg { name: "ws_nbytes_limit" i: 1000 })", kForward).workspace_limit_bytes,
            1000u);
  EXPECT_TRUE(read(R"( arg { name: "exhaustive_search" i: 1 })", kForward).exhaustive_search);
  EXPECT_TRUE(read(R"( arg { name: "deterministic" i: 1 })", kForward).deterministic);
  EXPECT_EQ(read(Ints("force_algo", {1, 2, 3}), kForward).algorithm, 1);
  EXPECT_EQ(read(Ints("force_algo", {1, 2, 3}), kFilter).algorithm, 2);
  EXPECT_EQ(read(Ints("force_algo", {1, 2, 3}), kData).algorithm, 3);
  EXPECT_EQ(read(R"( arg { name: "force_algo_fwd" i: 4 })", kForward).algorithm, 4);
  EXPECT_EQ(read(R"( arg { name: "force_algo_dgrad" i: 5 })", kData).algorithm, 5);
  EXPECT_EQ(read(R"( arg { name: "force_algo_wgrad" i: 6 })", kFilter).algorithm, 6);
  ExpectThrows([&] { read(Ints("force_algo", {1}), kForward); },
               R"(argument "force_algo" is [1], want three numbers)");
  ExpectThrows([&] { read(R"( arg { name: "ws_nbytes_limit" i: -2 })", kForward); },
               R"(argument "ws_nbytes_limit" is -2, want -1 or more bytes)");
}

TEST_P(CudnnConvTest, GivesTheSameWhateverAlgorithmIsChosen) {
  const std::string three = Ints("kernels", {3, 3});
  std::vector<std::string> choices = {R"( arg { name: "exhaustive_search" i: 1 })",
                                      R"( arg { name: "deterministic" i: 1 })",
                                      R"( arg { name: "ws_nbytes_limit" i: 0 })"};
  for (const int algorithm : {0, 1, 2}) {
    choices.push_back(Ints("force_algo", {algorithm, 0, algorithm % 2}));
  }
  for (const std::string& choice : choices) {
    ExpectCasesAgree("Conv", {{{2, 3, 7, 9}, {5, 3, 3, 3}, 5, three + choice},
                              {{2, 3, 7, 9}, {5, 3, 3, 3}, 0, three + choice}});
    ExpectCasesAgree("ConvTranspose", {{{2, 3, 5, 4}, {3, 4, 3, 3}, 4, three + choice}});
  }
}

// A simulated library that accepts shapes with even numbers, and fails at run time if the number is
// divisible by four.
struct LibraryShape {
  int number = 0;
  bool operator==(const LibraryShape&) const = default;
};
struct Tally {
  int made = 0, by_cudnn = 0, native = 0;
};
Tally& TheTally() {
  static Tally tally;
  return tally;
}
class CountingPlan final : public CudaConvPlan {
 public:
  explicit CountingPlan(bool refuses) : refuses_(refuses) {}
  bool Run(CUDAContext&, const float*, const float*, const float*, float*,
           std::string* reason) override {
    if (refuses_) {
      *reason = "not after all";
      return false;
    }
    ++TheTally().by_cudnn;
    return true;
  }

 private:
  const bool refuses_;
};
std::unique_ptr<CudaConvPlan> NewCudnnConv(CUDAContext&, const LibraryShape& shape,
                                           const CudnnConvOptions&, Tensor*, std::string* reason) {
  ++TheTally().made;
  *reason = "odd";
  if (shape.number % 2 != 0) return nullptr;
  return std::make_unique<CountingPlan>(shape.number % 4 == 0);
}
void RunNative(CUDAContext&, const LibraryShape&, const float*, const float*, const float*,
               float*) {
  ++TheTally().native;
}

TEST_P(CudnnConvTest, IsAskedOnceForAShapeAndReplacedIfItRejectsIt) {
  TheTally() = Tally();
  Workspace ws;
  CUDAContext context(0);
  const std::unique_ptr<OperatorBase> op = CreateOperator(
      ParseOp(R"(type: "Relu" input: "X" output: "Y")"), (FeedRandom(&ws, "X", {1}), &ws));
  CudaConv<LibraryShape, CudaEngine::kAny> conv(*op);
  const float* const none = nullptr;
  for (int round = 0; round < 3; ++round) {
    for (const int number : {1, 2, 4}) {
      conv.Plan({number});
      for (int run = 0; run < 5; ++run) conv.Run(context, none, none, none, nullptr);
    }
  }
  EXPECT_EQ(TheTally().made, 3);
  EXPECT_EQ(TheTally().by_cudnn, 15);
  EXPECT_EQ(TheTally().native, 30);
  // Plans depend on the precision. Those of both are kept.
  conv.Plan({2});
  for (const bool allow_tf32 : {true, false, true}) {
    GlobalCudaLibraryOptions().allow_tf32 = allow_tf32;
    conv.Run(context, none, none, none, nullptr);
    EXPECT_EQ(TheTally().made, 4);
  }
  GlobalCudaLibraryOptions().allow_tf32 = false;
  TheTally().by_cudnn -= 3;
  // More shapes than the operator keeps plans for.
  for (int number = 2; number < 1000; number += 4) {
    conv.Plan({number});
    conv.Run(context, none, none, none, nullptr);
  }
  EXPECT_EQ(TheTally().by_cudnn, 15 + 250);
}

// Two shapes that alternate, as in a net whose last batch is smaller.
TEST_P(CudaConvTest, AllocatesNothingOnceItHasSeenTheShapes) {
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "calls are counted by the fake CUDA";
  for (const char* engine : {"CUDNN", "NATIVE"}) {
    Workspace cpu, ws;
    Tensor inputs[2] = {Tensor(CUDA), Tensor(CUDA)};
    for (const int64_t batch : {1, 2}) {
      inputs[batch - 1].CopyFrom(*FeedRandom(&cpu, "X", {batch, 3, 7, 9}));
    }
    for (const auto& [name, dims] : std::vector<std::pair<const char*, std::vector<int64_t>>>{
             {"W", {5, 3, 3, 3}}, {"b", {5}}, {"X", {1, 3, 7, 9}}}) {
      ws.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(*FeedRandom(&cpu, name, dims));
    }
    OperatorDef def = ParseOp(R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y"
                                 arg { name: "kernel" i: 3 } device_option { device_type: 1 })");
    def.set_engine(engine);
    const std::unique_ptr<OperatorBase> conv = CreateOperator(def, &ws);
    Tensor* const X = ws.GetBlob("X")->GetMutableTensor(CUDA);
    const auto run = [&](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        X->ResizeLike(inputs[i % 2]);
        X->ShareData(inputs[i % 2]);
        ASSERT_TRUE(conv->Run());
      }
    };
    run(4);
    const auto calls = [] {
      long sum = 0;
      for (const char* name : {"cudaMalloc", "cudaFree", "cudaMallocAsync", "cudaFreeAsync",
                               "cudaMallocHost", "cudaHostAlloc", "cudaEventCreateWithFlags"}) {
        sum += fakecuda_calls(name);
      }
      return sum;
    };
    const long before = calls();
    EXPECT_GT(before, 0);
    run(4);
    EXPECT_EQ(calls(), before) << engine;
  }
}

}  // namespace
}  // namespace caffe2rt::test::cuda_conv_test
