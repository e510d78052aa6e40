// Every algorithm on IDEEP against the definition.
#include "caffe2_core/base/isa.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/onednn_conv_plan.h"
#include "operators/primitives/onednn_reorder.h"
#include "tests/operators/conv/conv_combinations.h"

namespace caffe2rt::test::ideep_combinations_test {
namespace {

constexpr ConvBody kIdeepBodies[] = {
    {128, 64, 13, 11},     // rows that two and three threads cannot share, and much work
    {128, 256, 5, 3},      // few rows and many weights
    {3, 32, 23, 20},       // an image
    {40, 24, 17, 16, 2},   // channels that do not fill blocks
    {64, 64, 11, 10, 2},   // groups of equal widths
    {64, 32, 11, 9, 2},    // groups of different widths
    {48, 48, 13, 17, 48},  // depthwise
};
constexpr OnednnFormat kFormats[] = {OnednnFormat::kNchw, OnednnFormat::kNhwc,
                                     OnednnFormat::kBlocked16};

struct IdeepCase {
  explicit IdeepCase(const CoveringRow& row)
      : division(kConvDivisions[row[2]]),
        image(CombinedImage(kIdeepBodies[row[0]], kConvWindows[row[1]], division.batch)),
        with_bias(row[3] == 1),
        epilogue{.sum = row[4] == 1} {}
  static std::vector<CoveringRow> All() {
    // With 5 x 5 taps, the depthwise body only: the definition would take most of the time.
    const size_t wide = std::size(kConvWindows) - 1;
    std::vector<CoveringRow> rows =
        CoveringArray({std::size(kIdeepBodies), wide, std::size(kConvDivisions), 2, 2}, 3);
    for (size_t i = 0; i < std::size(kConvDivisions); ++i) {
      rows.push_back({std::size(kIdeepBodies) - 1, wide, i, i % 2, 0});
    }
    return rows;
  }
  std::vector<int64_t> y_dims() const {
    return {image.batch, image.filters, image.out_h(), image.out_w()};
  }
  ConvShape shape() const { return ShapeOf(image, with_bias); }

