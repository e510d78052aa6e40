// The windows of ONNX's attributes, compared with windows that are counted one by one, and the messages of attributes
// that do not fit.
#include "operators/common/window_attributes.h"

#include <random>

#include "operators/common/conv_geometry.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::window_attributes_test {
namespace {

using Numbers = std::vector<int64_t>;

std::string List(const std::string& name, const Numbers& values) {
  std::string text = " arg { name: '" + name + "'";
  for (const int64_t value : values) text += " ints: " + std::to_string(value);
  return text + " }";
}
std::string Text(const std::string& name, const std::string& value) {
  return " arg { name: '" + name + "' s: '" + value + "' }";
}
std::string Flag(const std::string& name) { return " arg { name: '" + name + "' i: 1 }"; }

WindowAttributes Parsed(const std::string& args) {
  return WindowAttributes(ArgumentHelper(ParseOp("type: 'x' " + args)));
}
Windows WindowsFor(const std::string& args, const Numbers& dims, const Numbers& kernel) {
  Windows windows;
  WindowsOf(Parsed(args), dims, kernel, &windows);
  return windows;
}

struct AxisSizes {
  int64_t in, kernel, stride, dilation, head, tail;
};
// The windows that begin every `stride` elements and end before the tail padding does. With `ceil`, one more may
// reach beyond it, if it begins before the tail padding.
int64_t CountOneByOne(const AxisSizes& a, bool ceil) {
  const int64_t extent = (a.kernel - 1) * a.dilation + 1;
  int64_t count = 0, start = -a.head;
  for (; start + extent <= a.in + a.tail; start += a.stride) ++count;
  const bool covered = start - a.stride + extent == a.in + a.tail;
  return count + (ceil && !covered && start < a.in ? 1 : 0);
}

TEST(WindowAttributesTest, CountsTheWindowsOfEachAxis) {
  std::mt19937 random(3);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 400; ++i) {
    const auto axes = static_cast<size_t>(draw(1, 3));
    Numbers dims = {draw(0, 2), draw(1, 3)}, kernel, strides, dilations, heads, tails;
    std::vector<AxisSizes> sizes;
    bool fits = true, fits_ceil = true;
    for (size_t d = 0; d < axes; ++d) {
      AxisSizes a{draw(1, 12), draw(1, 4), draw(1, 4), draw(1, 3), draw(-1, 3), draw(-1, 3)};
      const int64_t lack = (a.kernel - 1) * a.dilation + 1 - (a.in + a.head + a.tail);
      fits = fits && lack <= 0;
      fits_ceil = fits_ceil && (lack <= 0 || (lack < a.stride && a.head + a.in > 0));
      sizes.push_back(a);
      dims.push_back(a.in);
      kernel.push_back(a.kernel);
      strides.push_back(a.stride);
      dilations.push_back(a.dilation);
      heads.push_back(a.head);
      tails.push_back(a.tail);
    }
    Numbers pads = heads;
    pads.insert(pads.end(), tails.begin(), tails.end());
    const std::string given =
        List("strides", strides) + List("dilations", dilations) + List("pads", pads);
    for (const bool ceil : {false, true}) {
      SCOPED_TRACE(given + List("kernel", kernel) + (ceil ? " ceil" : ""));
      if (!(ceil ? fits_ceil : fits)) {
        EXPECT_THROW(WindowsFor(given + (ceil ? Flag("ceil_mode") : ""), dims, kernel),
                     EnforceNotMet);
        continue;
      }
      const Windows windows = WindowsFor(given + (ceil ? Flag("ceil_mode") : ""), dims, kernel);
      EXPECT_EQ(windows.batch, dims[0]);
      EXPECT_EQ(windows.channels, dims[1]);
      EXPECT_EQ(windows.axes, static_cast<int>(axes));
      Numbers want = {dims[0], 9}, got;
      int64_t out = 1, taps = 1, in = 1;
      for (size_t d = 0; d < axes; ++d) {
        const WindowAxis& axis = windows.axis[3 - axes + d];
        want.push_back(CountOneByOne(sizes[d], ceil));
        EXPECT_EQ(axis.out, want.back()) << d;
        EXPECT_EQ(axis.in, sizes[d].in);
        EXPECT_EQ(axis.kernel, sizes[d].kernel);
        EXPECT_EQ(axis.stride, sizes[d].stride);
        EXPECT_EQ(axis.dilation, sizes[d].dilation);
        EXPECT_EQ(axis.pad_head, sizes[d].head);
        EXPECT_EQ(axis.pad_tail, sizes[d].tail);
        out *= axis.out;
        taps *= axis.kernel;
        in *= axis.in;
      }
      for (size_t d = 0; d + axes < 3; ++d) EXPECT_EQ(windows.axis[d].out, 1);
      EXPECT_EQ(windows.out_size(), out);
      EXPECT_EQ(windows.taps(), taps);
      EXPECT_EQ(windows.in_size(), in);
      WindowOutputDims(windows, 9, &got);
      EXPECT_EQ(got, want);
    }
  }
}

