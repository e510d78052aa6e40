#include <sstream>
#include <tuple>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/conv/conv_gradient_kernel.h"
#include "operators/primitives/onednn_program.h"
#include "operators/primitives/scratch.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_gradient_test {

namespace {

// "kernels: 3,2 group: 2 order: NHWC" as arguments of an operator.
std::string WindowArgs(const std::string& text) {
  std::string args;
  std::istringstream words(text);
  for (std::string name, value; words >> name >> value;) {
    name.pop_back();
    args += " arg { name: \"" + name + "\"";
    std::istringstream values(value);
    for (std::string one; std::getline(values, one, ',');) {
      args +=
          name == "order" ? " s: \"" + one + "\"" : (name.back() == 's' ? " ints: " : " i: ") + one;
    }
    args += " }";
  }
  return args;
}

// W is [1, 2; 3, 4], and each element of dY has its own decimal place.
TEST(ConvGradientTest, AddsWhatEachWindowContributes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 3}, 1);
  FeedRange<float>(&ws, "W", {1, 1, 2, 2}, 1);
  Feed<float>(&ws, "dY", {1, 1, 2, 2}, {1, 10, 100, 1000});
  const std::string op =
      R"(type: "ConvGradient" input: "X" input: "W" input: "dY" arg { name: "kernel" i: 2 })";
  const std::vector<float> dw = {5421, 6532, 8754, 9865};
  const std::vector<float> dx = {1, 12, 20, 103, 1234, 2040, 300, 3400, 4000};
  const std::string all = op + R"( output: "dW" output: "db" output: "dX")";
  RunOp(&ws, all);
  ExpectTensor<float>(ws, "dW", {1, 1, 2, 2}, dw);
  ExpectTensor<float>(ws, "db", {1}, {1111});
  ExpectTensor<float>(ws, "dX", {1, 1, 3, 3}, dx);
  ExpectShapeInferred(&ws, all);

  Workspace others;
  for (const char* name : {"X", "W", "dY"}) {
    others.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(ws.GetBlob(name)->Get<Tensor>());
  }
  const std::string without = op + R"( arg { name: "no_bias" i: 1 } output: "dW2" output: "dX2")";
  RunOp(&others, without);
  ExpectTensor<float>(others, "dW2", {1, 1, 2, 2}, dw);
  ExpectTensor<float>(others, "dX2", {1, 1, 3, 3}, dx);
  ExpectShapeInferred(&others, without);
  RunOp(&others, op + R"( output: "dW3" output: "db3")");
  ExpectTensor<float>(others, "dW3", {1, 1, 2, 2}, dw);
  ExpectTensor<float>(others, "db3", {1}, {1111});
  RunOp(&others, op + R"( arg { name: "no_bias" i: 1 } output: "dW4")");
  ExpectTensor<float>(others, "dW4", {1, 1, 2, 2}, dw);
}

TEST(ConvTransposeGradientTest, AddsWhatEachPixelContributes) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 2}, {1, 10});
  Feed<float>(&ws, "W", {1, 1, 1, 2}, {1, 2});
  Feed<float>(&ws, "dY", {1, 1, 1, 3}, {1, 10, 100});
  const std::string op = R"(type: "ConvTransposeGradient" input: "X" input: "W" input: "dY"
      output: "dW" output: "db" output: "dX" arg { name: "kernels" ints: 1 ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dW", {1, 1, 1, 2}, {101, 1010});
  ExpectTensor<float>(ws, "db", {1}, {111});
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 2}, {21, 210});
  ExpectShapeInferred(&ws, op);
}