  ConvDivision division;
  NaiveImage image;
  bool with_bias;
  ConvEpilogue epilogue;
};

Tensor PlainTensor(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  Tensor tensor(dims, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

Tensor TensorIn(OnednnFormat format, const Tensor& plain) {
  Tensor tensor(IDEEP);
  const dnnl::memory::desc desc = DescIn(format, plain.dims());
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(), desc,
          PrepareOutput(&tensor, plain.dims(), OnednnLayout::New(desc)));
  return tensor;
}

// One case in tensors of IDEEP.
struct IdeepRun {
  explicit IdeepRun(const IdeepCase& convolution)
      : c(convolution),
        t(c.image, c.with_bias),
        plain_x(PlainTensor({c.image.batch, c.image.channels, c.image.height, c.image.width}, t.x)),
        filter(PlainTensor(
            {c.image.filters, c.image.channels / c.image.group, c.image.kernel_h, c.image.kernel_w},
            t.filter)),
        want(NaiveConv(c.image, t.x, t.filter, t.bias)) {
    added = ConvValues(static_cast<int64_t>(want.size()), 4000);
    if (!c.epilogue.sum) return;
    for (size_t i = 0; i < want.size(); ++i) want[i] += added[i];
  }

  // Runs `conv`, which has the layout of its result, into a tensor that holds what is added.
  template <class Conv, class Run>
  void Check(const Conv& conv, const std::string& name, const Run& run) const {
    Tensor y(IDEEP), result(CPU);
    float* const to = PrepareOutput(&y, c.y_dims(), conv.layout());
    if (c.epilogue.sum) {
      Reorder(DescIn(OnednnFormat::kNchw, c.y_dims()), added.data(), conv.result(), to);
    }
    run(to);
    result.CopyFrom(y);
    const float* const data = result.data<float>();
    ExpectClose({data, data + result.numel()}, want, name);
  }

  const IdeepCase& c;
  const ConvInputs t;
  const Tensor plain_x, filter;
  std::vector<float> want, added;
};

// The ways of OnednnConvPlan to divide the work.
std::string CutOf(const IdeepCase& c, OnednnFormat from, const OnednnConvPlan& plan) {
  const auto pieces = static_cast<int64_t>(plan.pieces());
  const bool last = plan.layouts().result == OnednnFormat::kNhwc;
  const std::string layout = last ? " in NHWC" : " in blocks";
  if (pieces == 1) return "whole" + layout;
  if (c.image.batch >= c.division.threads) return "images" + layout;
  const std::string parts = c.image.batch > 1 ? "parts of several images" : "parts of an image";
  const bool pixels = c.shape().IsPointwise() && last && from == OnednnFormat::kNhwc;
  return parts + layout + (pixels ? ", pointwise" : "") +
         (!last && c.image.group > 1 ? ", groups" : "");
}

void CheckOnednnPlan(const IdeepRun& r, OnednnFormat from, const Tensor& x,
                     const OnednnConvLayouts& layouts, Reached* reached) {
  OnednnConvPlan plan(r.c.shape(), r.c.epilogue, DescOf(x), layouts);
  if (!plan.supported()) return;
  ++(*reached)["oneDNN: " + CutOf(r.c, from, plan)];
  r.Check(plan, "oneDNN", [&](float* y) { plan.Run(x, r.filter, r.t.bias_data(), y); });
}

void CheckBuiltIn(const IdeepRun& r, const Tensor& x, const std::string& name,
                  std::unique_ptr<BuiltInConv> conv, Reached* reached) {
  if (conv == nullptr) return;
  ++(*reached)[name];
  r.Check(*conv, name, [&](float* y) { conv->Run(x, r.filter, r.t.bias_data(), y); });
}

TEST(ConvCombinationsTest, AgreeWithTheDefinitionOnIdeep) {
  using enum OnednnFormat;
  Reached reached;
  for (const CoveringRow& row : IdeepCase::All()) {
    const IdeepCase c(row);
    SCOPED_TRACE(DescribeConv(c.image, c.division.threads));
    const ThreadsOfTest threads(c.division.threads);
    const IdeepRun run(c);
    const ConvShape shape = c.shape();
    for (const OnednnFormat from : kFormats) {
      SCOPED_TRACE(OnednnFormatName(from));
      const Tensor x = TensorIn(from, run.plain_x);
      CheckOnednnPlan(run, from, x, {.source = kNhwc, .result = kNhwc}, &reached);
      CheckOnednnPlan(run, from, x, {.source = kBlocked16, .result = kBlocked16}, &reached);
      for (const OnednnFormat to : {kNhwc, kBlocked16}) {
        const std::string in = MakeString(" in ", OnednnFormatName(to));
        CheckBuiltIn(run, x, "depthwise" + in, NewOnednnDepthwise(shape, c.epilogue, x, to),
                     &reached);
        CheckBuiltIn(run, x, "Winograd" + in, NewOnednnWinograd(shape, c.epilogue, x, to),
                     &reached);
      }
      CheckBuiltIn(run, x, "pointwise", NewOnednnPointwise(shape, c.epilogue, x), &reached);
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  ExpectReached(
      reached, {"pointwise", "oneDNN: whole in NHWC", "oneDNN: images in NHWC",
                "oneDNN: parts of an image in NHWC", "oneDNN: parts of an image in NHWC, pointwise",
                "oneDNN: parts of several images in NHWC",
                "oneDNN: parts of several images in NHWC, pointwise"});
  if (CpuIsa() < Isa::kAvx512) return;  // oneDNN has no blocks of 16 channels
  ExpectReached(
      reached,
      {"oneDNN: whole in blocks", "oneDNN: images in blocks", "oneDNN: parts of an image in blocks",
       "oneDNN: parts of several images in blocks", "oneDNN: parts of an image in blocks, groups",
       "oneDNN: parts of several images in blocks, groups"});
}

}  // namespace
}  // namespace caffe2rt::test::ideep_combinations_test
