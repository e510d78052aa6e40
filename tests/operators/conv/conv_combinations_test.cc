// Every algorithm against the definition on combinations of what it divides its work by: shape,
// window, batch and threads, groups, layout. The array of the combinations covers all triples,
// because faults in the division show only under several conditions at once, such as two images on
// three threads with odd rows.
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/conv_columns.h"
#include "operators/conv/conv_gradient_plan.h"
#include "operators/conv/conv_plan.h"
#include "operators/conv/conv_transpose.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/onednn_conv_plan.h"
#include "operators/primitives/onednn_reorder.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/operators/conv/covering_array.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_combinations_test {

namespace {

using Row = std::vector<size_t>;

TEST(CoveringArrayTest, HasEachCombination) {
  const std::vector<size_t> levels = {2, 3, 4, 2};
  for (const size_t strength : {1u, 2u, 3u}) {
    std::set<std::vector<size_t>> found;
    const std::vector<Row> rows = CoveringArray(levels, strength);
    for (const Row& row : rows) {
      for (size_t chosen = 0; chosen < 16; ++chosen) {  // bit f: factor f is chosen
        std::vector<size_t> key = {chosen};
        for (size_t f = 0; f < levels.size(); ++f) {
          if (chosen >> f & 1) key.push_back(row[f]);
        }
        if (key.size() == strength + 1) found.insert(key);
      }
    }
    // 2+3+4+2; 6+8+4+12+6+8; 24+12+16+24
    const size_t want[] = {11, 44, 76};
    EXPECT_EQ(found.size(), want[strength - 1]);
    const size_t most[] = {4, 14, 30};
    EXPECT_LE(rows.size(), most[strength - 1]);
  }
}

struct Body {
  int64_t channels, filters, out_h, out_w;
  int64_t group = 1;
};
struct Window {
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, top, left, bottom, right;
};
struct Division {
  int64_t batch;
  int threads;
};

constexpr Window kWindows[] = {
    {1, 1, 1, 1, 1, 1, 0, 0, 0, 0},    // pointwise
    {1, 1, 2, 2, 1, 1, 0, 0, 0, 0},    // pointwise with strides
    {3, 3, 1, 1, 1, 1, 1, 1, 1, 1},    // Winograd
    {3, 3, 2, 2, 1, 1, 1, 0, 0, 1},    // asymmetric padding
    {3, 2, 1, 3, 2, 3, 2, 1, 1, 3},    // different on each axis
    {2, 3, 2, 1, 1, 1, -1, 2, 0, -1},  // cropped
    {3, 1, 1, 1, 1, 1, 4, 0, 0, 0},    // outputs of padding only
    {5, 5, 1, 1, 1, 1, 2, 2, 2, 2},    // much work
};
constexpr Division kDivisions[] = {{1, 3}, {2, 3}, {3, 2}};

// The input has the size that gives the output its size, and with strides one row and one column
// that no window reaches.
int64_t InputSize(int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  const int64_t extent = (kernel - 1) * dilation + 1, rest = stride > 1 ? 1 : 0;
  return std::max<int64_t>(1, (out - 1) * stride + extent - pads + rest);
}

NaiveImage ImageOf(const Body& body, const Window& w, int64_t batch) {
  return {.batch = batch,
          .channels = body.channels,
          .height = InputSize(body.out_h, w.kernel_h, w.stride_h, w.dilation_h, w.top + w.bottom),
          .width = InputSize(body.out_w, w.kernel_w, w.stride_w, w.dilation_w, w.left + w.right),
          .filters = body.filters,
          .kernel_h = w.kernel_h,
          .kernel_w = w.kernel_w,
          .stride_h = w.stride_h,
          .stride_w = w.stride_w,
          .top = w.top,
          .left = w.left,
          .bottom = w.bottom,
          .right = w.right,
          .dilation_h = w.dilation_h,
          .dilation_w = w.dilation_w,
          .group = body.group};
}

std::string Describe(const NaiveImage& p, int threads) {
  return MakeString(p.batch, "x", p.channels, "x", p.height, "x", p.width, ", ", p.filters,
                    " filters ", p.kernel_h, "x", p.kernel_w, ", strides ", p.stride_h, "x",
                    p.stride_w, ", dilations ", p.dilation_h, "x", p.dilation_w, ", pads ", p.top,
                    " ", p.left, " ", p.bottom, " ", p.right, ", group ", p.group,
                    p.channels_last ? ", NHWC, " : ", NCHW, ", threads, " threads");
}

// `count` random numbers in [-1, 1), from `first` on in one sequence.
std::vector<float> Values(int64_t count, int64_t first) {
  static const std::vector<float> all = RandomValues(2 << 20);
  CAFFE_ENFORCE_LE(static_cast<size_t>(first + count), all.size(), "numbers in the sequence");
  return {all.begin() + first, all.begin() + first + count};
}

// Random numbers of which sums of `terms` products with others in [-1, 1) have about the size of one.
std::vector<float> ValuesForSums(int64_t count, int64_t first, int64_t terms) {
  std::vector<float> values = Values(count, first);
  const float scale = 2 / std::sqrt(static_cast<float>(terms));
  for (float& value : values) value *= scale;
  return values;
}

// The inputs of a convolution.
struct Tensors {
  Tensors(const NaiveImage& p, bool with_bias) {
    const int64_t depth = p.channels / p.group * p.kernel_h * p.kernel_w;
    x = Values(p.batch * p.channels * p.height * p.width, 0);
    filter = ValuesForSums(p.filters * depth, 1000, depth);
    if (with_bias) bias = Values(p.filters, 2000);
  }
  const float* bias_data() const { return bias.empty() ? nullptr : bias.data(); }
  std::vector<float> x, filter, bias;
};

constexpr float kTolerance = 2e-4f;

void ExpectClose(const std::vector<float>& got, const std::vector<float>& want,
                 const std::string& name) {
  ASSERT_EQ(got.size(), want.size()) << name;
  EXPECT_LE(LargestDifference(got, want), kTolerance) << name;
}

// How often something was reached.
using Reached = std::map<std::string, int>;

void ExpectReached(const Reached& reached, const std::vector<std::string>& names) {
  for (const std::string& name : names) EXPECT_TRUE(reached.contains(name)) << "not: " << name;
}

class ThreadsOfTest {
 public:
  explicit ThreadsOfTest(int threads) { SetNumThreads(threads); }
  ~ThreadsOfTest() { SetNumThreads(1); }
};

// --- the CPU's layouts ---

constexpr Body kBodies[] = {
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
  explicit CpuCase(const Row& row)
      : division(kDivisions[row[2]]),
        image(ImageOf(kBodies[row[0]], kWindows[row[1]], division.batch)),
        with_bias(row[4] == 1),
        parts{.filter = row[5] != 1, .x = row[5] != 2} {
    image.channels_last = row[3] == 1;
  }
  static std::vector<Row> All() {
    return CoveringArray({std::size(kBodies), std::size(kWindows), std::size(kDivisions), 2, 2, 3},
                         3);
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

  Division division;
  NaiveImage image;
  bool with_bias;
  ConvGradientParts parts;
};

void CheckConvKernel(ConvAlgorithm algorithm, const CpuCase& c, const Tensors& t,
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
  for (const Row& row : CpuCase::All()) {
    const CpuCase c(row);
    SCOPED_TRACE(Describe(c.image, c.division.threads));
    const ThreadsOfTest threads(c.division.threads);
    const Tensors t(c.image, c.with_bias);
    const std::vector<float> want = NaiveConv(c.image, t.x, t.filter, t.bias);
    for (const ConvAlgorithm algorithm : kAllConvAlgorithms) {
      CheckConvKernel(algorithm, c, t, want, &reached);
    }
    if (c.HasStrips()) ++reached["strips of columns" + c.kind()];
    Tensor filter(std::vector<int64_t>{static_cast<int64_t>(t.filter.size())}, CPU);
    std::copy(t.filter.begin(), t.filter.end(), filter.mutable_data<float>());
    ConvPlan plan(c.shape(), false);
    std::vector<float> got(want.size(), -77.f);
    plan.Run(t.x.data(), filter, t.bias_data(), got.data());
    ExpectClose(got, want, "plan");
    const bool images = c.image.batch > 1;
    if (plan.pieces() > 1) ++reached[images ? "pieces of images" : "pieces of channels"];
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  ExpectReached(reached,
                {"im2col", "gemm", "pixels", "channels", "pixels in strips", "channels in strips",
                 "pieces of images", "strips of columns NCHW", "strips of columns NHWC",
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
  }
  return "";
}

void ExpectGradients(const NaiveGradients& got, const NaiveGradients& want, ConvGradientParts parts,
                     const std::string& name) {
  if (parts.filter) ExpectClose(got.filter, want.filter, name + ": filter");
  if (parts.x) ExpectClose(got.x, want.x, name + ": x");
}

void CheckGradientKernel(ConvGradientAlgorithm algorithm, const CpuCase& c, const Tensors& t,
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

void CheckGradientPlan(const CpuCase& c, const Tensors& t, const std::vector<float>& dy,
                       const NaiveGradients& want, Reached* reached) {
  using enum ConvBiasGradient;
  ConvGradientPlan plan(c.shape(), {.x = c.parts.x, .bias = c.with_bias ? kFromResult : kNone});
  if (plan.pieces() > 1) ++(*reached)["pieces"];
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
void CheckTransposed(const CpuCase& c, const Tensors& t, const std::vector<float>& dy,
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
  for (const Row& row : CpuCase::All()) {
    const CpuCase c(row);
    SCOPED_TRACE(Describe(c.image, c.division.threads));
    const ThreadsOfTest threads(c.division.threads);
    const Tensors t(c.image, c.with_bias);
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
  ExpectReached(reached, {"im2col", "turned", "gemm", "pieces", "transposed", "strips NCHW",
                          "strips NHWC", "strips NCHW in groups", "strips NHWC in groups"});
}

// --- IDEEP ---

constexpr Body kIdeepBodies[] = {
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
  explicit IdeepCase(const Row& row)
      : division(kDivisions[row[2]]),
        image(ImageOf(kIdeepBodies[row[0]], kWindows[row[1]], division.batch)),
        with_bias(row[3] == 1),
        epilogue{.sum = row[4] == 1} {}
  static std::vector<Row> All() {
    // With 5 x 5 taps, the depthwise body only: the definition would take most of the time.
    const size_t wide = std::size(kWindows) - 1;
    std::vector<Row> rows =
        CoveringArray({std::size(kIdeepBodies), wide, std::size(kDivisions), 2, 2}, 3);
    for (size_t i = 0; i < std::size(kDivisions); ++i) {
      rows.push_back({std::size(kIdeepBodies) - 1, wide, i, i % 2, 0});
    }
    return rows;
  }
  std::vector<int64_t> y_dims() const {
    return {image.batch, image.filters, image.out_h(), image.out_w()};
  }
  ConvShape shape() const { return ShapeOf(image, with_bias); }

  Division division;
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
    added = Values(static_cast<int64_t>(want.size()), 4000);
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
  const Tensors t;
  const Tensor plain_x, filter;
  std::vector<float> want, added;
};

// The ways of OnednnConvPlan to divide the work.
std::string CutOf(const IdeepCase& c, OnednnFormat from, const OnednnConvPlan& plan) {
  const auto pieces = static_cast<int64_t>(plan.pieces());
  const bool last = plan.choice().result == OnednnFormat::kNhwc;
  const std::string layout = last ? " in NHWC" : " in blocks";
  if (pieces == 1) return "whole" + layout;
  if (c.image.batch >= c.division.threads) return "images" + layout;
  const std::string parts = c.image.batch > 1 ? "parts of several images" : "parts of an image";
  const bool pixels = c.shape().IsPointwise() && last && from == OnednnFormat::kNhwc;
  return parts + layout + (pixels ? ", pointwise" : "") +
         (!last && c.image.group > 1 ? ", groups" : "");
}

void CheckOnednnPlan(const IdeepRun& r, OnednnFormat from, const Tensor& x,
                     const OnednnConvChoice& choice, Reached* reached) {
  OnednnConvPlan plan(r.c.shape(), r.c.epilogue, DescOf(x), {.choices = {choice}});
  if (!plan.supported()) return;
  ++(*reached)["oneDNN: " + CutOf(r.c, from, plan)];
  r.Check(plan, "oneDNN", [&](float* y) { plan.Run(OnednnData(x), r.filter, r.t.bias_data(), y); });
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
  for (const Row& row : IdeepCase::All()) {
    const IdeepCase c(row);
    SCOPED_TRACE(Describe(c.image, c.division.threads));
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
}

}  // namespace
}  // namespace caffe2rt::test::conv_combinations_test