TEST(ConvTransposeGradientTest, InfersAllChannelsOfGroups) {
  Workspace ws;
  for (const bool last : {false, true}) {
    FeedRandom(&ws, "X",
               last ? std::vector<int64_t>{2, 3, 3, 4} : std::vector<int64_t>{2, 4, 3, 3});
    FeedRandom(&ws, "W",
               last ? std::vector<int64_t>{4, 2, 2, 3} : std::vector<int64_t>{4, 3, 2, 2});
    FeedRandom(&ws, "dY",
               last ? std::vector<int64_t>{2, 4, 4, 6} : std::vector<int64_t>{2, 6, 4, 4});
    ExpectShapeInferred(&ws, MakeString(R"(type: "ConvTransposeGradient" input: "X" input: "W"
        input: "dY" output: "dW" output: "db" output: "dX" arg { name: "kernel" i: 2 }
        arg { name: "group" i: 2 } arg { name: "order" s: ")",
                                        last ? "NHWC" : "NCHW", R"(" })"));
    EXPECT_EQ(DimsOf(ws, "db"), std::vector<int64_t>{6});
  }
}

TEST(ConvGradientTest, IsZeroForAnEmptyBatch) {
  for (const auto& [type, filter, dy] :
       std::vector<std::tuple<const char*, std::vector<int64_t>, std::vector<int64_t>>>{
           {"ConvGradient", {4, 2, 3, 3}, {0, 4, 3, 3}},
           {"ConvTransposeGradient", {2, 4, 3, 3}, {0, 4, 7, 7}}}) {
    Workspace ws;
    Feed<float>(&ws, "X", {0, 2, 5, 5}, {});
    FeedRandom(&ws, "W", filter);
    Feed<float>(&ws, "dY", dy, {});
    const std::string op = MakeString("type: \"", type, R"(" input: "X" input: "W" input: "dY"
        output: "dW" output: "db" output: "dX" arg { name: "kernel" i: 3 })");
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "dW", filter, std::vector<float>(72, 0.f));
    ExpectTensor<float>(ws, "db", {4}, {0, 0, 0, 0});
    ExpectTensor<float>(ws, "dX", {0, 2, 5, 5}, {});
    ExpectShapeInferred(&ws, op);
  }
}

// Without output channels nothing depends on X.
TEST(ConvGradientTest, IsZeroWithoutOutputChannels) {
  for (const bool last : {false, true}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(MakeString(last ? "NHWC" : "NCHW", transposed ? ", transposed" : ""));
      const std::vector<int64_t> x =
          last ? std::vector<int64_t>{2, 4, 4, 3} : std::vector<int64_t>{2, 3, 4, 4};
      const int64_t size = transposed ? 6 : 2;
      Workspace ws;
      FeedRandom(&ws, "X", x);
      FeedRandom(&ws, "dX", x);
      const std::vector<int64_t> filter = !transposed ? std::vector<int64_t>{0, 3, 3, 3}
                                          : last      ? std::vector<int64_t>{3, 3, 3, 0}
                                                      : std::vector<int64_t>{3, 0, 3, 3};
      Feed<float>(&ws, "W", filter, {});
      Feed<float>(
          &ws, "dY",
          last ? std::vector<int64_t>{2, size, size, 0} : std::vector<int64_t>{2, 0, size, size},
          {});
      RunOp(&ws, MakeString("type: \"", transposed ? "ConvTransposeGradient" : "ConvGradient",
                            R"(" input: "X" input: "W" input: "dY" output: "dW" output: "db"
                            output: "dX" arg { name: "kernel" i: 3 } arg { name: "order" s: ")",
                            last ? "NHWC" : "NCHW", "\" }"));
      ExpectTensor<float>(ws, "dX", x, std::vector<float>(96, 0.f));
      ExpectTensor<float>(ws, "dW", filter, {});
      ExpectTensor<float>(ws, "db", {0}, {});
    }
  }
}

