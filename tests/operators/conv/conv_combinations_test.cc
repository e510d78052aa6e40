// Every algorithm in the CPU's layouts, and its gradients, against the definition.
#include "tests/operators/conv/conv_combinations.h"

#include "operators/conv/conv_columns.h"
#include "operators/conv/conv_gradient_plan.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/conv_transpose.h"

namespace caffe2rt::test::conv_combinations_test {
namespace {

constexpr ConvBody kBodies[] = {
    {40, 7, 47, 37},       // several strips of columns, and pieces of gradients
    {40, 4, 47, 37, 2},    // the same in groups
    {64, 32, 15, 9},       // odd rows
    {19, 33, 9, 37},       // odd channels, partial vectors
    {3, 10, 13, 11},       // few channels
    {6, 10, 15, 7, 2},     // small groups
    {20, 20, 17, 35, 20},  // depthwise
    {20, 12, 1, 1},        // one pixel
};

// A row of the array for the CPU.
struct CpuCase {
  explicit CpuCase(const CoveringRow& row)
      : division(kConvDivisions[row[2]]),
        image(CombinedImage(kBodies[row[0]], kConvWindows[row[1]], division.batch)),
        with_bias(row[4] == 1),
        parts{.filter = row[5] != 1, .x = row[5] != 2} {
    image.channels_last = row[3] == 1;
  }
  static std::vector<CoveringRow> All() {
    const size_t wide = std::size(kConvWindows) - 1, division = std::size(kConvDivisions) - 1;
    std::vector<CoveringRow> rows =
        CoveringArray({std::size(kBodies), wide, std::size(kConvDivisions), 2, 2, 3}, 3);
    // With 5 x 5 taps the definition takes most of the time, so they have few rows. The gradients
    // of the first body are then sums of pieces.
    for (const size_t order : {0, 1}) {
      rows.push_back({0, wide, division, order, 1, 0});
      rows.push_back({std::size(kBodies) - 2, wide, division, order, 0, 0});
    }
    rows.push_back({2, wide, 0, 0, 1, 0});  // one image in pieces of channels
    return rows;
  }
  ConvShape shape() const { return ShapeOf(image, with_bias); }
  // " NHWC in groups", to be appended to what was reached.
  std::string kind() const {
    return MakeString(image.channels_last ? " NHWC" : " NCHW", image.group > 1 ? " in groups" : "");
  }
  // Whether the columns of an image are computed in several parts.
  bool HasStrips() const {
    const ConvColumns columns(shape());
    return columns.rows_at_once() < shape().window.axis[0].out;
  }

