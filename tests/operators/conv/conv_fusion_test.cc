// ConvFusion on the CPU, and Conv and ConvFusion on IDEEP, against convolution by definition.
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/conv_tuning.h"
#include "tests/operators/conv/conv_fusion_case.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_fusion_test {
namespace {

// A net that converts X and S to IDEEP, in these layouts, and Y back.
std::string OnednnNet(const NaiveImage& p, const Fusion& fusion, const std::string& x_layout,
                      const std::string& layout, const std::string& s_layout) {
  const std::string ideep = " device_option { device_type: 5 } ";
  const auto copy = [&](const std::string& from, const std::string& to, const std::string& as) {
    return "op { type: \"CopyFromCPUInput\" input: \"" + from + "\" output: \"" + to +
           "\" arg { name: \"layout\" s: \"" + as + "\" }" + ideep + "} ";
  };
  std::string net = "name: \"n\" " + copy("X", "x", x_layout);
  if (fusion.sum) net += copy("S", "s", s_layout);
  net += "op { type: \"ConvFusion\" input: \"x\" input: \"W\" ";
  if (fusion.bias) net += "input: \"b\" ";
  if (fusion.sum) net += "input: \"s\" ";
  const std::string y = fusion.in_place ? "s" : "y";
  net += "output: \"" + y + "\" arg { name: \"layout\" s: \"" + layout + "\" } " + WindowText(p) +
         FusionText(fusion) + ideep + "} ";
  return net + "op { type: \"EnsureCPUOutput\" input: \"" + y + "\" output: \"Y\"" + ideep + "}";
}

// Runs the net twice on the inputs of `expected`, which are in `ws`.
void ExpectOnednn(Workspace* ws, const ConvFusionCase& expected, const NaiveImage& p,
                  const Fusion& fusion, const std::string& x_layout, const std::string& layout,
                  const std::string& s_layout) {
  for (const char* name : {"x", "s", "y", "Y"}) ws->RemoveBlob(name);
  NetBase* net = ws->CreateNet(ParseNet(OnednnNet(p, fusion, x_layout, layout, s_layout)), true);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(*ws, "Y", expected.y_dims, expected.want, 2e-4);
  }
}

void ExpectOnednn(const NaiveImage& p, const Fusion& fusion, const std::string& x_layout,
                  const std::string& layout, const std::string& s_layout) {
  Workspace ws;
  const ConvFusionCase expected(&ws, p, fusion);
  ExpectOnednn(&ws, expected, p, fusion, x_layout, layout, s_layout);
}

class OnednnConvTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetNumThreads(GetParam()); }
  void TearDown() override { SetNumThreads(1); }
};