// A net may run with batches of other sizes, empty ones included, in between.
TEST(ConvGradientTest, FollowsTheShapesOfItsInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "W", {1, 1, 1, 1}, 2);
  const auto op = [&] {
    return CreateOperator(ParseOp(R"(type: "ConvGradient" input: "X" input: "W" input: "dY"
        output: "dW" output: "dX" arg { name: "kernel" i: 1 } arg { name: "no_bias" i: 1 })"),
                          &ws);
  };
  FeedRange<float>(&ws, "X", {1, 1, 1, 2}, 1);
  FeedRange<float>(&ws, "dY", {1, 1, 1, 2}, 1);
  const std::unique_ptr<OperatorBase> gradient = op();
  for (const int64_t batch : {1, 0, 2, 1}) {
    FeedRange<float>(&ws, "X", {batch, 1, 1, 2}, 1);
    FeedRange<float>(&ws, "dY", {batch, 1, 1, 2}, 1);
    ASSERT_TRUE(gradient->Run());
    ExpectTensor<float>(ws, "dW", {1, 1, 1, 1}, {batch == 0 ? 0.f : batch == 1 ? 5.f : 30.f});
    EXPECT_EQ(DimsOf(ws, "dX"), (std::vector<int64_t>{batch, 1, 1, 2}));
  }
  FeedRange<float>(&ws, "dY", {0, 1, 1, 2}, 1);
  ExpectThrows([&] { gradient->Run(); }, "input 2 (dY) has shape");
  FeedRange<float>(&ws, "dY", {1, 1, 1, 2}, 1);
  ASSERT_TRUE(gradient->Run());
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 2}, {2, 4});
}

TEST(ConvGradientTest, IsTheDerivative) {
  struct Derivative {
    const char* type;
    std::vector<int64_t> x, w;
    int64_t bias;  // 0: no bias
    const char* args;
  };
  const Derivative derivatives[] = {
      {"Conv", {2, 2, 3, 3}, {2, 2, 2, 2}, 2, "kernels: 2,2"},
      {"Conv", {1, 4, 3, 2}, {2, 2, 1, 1}, 2, "kernels: 1,1 group: 2"},
      {"Conv", {1, 2, 2, 4}, {2, 1, 1, 2}, 2, "kernels: 1,1 group: 2 order: NHWC"},
      {"Conv", {1, 2, 3, 4}, {2, 1, 2, 3}, 2, "kernels: 2,3 strides: 2,1 pads: 1,0,0,2 group: 2"},
      {"Conv", {1, 5, 3, 2}, {2, 3, 2, 2}, 0, "kernels: 3,2 dilations: 2,1 order: NHWC"},
      {"Conv", {1, 5, 4, 1}, {2, 2, 2, 1}, 0, "kernels: 2,2 pads: -1,1,0,-1 order: NHWC"},
      {"Conv", {1, 1, 4, 5}, {2, 1, 3, 3}, 2, "kernels: 3,3 strides: 2,2 legacy_pad: 2"},
      {"Conv", {1, 1, 4, 5}, {2, 1, 3, 3}, 2, "kernels: 3,3 strides: 2,2 legacy_pad: 3"},
      {"Conv1D", {2, 2, 5}, {2, 2, 3}, 2, "kernels: 3 strides: 2 pads: 1,2"},
      {"Conv3D", {1, 1, 2, 3, 2}, {2, 1, 2, 1, 2}, 2, "kernels: 2,1,2 pads: 1,0,0,0,0,1"},
      {"Conv3D", {1, 2, 3, 2, 2}, {2, 2, 2, 1, 2}, 2, "kernels: 2,2,1 order: NHWC"},
      {"ConvTranspose", {1, 2, 2, 3}, {2, 2, 3, 2}, 2, "kernels: 3,2 strides: 2,1 adjs: 1,0"},
      {"ConvTranspose", {1, 2, 3, 2}, {2, 2, 2, 2}, 0, "kernels: 2,2 pads: 1,0,0,1 order: NHWC"},
      {"ConvTranspose", {1, 2, 2, 2}, {2, 2, 2, 2}, 4, "kernels: 2,2 strides: 3,2 group: 2"},
  };
  for (const Derivative& d : derivatives) {
    SCOPED_TRACE(MakeString(d.type, " ", d.args));
    Workspace ws;
    FeedRandom(&ws, "X", d.x);
    FeedRandom(&ws, "W", d.w, -1, 1, 2);
    std::string op = MakeString("type: \"", d.type, R"(" input: "X" input: "W" output: "Y")");
    if (d.bias > 0) {
      FeedRandom(&ws, "b", {d.bias}, -1, 1, 3);
      op += R"( input: "b")";
    }
    ExpectGradientMatches(&ws, op + WindowArgs(d.args));
  }
}