TEST(WindowAttributesTest, PadsToOneWindowForEachStride) {
  for (int64_t in = 1; in <= 9; ++in) {
    for (int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (int64_t stride = 1; stride <= 5; ++stride) {
        for (int64_t dilation = 1; dilation <= 2; ++dilation) {
          SCOPED_TRACE(MakeString(in, " ", kernel, " ", stride, " ", dilation));
          const std::string given = List("strides", {stride}) + List("dilations", {dilation});
          const int64_t out = (in + stride - 1) / stride, extent = (kernel - 1) * dilation + 1;
          const int64_t total = std::max<int64_t>((out - 1) * stride + extent - in, 0);
          for (const bool upper : {true, false}) {
            // Pads that are given have no effect.
            const Windows windows =
                WindowsFor(given + List("pads", {7, 7}) +
                               Text("auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER"),
                           {1, 1, in}, {kernel});
            const WindowAxis& axis = windows.axis[2];
            EXPECT_EQ(axis.out, out);
            EXPECT_EQ(axis.pad_head + axis.pad_tail, total);
            EXPECT_EQ((upper ? axis.pad_tail : axis.pad_head) * 2, total + total % 2);
          }
          if (extent > in) continue;
          const Windows valid = WindowsFor(given + List("pads", {7, 7}) + Text("auto_pad", "VALID"),
                                           {1, 1, in}, {kernel});
          EXPECT_EQ(valid.axis[2].out, CountOneByOne({in, kernel, stride, dilation, 0, 0}, false));
          EXPECT_EQ(valid.axis[2].pad_head, 0);
          EXPECT_EQ(valid.axis[2].pad_tail, 0);
        }
      }
    }
  }
}

TEST(WindowAttributesTest, StepsByOneWithoutPadsByDefault) {
  for (const std::string& args :
       {std::string(), Text("auto_pad", ""), Text("auto_pad", "NOTSET")}) {
    const Windows windows = WindowsFor(args, {2, 3, 5, 7}, {2, 3});
    for (const size_t i : {1u, 2u}) {
      EXPECT_EQ(windows.axis[i].stride, 1);
      EXPECT_EQ(windows.axis[i].dilation, 1);
      EXPECT_EQ(windows.axis[i].pad_head, 0);
      EXPECT_EQ(windows.axis[i].pad_tail, 0);
    }
    EXPECT_EQ(windows.axis[1].out, 4);
    EXPECT_EQ(windows.axis[2].out, 5);
  }
  const WindowAttributes attributes = Parsed(List("kernel_shape", {4, 5}));
  EXPECT_EQ(attributes.kernel_shape, (Numbers{4, 5}));
  EXPECT_FALSE(attributes.ceil_mode);
  EXPECT_EQ(attributes.auto_pad, AutoPad::kNotSet);
  // What an earlier use left is forgotten.
  Windows windows = WindowsFor("", {2, 3, 5, 7, 9}, {2, 3, 4});
  WindowsOf(attributes, Numbers{1, 1, 6}, Numbers{2}, &windows);
  EXPECT_EQ(windows.axes, 1);
  EXPECT_EQ(windows.out_size(), 5);
  EXPECT_EQ(windows.taps(), 2);
}

