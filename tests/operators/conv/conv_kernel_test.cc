// Checks that every algorithm computes the convolution by definition, for every shape it supports.
#include "operators/conv/conv_kernel.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <string>
#include <tuple>
#include <vector>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/conv_tuning.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::conv_kernel_test {

namespace {

class ConvKernelTest : public testing::TestWithParam<std::tuple<ConvAlgorithm, bool>> {};

TEST_P(ConvKernelTest, GivesTheValuesOfTheDefinition) {
  const auto [algorithm, with_bias] = GetParam();
  int taken = 0;
  for (const NaiveImage& p : kConvImages) {
    SCOPED_TRACE(&p - kConvImages);
    const ConvShape shape = ShapeOf(p, with_bias);
    const std::unique_ptr<ConvKernel> kernel = NewConvKernel(algorithm, shape);
    if (kernel == nullptr) continue;
    ++taken;
    const auto x = RandomValues(p.batch * p.channels * p.height * p.width, -1, 1, 1);
    const auto filter =
        RandomValues(p.filters * p.channels / p.group * p.kernel_h * p.kernel_w, -1, 1, 2);
    const auto bias = with_bias ? RandomValues(p.filters, -1, 1, 3) : std::vector<float>();
    const std::vector<float> want = NaiveConv(p, x, filter, bias);
    std::vector<float> got(want.size(), -77.f);
    std::shared_ptr<const void> prepared;
    ThreadScratch scratch;
    if (!kernel->FilterForm().empty()) prepared = kernel->PrepareFilter(filter.data());
    for (int run = 0; run < 2; ++run) {
      kernel->Run(x.data(), prepared != nullptr ? prepared.get() : filter.data(),
                  with_bias ? bias.data() : nullptr, got.data(),
                  scratch.ForPieces(kernel->ScratchParts(), kernel->ScratchSize()));
    }
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-4) << "at " << i;
  }
  if (taken == 0) GTEST_SKIP() << "this machine has no " << ConvAlgorithmName(algorithm);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ConvKernelTest,
                         testing::Combine(testing::ValuesIn(kPlainConvAlgorithms), testing::Bool()),
                         [](const auto& info) {
                           return std::string(ConvAlgorithmName(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "_bias" : "_plain");
                         });

TEST(ConvKernelTest, NamesOfAlgorithmsAreReadBack) {
  for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
    ConvAlgorithm read{};
    ASSERT_TRUE(ParseConvAlgorithm(ConvAlgorithmName(algorithm), &read));
    EXPECT_EQ(read, algorithm);
  }
  ConvAlgorithm read{};
  EXPECT_FALSE(ParseConvAlgorithm("fft", &read));
}

constexpr const char* kRow =
    "avx512\tNCHW\t1x64x56x56\t64\t3x3\t1x1\t1x1\t1x1\t1x1\t1\tonednn_winograd\t12.5\n";

TEST(ConvTuningTest, WritesTheRowsThatItReads) {
  const ConvTuning tuning(kRow);
  ASSERT_EQ(tuning.rows().size(), 1u);
  EXPECT_EQ(ConvTuningLine(tuning.rows()[0]), kRow);
}

TEST(ConvTuningTest, NamesTheLineThatIsNoRow) {
  ExpectThrows([] { ConvTuning("# fine\navx512\tNCHW\n"); }, "line 2");
  ExpectThrows([] { ConvTuning("sse\tNCHW\t1x1x1x1\t1\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t1\n"); },
               "sse");
  ExpectThrows(
      [] { ConvTuning("avx2\tNCHW\t1x1x1x1\t1\t0x1\t1x1\t0x0\t0x0\t1x1\t1\tim2col\t1\n"); },
      "kernel");
  ExpectThrows([] { ConvTuning("avx2\tNCHW\t1x1x1x1\t1\t1x1\t1x1\t0x0\t0x0\t1x1\t1\tfft\t1\n"); },
               "fft");
}