TEST(ConvGradientTest, IsNamedAfterTheForwardOperator) {
  EXPECT_EQ(DescribeGradient(R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y"
                                arg { name: "kernel" i: 3 })"),
            "ConvGradient(X,W,Y_grad)->W_grad,b_grad,X_grad kernel=3 | X_grad W_grad b_grad");
  EXPECT_EQ(DescribeGradient(R"(type: "ConvTranspose" input: "X" input: "W" output: "Y")"),
            "ConvTransposeGradient(X,W,Y_grad)->W_grad,X_grad no_bias=1 | X_grad W_grad");
  EXPECT_EQ(DescribeGradient(R"(type: "Conv" input: "X" input: "W" input: "b" output: "Y"
                                arg { name: "no_gradient_to_input" i: 1 })"),
            "ConvGradient(X,W,Y_grad)->W_grad,b_grad no_gradient_to_input=1 | - W_grad b_grad");
}

TEST(ConvGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 4, 4});
  FeedRandom(&ws, "W", {3, 2, 3, 3});
  FeedRandom(&ws, "dY", {1, 3, 2, 2});
  Feed<double>(&ws, "D", {1, 3, 2, 2}, std::vector<double>(12, 0.0));
  struct Wrong {
    const char* rest;
    const char* text;
  };
  const Wrong wrongs[] = {
      {R"(input: "X" output: "dW" output: "db" output: "dX")",
       "input 2 (dY) has shape [1, 2, 4, 4], want [1, 3, 2, 2]: the shape of the output"},
      {R"(input: "D" output: "dW" output: "db" output: "dX")", "float"},
      {R"(output: "dW" output: "db" output: "dX")", "number of inputs, want X, filter and dY"},
      {R"(input: "dY" output: "dW")", "number of outputs is 1, want 2 or 3 without no_bias"},
      {R"(input: "dY" output: "dW" output: "db" output: "dX" arg { name: "no_bias" i: 1 })",
       "number of outputs is 3, want 1 or 2 with no_bias"},
      {R"(input: "dY" output: "dW" output: "db" arg { name: "group" i: 2 })",
       "channels of input 1 (filter)"},
  };
  for (const Wrong& wrong : wrongs) {
    ExpectThrows(
        [&] {
          RunOp(&ws, MakeString(R"(type: "ConvGradient" input: "X" input: "W" )", wrong.rest,
                                R"( arg { name: "kernel" i: 3 })"));
        },
        wrong.text);
  }
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ConvTransposeGradient" input: "X" input: "W" input: "dY" output: "dW"
                      output: "db" arg { name: "kernel" i: 3 })");
      },
      "dim 0 of input 1 (filter)");
}

void ExpectNear(const char* name, const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 5e-4) << name << i;
}