  ConvDivision division;
  NaiveImage image;
  bool with_bias;
  ConvGradientParts parts;
};

void CheckConvKernel(ConvAlgorithm algorithm, const CpuCase& c, const ConvInputs& t,
                     const std::vector<float>& want, Reached* reached) {
  const std::unique_ptr<ConvKernel> kernel = NewConvKernel(algorithm, c.shape());
  if (kernel == nullptr) return;
  const std::string name = ConvAlgorithmName(algorithm);
  ++(*reached)[name];
  if (c.division.batch == 1 && kernel->ScratchParts() > 1) ++(*reached)[name + " in strips"];
  std::shared_ptr<const void> prepared;
  if (!kernel->FilterForm().empty()) prepared = kernel->PrepareFilter(t.filter.data());
  std::vector<float> got(want.size(), -77.f);
  ThreadScratch scratch;
  kernel->Run(t.x.data(), prepared != nullptr ? prepared.get() : t.filter.data(), t.bias_data(),
              got.data(), scratch.ForPieces(kernel->ScratchParts(), kernel->ScratchSize()));
  ExpectClose(got, want, name);
}

TEST(ConvCombinationsTest, AgreeWithTheDefinitionOnTheCpu) {
  Reached reached;
  for (const CoveringRow& row : CpuCase::All()) {
    const CpuCase c(row);
    SCOPED_TRACE(DescribeConv(c.image, c.division.threads));
    const ThreadsOfTest threads(c.division.threads);
    const ConvInputs t(c.image, c.with_bias);
    const std::vector<float> want = NaiveConv(c.image, t.x, t.filter, t.bias);
    for (const ConvAlgorithm algorithm : kPlainConvAlgorithms) {
      CheckConvKernel(algorithm, c, t, want, &reached);
    }
    if (c.HasStrips()) ++reached["strips of columns" + c.kind()];
    Tensor filter(std::vector<int64_t>{static_cast<int64_t>(t.filter.size())}, CPU);
    std::copy(t.filter.begin(), t.filter.end(), filter.mutable_data<float>());
    ConvPlan plan(c.shape(), {});
    std::vector<float> got(want.size(), -77.f);
    plan.Run(t.x.data(), filter, t.bias_data(), got.data());
    ExpectClose(got, want, "plan");
    const bool images = c.image.batch > 1;
    const std::string parts = images ? "pieces of images" : "pieces of channels";
    if (plan.pieces() > 1) ++reached[parts + (c.with_bias ? " with bias" : "")];
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  ExpectReached(reached,
                {"im2col", "gemm", "pixels", "channels", "pixels in strips", "channels in strips",
                 "pieces of images with bias", "pieces of channels with bias",
                 "strips of columns NCHW", "strips of columns NHWC",
                 "strips of columns NCHW in groups", "strips of columns NHWC in groups"});
}

const char* NameOf(ConvGradientAlgorithm algorithm) {
  switch (algorithm) {
    case ConvGradientAlgorithm::kIm2Col:
      return "im2col";
    case ConvGradientAlgorithm::kTurned:
      return "turned";
    case ConvGradientAlgorithm::kGemm:
      return "gemm";
    case ConvGradientAlgorithm::kOnednn:
      return "oneDNN";
    case ConvGradientAlgorithm::kWinograd:
      return "Winograd";
  }
  return "";
}

void ExpectGradients(const NaiveGradients& got, const NaiveGradients& want, ConvGradientParts parts,
                     const std::string& name) {
  if (parts.filter) ExpectClose(got.filter, want.filter, name + ": filter");
  if (parts.x) ExpectClose(got.x, want.x, name + ": x");
}

void CheckGradientKernel(ConvGradientAlgorithm algorithm, const CpuCase& c, const ConvInputs& t,
                         const std::vector<float>& dy, const NaiveGradients& want,
                         Reached* reached) {
  const auto kernel = NewConvGradientKernel(algorithm, c.shape(), c.parts);
  if (kernel == nullptr) return;
  ++(*reached)[NameOf(algorithm)];
  NaiveGradients got{std::vector<float>(t.filter.size(), -77.f),
                     std::vector<float>(t.x.size(), -77.f)};
  ThreadScratch scratch;
  kernel->Run(t.x.data(), t.filter.data(), dy.data(), c.parts.filter ? got.filter.data() : nullptr,
              c.parts.x ? got.x.data() : nullptr, scratch.Floats(kernel->ScratchSize()));
  ExpectGradients(got, want, c.parts, NameOf(algorithm));
}

// The sums of dY over everything but the channels.
std::vector<float> BiasGradient(const NaiveImage& p, const std::vector<float>& dy) {
  std::vector<double> sums(static_cast<size_t>(p.filters));
  const auto size = static_cast<size_t>(p.out_h() * p.out_w());
  for (size_t i = 0; i < dy.size(); ++i) {
    sums[(p.channels_last ? i : i / size) % sums.size()] += double{dy[i]};
  }
  return {sums.begin(), sums.end()};
}

void CheckGradientPlan(const CpuCase& c, const ConvInputs& t, const std::vector<float>& dy,
                       const NaiveGradients& want, Reached* reached) {
  using enum ConvBiasGradient;
  ConvGradientPlan plan(c.shape(), {.x = c.parts.x, .bias = c.with_bias ? kFromResult : kNone});
  if (plan.pieces() > 1) ++(*reached)["pieces" + c.kind() + (c.with_bias ? " with bias" : "")];
  NaiveGradients got{std::vector<float>(t.filter.size(), -77.f),
                     std::vector<float>(t.x.size(), -77.f)};
  std::vector<float> dbias(t.bias.size(), -77.f);
  plan.Run({.x = t.x.data(),
            .filter = t.filter.data(),
            .dy = dy.data(),
            .dfilter = got.filter.data(),
            .dbias = c.with_bias ? dbias.data() : nullptr,
            .dx = c.parts.x ? got.x.data() : nullptr});
  ExpectGradients(got, want, {.filter = true, .x = c.parts.x}, "plan");
  if (c.with_bias) ExpectClose(dbias, BiasGradient(c.image, dy), "plan: bias");
}

// A transposed convolution computes the gradient of X.
void CheckTransposed(const CpuCase& c, const ConvInputs& t, const std::vector<float>& dy,
                     const NaiveGradients& want, Reached* reached) {
  const ConvShape shape = ShapeOf(c.image, false);
  for (const WindowAxis& axis : {shape.window.axis[0], shape.window.axis[1]}) {
    if (axis.dilation != 1) return;
  }
  ++(*reached)["transposed"];
  std::vector<float> got(t.x.size(), -77.f);
  CPUContext context;
  ThreadScratch scratch;
  RunConvTranspose(context, Transposed(shape), dy.data(), t.filter.data(), nullptr, &scratch,
                   got.data());
  ExpectClose(got, want.x, "transposed");
}

TEST(ConvCombinationsTest, HaveTheGradientsOfTheDefinition) {
  Reached reached;
  for (const CoveringRow& row : CpuCase::All()) {
    const CpuCase c(row);
    SCOPED_TRACE(DescribeConv(c.image, c.division.threads));
    const ThreadsOfTest threads(c.division.threads);
    const ConvInputs t(c.image, c.with_bias);
    const int64_t pixels = c.image.batch * c.image.out_h() * c.image.out_w();
    const std::vector<float> dy = ValuesForSums(pixels * c.image.filters, 3000, pixels);
    const NaiveGradients want = NaiveConvGradients(c.image, t.x, t.filter, dy);
    for (const ConvGradientAlgorithm algorithm : kAllConvGradientAlgorithms) {
      CheckGradientKernel(algorithm, c, t, dy, want, &reached);
    }
    if (c.HasStrips() && c.parts.filter) ++reached["strips" + c.kind()];
    CheckGradientPlan(c, t, dy, want, &reached);
    CheckTransposed(c, t, dy, want, &reached);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  ExpectReached(reached, {"im2col", "turned", "gemm", "pieces NCHW with bias",
                          "pieces NHWC with bias", "transposed", "strips NCHW", "strips NHWC",
                          "strips NCHW in groups", "strips NHWC in groups"});
}

}  // namespace
}  // namespace caffe2rt::test::conv_combinations_test
