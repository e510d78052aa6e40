// FC with weights in bf16 and bytes: FCFusion with `precision`, and the choice of a precision.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/reduced_gemm.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::fc_precision_test {
namespace {

std::string OpText(const std::string& precision, const std::string& arguments = "") {
  return MakeString(R"(type: "FCFusion" input: "X" input: "W" input: "b" output: "Y"
                       arg { name: "precision" s: ")",
                    precision, "\" } ", arguments);
}

// Numbers that bytes and bf16 represent exactly: rows of X have the range -1 to 254, in steps of 1, and
// columns of W the magnitude 127.
void FeedExactNumbers(Workspace* ws) {
  Feed<float>(ws, "X", {2, 3}, {-1, 254, 2, 254, -1, 100});
  Feed<float>(ws, "W", {2, 3}, {127, 1, -2, -127, 3, 5});
  Feed<float>(ws, "b", {2}, {0.5f, -1});
}

TEST(FCPrecisionTest, NumbersThatBytesRepresentGiveTheExactProduct) {
  for (const char* const precision : {"int8", "f32"}) {
    SCOPED_TRACE(precision);
    Workspace ws;
    FeedExactNumbers(&ws);
    RunOp(&ws, OpText(precision));
    // -127 + 254 - 4 + .5, 127 + 762 + 10 - 1, 32258 - 1 - 200 + .5, -32258 - 3 + 500 - 1
    ExpectTensor<float>(ws, "Y", {2, 2}, {123.5f, 898, 32057.5f, -31762}, 2e-3);
  }
}

// 129 and 257 have 8 and 9 bits: bf16 keeps the first and rounds the second to 256.
TEST(FCPrecisionTest, RoundsXAndWeightsToBf16) {
  if (!WhyNoBf16Products().empty()) GTEST_SKIP() << WhyNoBf16Products();
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {129, 257});
  Feed<float>(&ws, "W", {2, 2}, {1, 0, 257, 1});
  Feed<float>(&ws, "b", {2}, {0, 0.25f});
  RunOp(&ws, OpText("bf16"));
  ExpectTensor<float>(ws, "Y", {1, 2}, {129, 129 * 256 + 256 + 0.25f}, 0);
}

// Rows of bytes are quantized one by one: a large row does not make the others coarse.
TEST(FCPrecisionTest, EachRowHasItsOwnScale) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {255e6f, 0, 255, 1});
  Feed<float>(&ws, "W", {1, 2}, {127, 127});
  Feed<float>(&ws, "b", {1}, {0});
  RunOp(&ws, OpText("int8"));
  ExpectTensor<float>(ws, "Y", {2, 1}, {255e6f * 127, 256 * 127}, 1e-5);
}

TEST(FCPrecisionTest, RowsThatAreNotFiniteBecomeNaNAlone) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Workspace ws;
    FeedExactNumbers(&ws);
    ws.GetBlob("X")->GetMutable<Tensor>()->mutable_data<float>()[1] = bad;
    RunOp(&ws, OpText("int8"));
    const auto y = Fetch<float>(ws, "Y");
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_NEAR(y[2], 32057.5f, 1e-3);
    EXPECT_NEAR(y[3], -31762, 1e-3);
  }
}

TEST(FCPrecisionTest, ThreadsAndBatchesDoNotChangeBytes) {
  for (const char* const precision : {"int8", "bf16"}) {
    if (!WhyNoProductsIn(ParsePrecision(precision)).empty())
      continue;  // the bytes of float depend on M
    SCOPED_TRACE(precision);
    Workspace ws;
    FeedRandom(&ws, "X", {3, 41, 96}, -1, 1, 1);
    FeedRandom(&ws, "W", {133, 96}, -1, 1, 2);
    FeedRandom(&ws, "b", {133}, -1, 1, 3);
    const auto x = Fetch<float>(ws, "X");
    const std::string op = OpText(precision, R"(arg { name: "axis" i: -1 }
                                                arg { name: "activation" s: "Gelu" })");
    RunOp(&ws, op);
    const auto want = Fetch<float>(ws, "Y");
    for (const int threads : {2, 3}) {
      SetNumThreads(threads);
      RunOp(&ws, op);
      SetNumThreads(1);
      EXPECT_EQ(Fetch<float>(ws, "Y"), want);
    }
    Feed<float>(&ws, "X", {1, 96}, {x.begin() + 50 * 96, x.begin() + 51 * 96});
    RunOp(&ws, op);
    EXPECT_EQ(Fetch<float>(ws, "Y"),
              std::vector<float>(want.begin() + 50 * 133, want.begin() + 51 * 133));
  }
}