TEST(ConvGradientKernelTest, GivesTheValuesOfTheDefinition) {
  int by_onednn = 0;
  for (const NaiveImage& p : kConvImages) {
    SCOPED_TRACE(&p - kConvImages);
    const auto x = RandomValues(p.batch * p.channels * p.height * p.width, -1, 1, 1);
    const auto filter =
        RandomValues(p.filters * p.channels / p.group * p.kernel_h * p.kernel_w, -1, 1, 2);
    const auto dy = RandomValues(p.batch * p.filters * p.out_h() * p.out_w(), -1, 1, 3);
    const NaiveGradients want = NaiveConvGradients(p, x, filter, dy);
    for (const ConvGradientAlgorithm algorithm : kAllConvGradientAlgorithms) {
      for (const ConvGradientParts parts :
           {ConvGradientParts{true, true}, ConvGradientParts{true, false},
            ConvGradientParts{false, true}}) {
        const auto kernel = NewConvGradientKernel(algorithm, ShapeOf(p, false), parts);
        if (kernel == nullptr) continue;
        by_onednn += algorithm == ConvGradientAlgorithm::kOnednn;
        std::vector<float> dfilter(filter.size(), -77.f), dx(x.size(), -77.f);
        ThreadScratch scratch;
        for (int run = 0; run < 2; ++run) {
          kernel->Run(x.data(), filter.data(), dy.data(), parts.filter ? dfilter.data() : nullptr,
                      parts.x ? dx.data() : nullptr, scratch.Floats(kernel->ScratchSize()));
        }
        if (parts.filter) ExpectNear("dfilter ", dfilter, want.filter);
        if (parts.x) ExpectNear("dx ", dx, want.x);
      }
    }
  }
  if (by_onednn == 0) GTEST_SKIP() << "this machine has no gradients by oneDNN";
}

// Shapes for which gradients by oneDNN 2.6 are wrong, or write beyond their memory.
TEST(ConvGradientKernelTest, UsesOnednnOnlyWhereItIsReliable) {
  const auto by_onednn = [](const NaiveImage& p) {
    return NewConvGradientKernel(ConvGradientAlgorithm::kOnednn, ShapeOf(p, false),
                                 {.filter = true, .x = true}) != nullptr;
  };
  NaiveImage p{.batch = 1,
               .channels = 16,
               .height = 12,
               .width = 12,
               .filters = 16,
               .kernel_h = 3,
               .kernel_w = 3,
               .top = 1,
               .left = 1,
               .bottom = 1,
               .right = 1};
  if (!by_onednn(p)) GTEST_SKIP() << "this machine has no gradients by oneDNN";
  p.top = 2;
  EXPECT_FALSE(by_onednn(p)) << "wide padding";
  p.top = 1;
  p.right = 2;
  EXPECT_FALSE(by_onednn(p)) << "wide padding at the end";
  p.right = 1;
  p.height = 2;
  EXPECT_FALSE(by_onednn(p)) << "windows larger than X";
  p = {.batch = 1,
       .channels = 16,
       .height = 12,
       .width = 12,
       .filters = 16,
       .kernel_h = 1,
       .kernel_w = 1,
       .stride_h = 2,
       .stride_w = 2};
  EXPECT_FALSE(by_onednn(p)) << "windows of one pixel";
}

TEST(ConvGradientKernelTest, LeavesGemmOnColumnsToItsOwnKernels) {
  struct Row {
    const char* name;
    bool is_gemm;
  };
  for (const Row& row : {Row{"x64:gemm:jit", true},
                         {"gemm:ref", true},
                         {"gemm:jit", true},
                         {"x64:gemm_s8u8s32:jit", false},
                         {"brgemm_bwd_w:avx512_core", false},
                         {"jit:avx512_core", false},
                         {"", false}}) {
    EXPECT_EQ(IsGemmImplementation(row.name), row.is_gemm) << row.name;
  }
  // Version 2.6 has only GEMM for groups of so few channels, on x86-64 with any instructions.
  const NaiveImage p{.batch = 1,
                     .channels = 6,
                     .height = 12,
                     .width = 12,
                     .filters = 10,
                     .kernel_h = 3,
                     .kernel_w = 3,
                     .top = 1,
                     .left = 1,
                     .bottom = 1,
                     .right = 1,
                     .group = 2};
  for (const ConvGradientParts parts :
       {ConvGradientParts{true, true}, ConvGradientParts{true, false},
        ConvGradientParts{false, true}}) {
    EXPECT_EQ(NewConvGradientKernel(ConvGradientAlgorithm::kOnednn, ShapeOf(p, false), parts),
              nullptr);
  }
}