TEST_P(OnednnConvTest, AgreesWithTheDefinitionInEveryLayoutWithThreads) {
  const Fusion fusion{.activation = "Relu", .bias = true};
  for (const NaiveImage& p : kImages) {
    Workspace ws;
    const ConvFusionCase expected(&ws, p, fusion);
    for (const char* from : {"nchw", "nhwc", "nChw16c"}) {
      for (const char* to : {"nhwc", "nChw16c", ""}) {
        SCOPED_TRACE(testing::Message()
                     << "channels " << p.channels << " filters " << p.filters << " group "
                     << p.group << " from " << from << " to " << to);
        ExpectOnednn(&ws, expected, p, fusion, from, to, "nhwc");
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(OnednnConvTest, AgreesWithTheDefinitionForOddShapesWithThreads) {
  for (const NaiveImage& p : kConvImages) {
    if (p.channels_last) continue;
    SCOPED_TRACE(testing::Message() << "channels " << p.channels << " filters " << p.filters);
    ExpectOnednn(p, {.bias = true}, "nchw", "nhwc", "nhwc");
    ExpectOnednn(p, {.activation = "Relu", .sum = true}, "nhwc", "nChw16c", "nchw");
  }
}

TEST_P(OnednnConvTest, AddsATensorInAnyLayoutWithThreads) {
  Fusion fusion{.activation = "Relu", .bias = true, .sum = true};
  for (const NaiveImage& p : kImages) {
    Workspace ws;
    const ConvFusionCase expected(&ws, p, fusion);
    for (const char* layout : {"nhwc", "nChw16c"}) {
      for (const char* s : {"nchw", "nhwc", "nChw16c"}) {
        for (const bool in_place : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << "channels " << p.channels << " filters " << p.filters << " in " << layout
                       << " adds " << s << " in place " << in_place);
          fusion.in_place = in_place;
          ExpectOnednn(&ws, expected, p, fusion, layout, layout, s);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(OnednnConvTest, AppliesActivationsWithThreads) {
  for (const ActivationFormula& formula : ActivationFormulas()) {
    const std::string& type = formula.name;
    for (const char* layout : {"nhwc", "nChw16c"}) {
      SCOPED_TRACE(testing::Message() << type << " in " << layout);
      ExpectOnednn(kImages[0], {.activation = type, .bias = true}, layout, layout, "nhwc");
      ExpectOnednn(kImages[0], {.activation = type, .sum = true}, layout, layout, layout);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, OnednnConvTest, testing::Values(1, 2, 3));

// Pieces of rows and of pixels compute every element in the same order.
TEST(OnednnConvBitsTest, DoNotDependOnTheThreadsInNhwc) {
  for (const NaiveImage& p : kImages) {
    std::vector<float> one;
    for (const int threads : {1, 2}) {
      SetNumThreads(threads);
      Workspace ws;
      const ConvFusionCase expected(&ws, p, {});
      NetDef def = ParseNet(OnednnNet(p, {}, "nhwc", "nhwc", "nhwc"));
      Argument* arg = def.mutable_op(1)->add_arg();
      arg->set_name("deterministic");
      arg->set_i(1);
      ASSERT_TRUE(ws.CreateNet(def)->Run());
      if (threads == 1) one = Fetch<float>(ws, "Y");
      EXPECT_EQ(Fetch<float>(ws, "Y"), one);
    }
    SetNumThreads(1);
  }
}

TEST(ConvFusionOnCpuTest, AgreesWithTheDefinition) {
  for (const NaiveImage& p : kImages) {
    for (const ActivationFormula& formula : ActivationFormulas()) {
      const std::string& type = formula.name;
      for (const Fusion& fusion :
           {Fusion{.activation = type, .bias = true}, Fusion{.activation = type, .sum = true},
            Fusion{.activation = type, .bias = true, .sum = true, .in_place = true}}) {
        SCOPED_TRACE(testing::Message() << type << " filters " << p.filters);
        Workspace ws;
        const ConvFusionCase expected(&ws, p, fusion);
        const std::string y = fusion.in_place ? "S" : "Y";
        RunOp(&ws, "type: \"ConvFusion\" input: \"X\" input: \"W\" " +
                       std::string(fusion.bias ? "input: \"b\" " : "") +
                       (fusion.sum ? "input: \"S\" " : "") + "output: \"" + y + "\" " +
                       WindowText(p) + FusionText(fusion));
        ExpectTensor<float>(ws, y, expected.y_dims, expected.want, 2e-4);
      }
    }
  }
}

TEST(ConvFusionOnCpuTest, InfersTheShapeOfTheConvolution) {
  Workspace ws;
  const Fusion fusion{.activation = "Relu", .bias = true, .sum = true};
  const ConvFusionCase expected(&ws, kImages[3], fusion);
  ExpectShapeInferred(&ws,
                      "type: \"ConvFusion\" input: \"X\" input: \"W\" input: \"b\" "
                      "input: \"S\" output: \"Y\" " +
                          WindowText(kImages[3]) + FusionText(fusion));
}

TEST(ConvFusionOnCpuTest, ReportsWrongInputs) {
  Workspace ws;
  const NaiveImage& p = kImages[0];
  const ConvFusionCase expected(&ws, p, {});
  const std::string inputs = "type: \"ConvFusion\" input: \"X\" input: \"W\" input: \"b\" ";
  ExpectThrows([&] { RunOp(&ws, inputs + "input: \"S\" output: \"Y\" " + WindowText(p)); },
               "inputs without the added tensor");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              "type: \"ConvFusion\" input: \"X\" input: \"W\" output: \"Y\" "
              "arg { name: \"sum\" i: 1 } " +
                  WindowText(p));
      },
      "argument sum is 1");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              inputs + "output: \"Y\" arg { name: \"activation\" s: \"Relu6\" } " + WindowText(p));
      },
      "argument \"activation\" is \"Relu6\", want \"\" or one of Relu, ");
  Feed<float>(&ws, "small", {1}, {1});
  ExpectThrows(
      [&] {
        RunOp(&ws, inputs + "input: \"small\" output: \"Y\" arg { name: \"sum\" i: 1 } " +
                       WindowText(p));
      },
      "input 3 (S) has shape [1]");
}

TEST(OnednnConvOperatorTest, PreparesChangedFilters) {
  Workspace ws;
  const NaiveImage& p = kImages[0];
  const ConvFusionCase expected(&ws, p, {});
  NetBase* net = ws.CreateNet(ParseNet(OnednnNet(p, {}, "nhwc", "nhwc", "nhwc")));
  for (int run = 0; run < 3; ++run) {
    FeedRandom(&ws, "W", {p.filters, p.channels, 3, 3}, -1, 1, static_cast<uint32_t>(run + 10));
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(ws, "Y", expected.y_dims,
                        NaiveConv(p, Fetch<float>(ws, "X"), Fetch<float>(ws, "W"), {}), 1e-3);
  }
}

// Not that of X.
TEST(OnednnConvOperatorTest, WritesTheLayoutOfTheArgument) {
  NaiveImage p = kImages[1];
  p.filters = 64;
  for (const bool blocked : {false, true}) {
    SCOPED_TRACE(blocked);
    Workspace ws;
    FeedRandom(&ws, "X", {p.batch, p.channels, p.height, p.width});
    FeedRandom(&ws, "W", {p.filters, p.channels, 3, 3});
    ASSERT_TRUE(ws.RunNetOnce(ParseNet(
        OnednnNet(p, {}, blocked ? "nhwc" : "nChw16c", blocked ? "nChw16c" : "nhwc", "nhwc"))));
    EXPECT_EQ(FormatOf(ws.GetBlob("y")->Get<Tensor>()),
              blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc);
  }
}

// X stays as it is, so only the filter can show that the plan is another one.
TEST(ConvFusionTest, PlansAgainForAFilterOfAnotherShape) {
  const NaiveImage& image = kImages[1];
  Workspace ws;
  FeedRandom(&ws, "X", {image.batch, image.channels, image.height, image.width});
  FeedRandom(&ws, "W", {1, image.channels, 3, 3});
  NetBase* const cpu = ws.CreateNet(
      ParseNet(R"(name: "cpu" op { type: "ConvFusion" input: "X" input: "W" output: "Y" )" +
               WindowText(image) + FusionText({}) + "}"));
  NetBase* const ideep = ws.CreateNet(ParseNet(OnednnNet(image, {}, "nhwc", "nhwc", "nhwc")));
  for (const int64_t filters : {48, 16, 1, 64}) {
    NaiveImage p = image;
    p.filters = filters;
    FeedRandom(&ws, "W", {filters, p.channels, 3, 3}, -1, 1, 7);
    const auto want = NaiveConv(p, Fetch<float>(ws, "X"), Fetch<float>(ws, "W"), {});
    for (NetBase* const net : {cpu, ideep}) {
      SCOPED_TRACE(MakeString(net->Name(), ", filters: ", filters));
      ASSERT_TRUE(net->Run());
      ExpectTensor<float>(ws, "Y", {p.batch, filters, p.out_h(), p.out_w()}, want, 1e-4);
    }
  }
}

TEST(OnednnConvOperatorTest, RejectsNhwcAndOtherRanks) {
  Workspace ws;
  const std::string ideep = " device_option { device_type: 5 } ";
  FeedRandom(&ws, "X", {1, 4, 8});
  FeedRandom(&ws, "W", {4, 4, 3});
  const std::string conv =
      "name: \"n\" op { type: \"Conv\" input: \"X\" input: \"W\" output: \"y\"";
  ExpectThrows(
      [&] {
        (void)ws.CreateNet(ParseNet(conv + ideep +
                                    "arg { name: \"kernel\" i: 3 } arg { name: "
                                    "\"order\" s: \"NHWC\" } }"));
      },
      "IDEEP support NCHW only");
  NetBase* net = ws.CreateNet(ParseNet(conv + ideep + "arg { name: \"kernels\" ints: 3 } }"), true);
  ExpectThrows([&] { (void)net->Run(); }, "rank of input 0 (X)");
}

TEST(OnednnConvOperatorTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer counts allocations here";
  for (const int threads : {1, 2}) {
    SetNumThreads(threads);
    for (const NaiveImage& p : kImages) {
      Workspace ws;
      const Fusion fusion{.activation = "Relu", .bias = true, .sum = true, .in_place = true};
      const ConvFusionCase expected(&ws, p, fusion);
      NetBase* net = ws.CreateNet(ParseNet(OnednnNet(p, fusion, "nhwc", "nChw16c", "nchw")));
      for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
      const AllocationCounter counter;
      ASSERT_TRUE(net->Run());
      const AllocationCounts counts = counter.Counts();
      EXPECT_EQ(counts.allocations, 0) << "filters " << p.filters;
      EXPECT_EQ(counts.locks, 0) << "filters " << p.filters;
    }
    SetNumThreads(1);
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_fusion_test