TEST(WindowAttributesTest, NamesWhatDoesNotFit) {
  const auto parse = [](const std::string& args) { return [args] { Parsed(args); }; };
  const auto size = [](const std::string& args, const Numbers& dims, const Numbers& kernel) {
    return [=] { WindowsFor(args, dims, kernel); };
  };
  ExpectRefusals({
      {parse(List("kernel_shape", {3, 0})),
       "argument kernel_shape contains 0, want 1 to 1073741824"},
      {parse(List("strides", {0})), "argument strides contains 0, want 1 to 1073741824"},
      {parse(List("strides", {1, 1073741825})),
       "argument strides contains 1073741825, want 1 to 1073741824"},
      {parse(List("dilations", {-1})), "argument dilations contains -1, want 1 to 1073741824"},
      {parse(List("pads", {0, -1073741825})),
       "argument pads contains -1073741825, want -1073741824 to 1073741824"},
      {parse(Text("auto_pad", "SAME")),
       "argument auto_pad is \"SAME\", want NOTSET, VALID, SAME_UPPER or SAME_LOWER"},
      {size(List("strides", {1}), {1, 1, 4, 4}, {2, 2}),
       "argument strides has 1 numbers, want 2 for the spatial axes of input 0"},
      {size(List("dilations", {1, 1, 1}), {1, 1, 4, 4}, {2, 2}),
       "argument dilations has 3 numbers, want 2 for the spatial axes of input 0"},
      {size(List("pads", {1, 1}), {1, 1, 4, 4}, {2, 2}),
       "argument pads has 2 numbers, want 4 for the spatial axes of input 0"},
      {size("", {1, 1, 4, 4}, {2}),
       "sizes of the window, want one for each spatial axis (got 1, want 2)"},
      {size("", {1, 1}, {}), "input 0 has shape [1, 1], want [N, C] and one to three spatial axes"},
      {size("", {1, 1, 2, 2, 2, 2}, {1, 1, 1, 1}),
       "input 0 has shape [1, 1, 2, 2, 2, 2], want [N, C] and one to three spatial axes"},
      {size(List("pads", {0, 1}), {1, 1, 4}, {6}),
       "windows of spatial axis 0 span 6 elements, want at most the 4 elements of input 0 with "
       "padding 0 and 1"},
      {size(List("dilations", {1, 3}), {1, 1, 9, 6}, {3, 3}),
       "windows of spatial axis 1 span 7 elements, want at most the 6 elements of input 0 with "
       "padding 0 and 0"},
      {size("", {1, 1, 4}, {0}),
       "spatial axis 0 has 4 elements and a window of 0, want at most 1073741824 and a window of "
       "at least 1"},
  });
}

// Caffe2's arguments check each axis.
TEST(WindowArgumentsTest, AreCheckedOnEveryAxis) {
  const auto parse = [](const std::string& args, WindowUse use) {
    return MessageOf(
        [&] { ParseWindowArguments(ArgumentHelper(ParseOp("type: 'x' " + args)), use); });
  };
  for (const size_t axis : {0u, 1u, 2u}) {
    const auto with = [&](const std::string& name, int64_t usual, int64_t value) {
      Numbers values(3, usual);
      values[axis] = value;
      return List(name, values);
    };
    const std::string threes = List("kernels", {3, 3, 3}),
                      of = MakeString(" of axis ", axis, ", want");
    const auto has = [](const std::string& message, const std::string& part) {
      EXPECT_NE(message.find(part), std::string::npos) << message << "\nwant: " << part;
    };
    has(parse(threes + with("strides", 1, 0), WindowUse::kConv), "stride" + of);
    has(parse(with("kernels", 3, 0), WindowUse::kConv), "kernel" + of);
    has(parse(threes + with("dilations", 1, -1), WindowUse::kConv), "dilation" + of);
    has(parse(threes + with("dilations", 1, 2), WindowUse::kPool),
        MakeString("dilation of axis ", axis, " of a pool"));
    has(parse(threes + with("dilations", 1, 2) + " arg { name: 'legacy_pad' i: 2 }",
              WindowUse::kConv),
        MakeString("dilation of axis ", axis, " with legacy_pad SAME"));
    for (const size_t side : {0u, 3u}) {
      Numbers pads(6, 0);
      pads[axis + side] = 3;
      has(parse(threes + List("pads", pads), WindowUse::kPool),
          MakeString("axis ", axis, " has pads ", side == 0 ? 3 : 0, ", ", side == 0 ? 0 : 3));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::window_attributes_test