// The batch is divided into pieces, but each image of its own is not.
TEST(ConvGradientTest, GivesTheSameOnAnyNumberOfThreads) {
  constexpr int64_t kImages = 4;
  const std::string args = R"( output: "dW" output: "db" output: "dX"
                               arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 })";
  Workspace ws;
  FeedRandom(&ws, "X", {kImages, 32, 32, 32});
  FeedRandom(&ws, "W", {32, 32, 3, 3}, -1, 1, 2);
  FeedRandom(&ws, "dY", {kImages, 32, 32, 32}, -1, 1, 3);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    const auto op = CreateOperator(
        ParseOp(R"(type: "ConvGradient" input: "X" input: "W" input: "dY")" + args), &ws);
    ASSERT_TRUE(op->Run());
    SetNumThreads(1);
    for (const char* name : {"dW", "db", "dX"}) results.push_back(Fetch<float>(ws, name));
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(results[i], results[i + 3]);

  std::vector<double> dw(results[0].size()), db(results[1].size());
  const std::vector<float> x = Fetch<float>(ws, "X"), dy = Fetch<float>(ws, "dY");
  const auto size = static_cast<std::ptrdiff_t>(x.size() / kImages);
  for (std::ptrdiff_t image = 0; image < kImages; ++image) {
    Feed<float>(&ws, "X", {1, 32, 32, 32},
                {x.begin() + image * size, x.begin() + (image + 1) * size});
    Feed<float>(&ws, "dY", {1, 32, 32, 32},
                {dy.begin() + image * size, dy.begin() + (image + 1) * size});
    const auto op = CreateOperator(
        ParseOp(R"(type: "ConvGradient" input: "X" input: "W" input: "dY")" + args), &ws);
    ASSERT_TRUE(op->Run());
    const std::vector<float> one_dw = Fetch<float>(ws, "dW"), one_db = Fetch<float>(ws, "db");
    for (size_t i = 0; i < dw.size(); ++i) dw[i] += one_dw[i];
    for (size_t i = 0; i < db.size(); ++i) db[i] += one_db[i];
  }
  for (size_t i = 0; i < dw.size(); ++i) ASSERT_NEAR(results[0][i], dw[i], 1e-3);
  for (size_t i = 0; i < db.size(); ++i) ASSERT_NEAR(results[1][i], db[i], 1e-3);
}

// One shape for each algorithm, and a transposed convolution. Allocations by oneDNN are counted
// separately.
TEST(ConvGradientTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer counts allocations here";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 16, 12, 12});
  FeedRandom(&ws, "W1", {16, 16, 1, 1});
  FeedRandom(&ws, "W3", {16, 16, 3, 3});
  FeedRandom(&ws, "W12", {2, 16, 12, 12});
  FeedRandom(&ws, "D3", {2, 16, 10, 10});
  FeedRandom(&ws, "D12", {2, 2, 1, 1});
  FeedRandom(&ws, "X20", {1, 20, 12, 12});
  FeedRandom(&ws, "W20", {18, 20, 3, 3});
  FeedRandom(&ws, "D20", {1, 18, 10, 10});
  FeedRandom(&ws, "D14", {2, 16, 14, 14});
  NetBase* net = ws.CreateNet(ParseNet(R"(name: "n"
      op { type: "ConvGradient" input: "X" input: "W1" input: "X" output: "a" output: "b" output: "c"
           arg { name: "kernel" i: 1 } }
      op { type: "ConvGradient" input: "X" input: "W3" input: "D3" output: "d" output: "e"
           output: "f" arg { name: "kernel" i: 3 } }
      op { type: "ConvGradient" input: "X" input: "W12" input: "D12" output: "g" output: "h"
           output: "i" arg { name: "kernel" i: 12 } }
      op { type: "ConvGradient" input: "X20" input: "W20" input: "D20" output: "m" output: "n"
           output: "o" arg { name: "kernel" i: 3 } }
      op { type: "ConvTransposeGradient" input: "X" input: "W3" input: "D14" output: "j" output: "k"
           output: "l" arg { name: "kernel" i: 3 } })"));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::test::conv_gradient_test