TEST(ConvTuningTest, RejectsFieldsThatDoNotFit) {
  const auto line = [](size_t field, const std::string& text) {
    std::vector<std::string> fields = absl::StrSplit(absl::StripSuffix(kRow, "\n"), '\t');
    fields.at(field) = text;
    return absl::StrJoin(fields, "\t") + "\n";
  };
  const std::tuple<size_t, const char*, const char*> cases[] = {
      {2, "1x64", "want batch, channels and axes"},
      {2, "1x64x1x1x1x1x1x1x1x1x1x1x1", "want batch, channels and axes"},
      {2, "1x64xax56", "\"a\" is not a number"},
      {2, "1x64x56x56 ", "is not a number"},
      {2, "1x64x1099511627777x56", "out of range"},
      {3, "0", "want a divisor of the channels and filters"},
      {3, "65", ""},
      {4, "3x3x3", "want one for each axis of the input"},
      {4, "3", "want one for each axis of the input"},
      {5, "0x1", "kernel, stride and dilation of axis 0"},
      {5, "1x0", "kernel, stride and dilation of axis 1"},
      {6, "1", "want one for each axis"},
      {7, "1x1x1", "want one for each axis"},
      {8, "1x-1", "kernel, stride and dilation of axis 1"},
      {9, "3", "want a divisor of the channels and filters"},
      {9, "0", "want a divisor of the channels and filters"},
      {10, "", "is not known"},
      {11, "fast", "time \"fast\", want microseconds"},
      {11, "-1", "want microseconds"},
      {11, "inf", "want microseconds"},
  };
  for (const auto& [field, text, message] : cases) {
    SCOPED_TRACE(text);
    const std::string row = line(field, text);
    if (*message == '\0') {
      EXPECT_EQ(ConvTuning(row).rows().size(), 1u);
    } else {
      ExpectThrows([&] { ConvTuning tuning(row); }, message);
    }
  }
  ExpectThrows([&] { ConvTuning tuning(line(11, "1\t2")); }, "number of fields");
}

// Restores the compiled-in table.
class LoadConvTuningTest : public testing::Test {
 protected:
  ~LoadConvTuningTest() override { SetConvTuning(nullptr); }

  // A table with one row for a shape of the compiled-in table.
  std::string TableOf(const std::string& algorithm) const {
    return MakeString(kConvTuningVersionLine, "\n", IsaName(CpuIsa()),
                      "\tNCHW\t1x64x56x56\t64\t3x3\t1x1\t1x1\t1x1\t1x1\t1\t", algorithm, "\t9\n");
  }

  const TempDir dir_;
  const ConvShape shape_ = ConvTuning(kRow).rows()[0].shape;
};

TEST_F(LoadConvTuningTest, TheFilesRowDecidesTheAlgorithmOfAPlan) {
  for (const ConvAlgorithm algorithm :
       {ConvAlgorithm::kIm2Col, ConvAlgorithm::kPixels, ConvAlgorithm::kChannels}) {
    SCOPED_TRACE(ConvAlgorithmName(algorithm));
    const std::string file = dir_.Write("table.tsv", TableOf(ConvAlgorithmName(algorithm)));
    EXPECT_EQ(LoadConvTuning(file), 1u);
    EXPECT_EQ(ConvPlan(shape_, {}).algorithm(), algorithm);
  }
}

TEST_F(LoadConvTuningTest, DeterministicPlansStayDirect) {
  LoadConvTuning(dir_.Write("table.tsv", TableOf("onednn_winograd")));
  EXPECT_EQ(ChooseConv({.shape = shape_}, *GetConvTuning()).taken().algorithm,
            ConvAlgorithm::kOnednnWinograd);
  EXPECT_NE(ConvPlan(shape_, {.deterministic = true}).algorithm(), ConvAlgorithm::kOnednnWinograd);
}

TEST_F(LoadConvTuningTest, OtherShapesKeepTheCompiledInRows) {
  const size_t compiled_in = GetConvTuning()->rows().size();
  LoadConvTuning(dir_.Write("table.tsv", TableOf("im2col")));
  EXPECT_EQ(GetConvTuning()->rows().size(), compiled_in + 1);
}

TEST_F(LoadConvTuningTest, TheFileStatesTheLayouts) {
  EXPECT_FALSE(PrefersPlainConvLayouts());
  LoadConvTuning(dir_.Write("table.tsv", TableOf("im2col") + "layouts\tplain\n"));
  EXPECT_TRUE(PrefersPlainConvLayouts());
  LoadConvTuning(dir_.Write("table.tsv", TableOf("im2col") + "layouts\tonednn\n"));
  EXPECT_FALSE(PrefersPlainConvLayouts());
}

TEST_F(LoadConvTuningTest, RejectsOtherFiles) {
  ExpectThrows([&] { LoadConvTuning(dir_.path("absent.tsv")); }, "absent.tsv");
  ExpectThrows([&] { LoadConvTuning(dir_.Write("table.tsv", kRow)); },
               "want \"# caffe2rt convolution table, version 1\"");
  ExpectThrows([&] { LoadConvTuning(dir_.Write("table.tsv", TableOf("im2col") + "avx2\n")); },
               "line 3");
  ExpectThrows(
      [&] { LoadConvTuning(dir_.Write("table.tsv", TableOf("im2col") + "layouts\tnhwc\n")); },
      "want plain or onednn");
  ExpectThrows([&] { LoadConvTuning(dir_.Write("table.tsv", TableOf("fft"))); }, "\"fft\"");
  EXPECT_EQ(LoadConvTuning(dir_.Write("table.tsv", std::string(kConvTuningVersionLine))), 0u);
}

TEST(ConvTuningTest, ShippedTableIsRead) { EXPECT_GT(GetConvTuning()->rows().size(), 100u); }

}  // namespace
}  // namespace caffe2rt::test::conv_kernel_test