// In training, weights are used as they are.
TEST(FCPrecisionTest, WeightsThatChangeBetweenRunsAreNotQuantized) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {1, 0.3f});
  Feed<float>(&ws, "W", {1, 2}, {1, 1});
  Feed<float>(&ws, "b", {1}, {0});
  ws.CreateNet(ParseNet(MakeString("name: \"n\" op { ", OpText("int8"), " }")));
  ws.RunNet("n");
  for (const float w : {2.f, 3.f, 4.f}) {
    Feed<float>(&ws, "W", {1, 2}, {w, 0.7f});
    ws.RunNet("n");
    ExpectTensor<float>(ws, "Y", {1, 1}, {w + 0.21f}, 1e-6);
  }
}

TEST(FCPrecisionTest, SumsThatBytesCannotHoldAreComputedInFloat) {
  constexpr int64_t kTerms = ReducedGemm::kMaxByteTerms + 1;
  Workspace ws;
  FeedRandom(&ws, "X", {1, kTerms}, 0, 1, 1);
  Feed<float>(&ws, "W", {1, kTerms}, std::vector<float>(kTerms, 1.0f));
  Feed<float>(&ws, "b", {1}, {0});
  const auto x = Fetch<float>(ws, "X");
  double want = 0;
  for (const float value : x) want += double{value};
  NetBase* const net =
      ws.CreateNet(ParseNet(MakeString("name: \"n\" op { ", OpText("int8"), " }")));
  net->Run();
  EXPECT_NEAR(Fetch<float>(ws, "Y")[0], want, 1e-5 * want);
  EXPECT_EQ(KernelOf(*net->GetOperators()[0])->taken().reason, "fallback");
}

// One of the sizes changes at a time, so that each must be looked at.
TEST(FCPrecisionTest, FollowsTheSizesOfWeights) {
  struct Sizes {
    int64_t m, k, n;
  };
  for (const char* const precision : {"f32", "int8", "bf16"}) {
    for (const int transposed : {0, 1}) {
      SCOPED_TRACE(MakeString(precision, transposed));
      Workspace used;
      const std::string text =
          OpText(precision, MakeString("arg { name: \"transposed\" i: ", transposed, " }"));
      std::unique_ptr<OperatorBase> op;
      for (const Sizes& s :
           {Sizes{9, 40, 24}, {9, 40, 33}, {9, 12, 33}, {9, 12, 40}, {9, 40, 12}, {2, 40, 12}}) {
        SCOPED_TRACE(MakeString(s.m, " ", s.k, " ", s.n));
        Workspace fresh;
        for (Workspace* const ws : {&used, &fresh}) {
          FeedRandom(ws, "X", {s.m, s.k});
          FeedRandom(
              ws, "W",
              transposed != 0 ? std::vector<int64_t>{s.k, s.n} : std::vector<int64_t>{s.n, s.k}, -1,
              1, 2);
          FeedRandom(ws, "b", {s.n}, -1, 1, 3);
        }
        if (op == nullptr) op = CreateOperator(ParseOp(text), &used);
        ASSERT_TRUE(op->Run());
        RunOp(&fresh, text);
        ExpectTensor<float>(used, "Y", {s.m, s.n}, Fetch<float>(fresh, "Y"), 0.2);
      }
    }
  }
}

TEST(FCPrecisionTest, EmptySizesGiveTheBias) {
  for (const char* const precision : {"int8", "bf16"}) {
    Workspace ws;
    Feed<float>(&ws, "X", {2, 0}, {});
    Feed<float>(&ws, "W", {2, 0}, {});
    Feed<float>(&ws, "b", {2}, {1, 2});
    RunOp(&ws, OpText(precision));
    ExpectTensor<float>(ws, "Y", {2, 2}, {1, 2, 1, 2});
    Feed<float>(&ws, "X", {0, 1}, {});
    Feed<float>(&ws, "W", {2, 1}, {1, 2});
    RunOp(&ws, OpText(precision));
    ExpectTensor<float>(ws, "Y", {0, 2}, {});
  }
}

TEST(FCPrecisionTest, ReportsWhatComputesAndRejectsUnknownNames) {
  Workspace ws;
  FeedExactNumbers(&ws);
  NetBase* const net =
      ws.CreateNet(ParseNet(MakeString("name: \"n\" op { ", OpText("int8"), " }")));
  EXPECT_FALSE(KernelOf(*net->GetOperators()[0]).has_value());
  net->Run();
  EXPECT_EQ(KernelOf(*net->GetOperators()[0])->taken().implementation, "built-in int8");
  EXPECT_EQ(KernelOf(*net->GetOperators()[0])->taken().reason, "precision");
  ExpectThrows([&] { RunOp(&ws, OpText("fp8")); }, "want f32, bf16 or int8");
  // A pass states f32 where its model expects nothing of less; without a statement there is no choice.
  const auto taken = [&](const std::string& op) {
    ws.CreateNet(ParseNet(MakeString("name: \"m\" op { ", op, " }")), true)->Run();
    return KernelOf(*ws.GetNet("m")->GetOperators()[0])->taken();
  };
  EXPECT_EQ(taken(OpText("f32")).reason, "model");
  EXPECT_EQ(taken(OpText("f32")).implementation, "built-in");
  const KernelCandidate only =
      taken(R"(type: "FCFusion" input: "X" input: "W" input: "b" output: "Y")");
  EXPECT_EQ(only.reason, "only_candidate");
  EXPECT_EQ(only.implementation, "built-in");
  EXPECT_EQ(only.algorithm, "gemm");
}

TEST(FCPrecisionTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace malloc";
  for (const char* const precision : {"int8", "bf16"}) {
    Workspace ws;
    FeedRandom(&ws, "X", {20, 64});
    FeedRandom(&ws, "W", {40, 64});
    FeedRandom(&ws, "b", {40});
    NetBase* const net =
        ws.CreateNet(ParseNet(MakeString("name: \"n\" op { ", OpText(precision), " }")));
    net->Run();
    net->Run();
    AllocationCounter counter;
    net->Run();
    EXPECT_EQ(counter.Counts().allocations, 0);
    EXPECT_EQ(counter.Counts().locks, 0);
  }
}

TEST(FastestFCPrecisionTest, LargeLayersAreReducedAndSmallOnesAreNot) {
  const bool bytes = WhyNoProductsIn(Precision::kInt8).empty();
  const bool bf16 = WhyNoProductsIn(Precision::kBfloat16).empty();
  const bool vnni = ReducedGemm(Precision::kInt8, 1, 1).kernel() == ReducedKernel::kVnni;
  struct Case {
    int64_t k, n;
    Precision least;
    bool deterministic;
    Precision want;
  };
  const Precision lower = bf16 ? Precision::kBfloat16 : Precision::kFloat32;
  const Case cases[] = {
      {384, 1536, Precision::kFloat32, false, Precision::kFloat32},
      {384, 1536, Precision::kBfloat16, false, lower},
      {384, 1536, Precision::kInt8, false, bytes ? Precision::kInt8 : Precision::kFloat32},
      {384, 1536, Precision::kInt8, true, Precision::kInt8},
      {64, 1, Precision::kInt8, true, Precision::kFloat32},
      {64, 2, Precision::kInt8, false, Precision::kFloat32},
      {64, 2, Precision::kBfloat16, false, Precision::kFloat32},
      // 68.8 ns in float with the margin, 47 in bf16, 62 in bytes with VNNI.
      {64, 64, Precision::kInt8, false,
       vnni && bf16 ? lower
       : vnni       ? Precision::kInt8
                    : Precision::kFloat32},
      // On any machine: 740 ns in float, 666 with the margin, 703 in bytes; then 907 and 899.
      {80, 512, Precision::kInt8, true, Precision::kFloat32},
      {110, 512, Precision::kInt8, true, Precision::kInt8},
      // One output more costs bytes 32 of them, and floats 16: 953 ns, and 935 with the margin.
      {110, 513, Precision::kInt8, true, Precision::kFloat32},
      // As many terms as the sums of bytes can hold.
      {65536, 512, Precision::kInt8, true, Precision::kInt8},
      // More terms than the sums of bytes can hold.
      {65537, 512, Precision::kInt8, false, lower},
      {65537, 512, Precision::kInt8, true, Precision::kFloat32},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(FastestFCPrecision(c.k, c.n, c.least, c.deterministic), c.want)
        << c.k << " x " << c.n << ", least " << PrecisionName(c.least) << ", deterministic "
        << c.deterministic;
  }
}

}  // namespace
}  // namespace caffe2rt::test::fc_precision_test
