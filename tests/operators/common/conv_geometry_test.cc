#include "operators/common/conv_geometry.h"

#include <map>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_geometry_test {
namespace {

WindowArguments Parse(const std::string& args, WindowUse use = WindowUse::kPool) {
  return ParseWindowArguments(ArgumentHelper(ParseOp("type: \"MaxPool\" " + args)), use);
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "arg { name: \"" + name + "\"";
  for (const int64_t value : values) text += " ints: " + std::to_string(value);
  return text + " } ";
}
std::string Int(const std::string& name, int64_t value) {
  return "arg { name: \"" + name + "\" i: " + std::to_string(value) + " } ";
}
const std::string kLast = R"(arg { name: "order" s: "NHWC" } )";

// Adds a batch of one image and two channels to `spatial`, in the order that the arguments specify.
std::vector<int64_t> Dims(const std::vector<int64_t>& spatial, StorageOrder order) {
  std::vector<int64_t> dims = spatial;
  dims.insert(order == StorageOrder::NCHW ? dims.begin() : dims.end(), 2);
  dims.insert(dims.begin(), 1);
  return dims;
}
WindowGeometry Geometry(const std::string& args, const std::vector<int64_t>& spatial,
                        WindowUse use = WindowUse::kPool) {
  const WindowArguments window = Parse(args, use);
  return MakeWindowGeometry(window, Dims(spatial, window.order));
}

TEST(ConvGeometryTest, ListsComeBeforeScalarsAndScalarsBeforePairs) {
  const std::string pair = Int("kernel_h", 5) + Int("kernel_w", 6);
  EXPECT_EQ(Parse(pair).kernel, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(Parse(pair + Int("kernel", 3)).kernel, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(Parse(Ints("kernels", {4}) + Int("kernel", 3)).kernel, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(Parse(Ints("kernels", {4, 7, 9}) + Int("kernel", 3)).kernel,
            (std::vector<int64_t>{4, 7}));
  const std::string kernel = Int("kernel", 9);
  EXPECT_EQ(Parse(kernel + Int("stride_h", 2)).stride, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(Parse(kernel + Int("stride_h", 2) + Int("stride_w", 3)).stride,
            (std::vector<int64_t>{2, 3}));
  const std::string three = Int("pad_t", 1) + Int("pad_l", 2) + Int("pad_b", 3);
  EXPECT_EQ(Parse(kernel + three).pads, (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(Parse(kernel + three + Int("pad_r", 4)).pads, (std::vector<int64_t>{1, 2, 3, 4}));
}

// All inputs are 10 wide. The first half of the pads are heads, the second half are tails.
TEST(ConvGeometryTest, TailsOfPadsFollowAllHeads) {
  const std::string pads = Ints("kernels", {4, 4, 4}) + Ints("pads", {1, 0, 2, 0, 3, 1});
  for (const std::string& order : {std::string(), kLast}) {
    const WindowGeometry g = Geometry(pads + order, {10, 10, 10});
    const std::vector<std::pair<int64_t, int64_t>> want{{1, 0}, {0, 3}, {2, 1}};
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(g.axis[i].pad_head, want[i].first) << i;
      EXPECT_EQ(g.axis[i].pad_tail, want[i].second) << i;
      EXPECT_EQ(g.axis[i].out, 10 + want[i].first + want[i].second - 3) << i;
    }
    EXPECT_EQ(g.batch, 1);
    EXPECT_EQ(g.channels, 2);
    EXPECT_EQ(g.in_size(), 1000);
    EXPECT_EQ(g.kernel_size(), 64);
    EXPECT_EQ(g.out_size(), 8 * 10 * 10);
    EXPECT_EQ(g.OutputDims(7), order.empty() ? (std::vector<int64_t>{1, 7, 8, 10, 10})
                                             : (std::vector<int64_t>{1, 8, 10, 10, 7}));
  }
}

TEST(ConvGeometryTest, ListsAndPairsNeedOneAxisForEachKernel) {
  struct Case {
    std::string args;
    std::vector<int64_t> spatial;
  };
  for (const Case& c :
       std::vector<Case>{{Ints("kernels", {3, 3}), {7}},
                         {Ints("kernels", {3, 3}) + Ints("pads", {1, 0, 2, 0}), {7}},
                         {Ints("kernels", {2, 2, 2}), {5, 5}},
                         {Ints("kernels", {2, 2, 2}) + Ints("pads", {1, 1, 1, 1, 1, 1}), {5, 5}},
                         {Ints("kernels", {2, 2, 2}) + Int("legacy_pad", 1), {5, 5}},
                         {Ints("kernels", {2, 2, 2}) + Int("legacy_pad", 2), {5, 5}},
                         {Ints("kernels", {2, 2, 2}) + Int("legacy_pad", 3), {5, 5}},
                         {Ints("kernels", {2, 2}), {5, 5, 5}},
                         {Int("kernel_h", 3) + Int("kernel_w", 3), {7}},
                         {Int("kernel", 3) + Ints("strides", {1, 2}), {7}},
                         {Int("kernel", 3) + Int("stride_h", 1) + Int("stride_w", 2), {7}},
                         {Int("kernel", 3) + Ints("dilations", {1, 1}), {7}},
                         {Int("kernel", 3) + Ints("pads", {1, 0, 2, 0}), {7}},
                         {Int("kernel", 3) + Int("pad_t", 1) + Int("pad_l", 0) + Int("pad_b", 2) +
                              Int("pad_r", 0),
                          {7}}}) {
    for (const std::string& order : {std::string(), kLast}) {
      SCOPED_TRACE(c.args + order);
      const WindowArguments window = Parse(c.args + order);
      const std::vector<int64_t> dims = Dims(c.spatial, window.order);
      ExpectThrows([&] { MakeWindowGeometry(window, dims); }, "one for each of kernels");
      const OperatorDef def =
          ParseOp(R"(type: "MaxPool" input: "X" output: "Y" )" + c.args + order);
      ExpectThrows(
          [&] { InferPoolShape(def, {CreateTensorShape(dims, TensorProto_DataType_FLOAT)}); },
          "one for each of kernels");
    }
  }
}

// Recorded from the original: [3, 5, 5] with kernel 2 gives [3, 5, 4].
TEST(ConvGeometryTest, ScalarsHoldForAPoolOfOneAxis) {
  for (const std::string& order : {std::string(), kLast}) {
    EXPECT_EQ(Geometry(Int("kernel", 2) + order, {5}).axis[0].out, 4);
    const WindowGeometry g =
        Geometry(Int("kernel", 3) + Int("stride", 2) + Int("pad", 1) + order, {7});
    EXPECT_EQ(g.axes, 1);
    EXPECT_EQ(
        g.axis[0],
        (WindowAxis{.in = 7, .out = 4, .kernel = 3, .stride = 2, .pad_head = 1, .pad_tail = 1}));
  }
  ExpectThrows([] { Geometry(Int("kernel", 2), {5, 5, 5}); }, "one for each of kernels");
}

TEST(ConvGeometryTest, OtherUsesRequireOneAxisForEachKernelToo) {
  const std::string three = Ints("kernels", {2, 2, 2});
  ExpectThrows([&] { Geometry(three, {5, 5}, WindowUse::kConv); }, "one for each of kernels");
  ExpectThrows([&] { Geometry(Int("kernel", 2), {5}, WindowUse::kConv); },
               "one for each of kernels");
  for (const WindowUse use : {WindowUse::kConvTranspose, WindowUse::kPad}) {
    ExpectThrows(
        [&] {
          Geometry(three + Ints("pads", {0, 0, 0, 1, 1, 0}), {5, 5}, use);
        },
        "3 kernels are given, want rank 4 and 2 kernels");
    ExpectThrows([&] { Geometry(three, {5, 5, 5}, use); }, "want rank 4 and 2 kernels");
    EXPECT_EQ(Geometry(Ints("kernels", {2, 2}), {5, 5}, use).axes, 2);
  }
}

TEST(ConvGeometryTest, GlobalPoolsAcceptAnyAxes) {
  const WindowGeometry g = Geometry(Ints("kernels", {3, 3, 3}) + Int("global_pooling", 1), {5, 6});
  EXPECT_EQ(g.axis[1], (WindowAxis{.in = 6, .out = 1, .kernel = 6}));
  ExpectThrows([] { Geometry(Int("global_pooling", 1), std::vector<int64_t>(9, 1)); },
               "want at most 8");
}

// Caffe rounds up, and drops the last window if it starts at or after the end of the input. With
// pad p, the last of n windows starts at (n - 1) * stride - p.
TEST(ConvGeometryTest, LegacyPoolsDropAWindowThatStartsInTheTail) {
  struct Case {
    int64_t in, kernel, stride, pad, out;
  };
  for (const Case& c :
       std::vector<Case>{{5, 2, 3, 1, 2},     // -1, 2 and 5, which is the end
                         {4, 2, 3, 1, 2},     // 5 is after the end
                         {6, 2, 3, 1, 3},     // 5 is the last element
                         {6, 3, 3, 1, 3},     // the same, where the division has a remainder
                         {7, 3, 3, 2, 3},     // -2, 1, 4 and 7, which is the end
                         {8, 3, 3, 2, 4},     // 7 is the last element
                         {3, 1, 3, 0, 2},     // without a pad no window is dropped
                         {2, 3, 2, 0, 1},     // shorter than the window by less than a stride
                         {2, 4, 3, 0, 1},     // the same
                         {1, 3, 2, 0, 0},     // by a stride
                         {1, 4, 2, 1, 1},     // with a pad
                         {6, 3, 2, 0, 3}}) {  // 0, 2, 4: the last window reaches beyond the end
    SCOPED_TRACE(c.in);
    EXPECT_EQ(Geometry(Ints("kernels", {c.kernel}) + Ints("strides", {c.stride}) +
                           Ints("pads", {c.pad, c.pad}) + Int("legacy_pad", 3),
                       {c.in})
                  .axis[0]
                  .out,
              c.out);
  }
}

TEST(ConvGeometryTest, SamePadsPutTheOddOneAtTheEnd) {
  const WindowAxis odd = Geometry(Ints("kernels", {4}) + Int("legacy_pad", 2), {7}).axis[0];
  EXPECT_EQ(odd.out, 7);
  EXPECT_EQ(odd.pad_head, 1);
  EXPECT_EQ(odd.pad_tail, 2);
  // Windows of 3 elements that start at 0, 3 and 6 need one element more than the 8 available.
  const WindowAxis stepped =
      Geometry(Ints("kernels", {3}) + Ints("strides", {3}) + Int("legacy_pad", 2), {8}).axis[0];
  EXPECT_EQ(stepped.out, 3);
  EXPECT_EQ(stepped.pad_head, 0);
  EXPECT_EQ(stepped.pad_tail, 1);
}

// (in - 1) * stride + kernel + adj - pads.
TEST(ConvGeometryTest, TransposedSizesAddTheAdjustment) {
  const std::string base = Int("kernel", 3) + Int("stride", 2);
  EXPECT_EQ(Geometry(base, {4, 5}, WindowUse::kConvTranspose).OutputDims(1),
            (std::vector<int64_t>{1, 1, 9, 11}));
  EXPECT_EQ(Geometry(base + Ints("pads", {1, 0, 0, 2}) + Int("adj_h", 1) + Int("adj_w", 2), {4, 5},
                     WindowUse::kConvTranspose)
                .OutputDims(1),
            (std::vector<int64_t>{1, 1, 9, 11}));
  ExpectThrows([&] { Parse(base + Int("adj", 3), WindowUse::kConvTranspose); },
               "adj of axis 0 is 3, want 0 to its stride 2");
  ExpectThrows([&] { Parse(base + Int("pad", -1), WindowUse::kConvTranspose); }, "want at least 0");
}

// The names and defaults are those of Caffe2's operators.
TEST(ConvGeometryTest, DeclaresTheArgumentsOfEachUse) {
  const std::map<std::string, std::string> shared{
      {"kernels", ""}, {"kernel", "0"},        {"kernel_h", "0"},     {"kernel_w", "0"},
      {"strides", ""}, {"stride", "1"},        {"stride_h", "1"},     {"stride_w", "1"},
      {"pads", ""},    {"pad", "0"},           {"pad_t", "0"},        {"pad_l", "0"},
      {"pad_b", "0"},  {"pad_r", "0"},         {"legacy_pad", "0"},   {"order", "NCHW"},
      {"group", "1"},  {"shared_buffer", "0"}, {"deterministic", "0"}};
  std::map<std::string, std::string> sliding{{"dilations", ""},       {"dilation", "1"},
                                             {"dilation_h", "1"},     {"dilation_w", "1"},
                                             {"global_pooling", "0"}, {"float16_compute", "0"}};
  std::map<std::string, std::string> transposed{
      {"adjs", ""}, {"adj", "0"}, {"adj_h", "0"}, {"adj_w", "0"}};
  sliding.insert(shared.begin(), shared.end());
  transposed.insert(shared.begin(), shared.end());
  for (const WindowUse use :
       {WindowUse::kConv, WindowUse::kPool, WindowUse::kPad, WindowUse::kConvTranspose}) {
    OpSchema schema;
    DeclareWindowArguments(schema, use);
    std::map<std::string, std::string> declared;
    for (const OpSchema::Argument& argument : schema.args()) {
      EXPECT_TRUE(declared.emplace(argument.name, argument.default_value).second);
    }
    EXPECT_EQ(declared, use == WindowUse::kConvTranspose ? transposed : sliding);
  }
}

TEST(ConvGeometryTest, OnlyConvolutionsCheckTheirGroup) {
  const std::string args = Int("kernel", 2) + Int("group", 0);
  EXPECT_EQ(Parse(args, WindowUse::kPool).group, 0);
  EXPECT_EQ(Parse(args, WindowUse::kPad).group, 0);
  for (const WindowUse use : {WindowUse::kConv, WindowUse::kConvTranspose}) {
    ExpectThrows([&] { Parse(args, use); }, R"(argument "group" is 0, want above 0)");
  }
}

TEST(ConvGeometryTest, TransposedConvolutionsAreNeverGlobal) {
  const std::string args = Int("kernel", 2) + Int("global_pooling", 1);
  for (const WindowUse use : {WindowUse::kConv, WindowUse::kPool, WindowUse::kPad}) {
    EXPECT_TRUE(Parse(args, use).global_pooling);
  }
  EXPECT_FALSE(Parse(args, WindowUse::kConvTranspose).global_pooling);
}

TEST(ConvGeometryTest, RejectsContradictoryArguments) {
  for (const auto& [args, text] : std::vector<std::pair<std::string, std::string>>{
           {Int("kernel", 2) + Ints("strides", {1}), "argument strides, want as many as kernels"},
           {Int("kernel", 2) + Ints("dilations", {1}),
            "argument dilations, want as many as kernels"},
           {Int("kernel", 2) + Ints("pads", {1, 1}), "argument pads, want two for each of kernels"},
           {"", "kernel of axis 0"},
           {Int("kernel", 2) + Ints("strides", {1, 0}), "stride of axis 1"},
           {Int("kernel", 2) + Int("dilation", 2), "of a pool, want 1"},
           {Int("kernel", 2) + Ints("pads", {0, 1, 0, 2}), "axis 1 has pads 1, 2"},
           {Int("kernel", 2) + Ints("pads", {2, 0, 0, 0}), "axis 0 has pads 2, 0"},
           {Int("kernel", 2) + Int("legacy_pad", 3) + Int("pad", -1), "want at least 0"},
           {Int("kernel", 2) + Int("legacy_pad", 1) + Int("pad", 0), "want no pad arguments"},
           {Int("kernel", 2) + Int("legacy_pad", 4),
            R"(argument "legacy_pad" is 4, want 0 (NOTSET))"},
           {Int("kernel", 2) + Int("legacy_pad", -1), R"(argument "legacy_pad" is -1)"},
           {Int("global_pooling", 1) + Int("pad", 1), "with global_pooling want pads 0"},
           {Int("global_pooling", 1) + Int("kernel", -1), "kernel of axis 0 with global_pooling"},
           {Int("kernel", -1), "kernel of axis 0, want at least 1"},
           {Int("global_pooling", 1) + Int("stride", 2), "with global_pooling want pads 0"}}) {
    SCOPED_TRACE(args);
    ExpectThrows([&, args = args] { Parse(args); }, text);
  }
  EXPECT_EQ(Parse(Int("kernel", 2) + Int("pad", 1)).pads, (std::vector<int64_t>{1, 1, 1, 1}));
  ExpectThrows([] { Parse(Int("kernel", 2) + Int("legacy_pad", 3), WindowUse::kConvTranspose); },
               R"(argument "legacy_pad" is 3, want 0 (NOTSET), 1 (VALID) or 2)");
  ExpectThrows(
      [] { Parse(Int("kernel", 2) + Int("legacy_pad", 2), WindowUse::kPad); },
      R"(argument "legacy_pad" is 2, want 0 (NOTSET): PadImage accepts explicit pads only)");
  ExpectThrows([] { Parse(Ints("kernels", {0, -3}), WindowUse::kPad); }, "kernel of axis 1");
  EXPECT_EQ(Parse(Ints("kernels", {0, 3}), WindowUse::kPad).kernel, (std::vector<int64_t>{1, 1}));
  ExpectThrows([] { Parse(Int("kernel", 2) + R"(arg { name: "order" s: "CHWN" })"); },
               R"(argument "order" is "CHWN", want NCHW or NHWC)");
}

TEST(ConvGeometryTest, WindowsFitUpToTheirLastTap) {
  const auto out = [](int64_t dilation, int64_t in) {
    return Geometry(Ints("kernels", {3}) + Ints("dilations", {dilation}), {in}, WindowUse::kConv)
        .axis[0]
        .out;
  };
  EXPECT_EQ(out(1, 3), 1);
  EXPECT_EQ(out(2, 5), 1);
  EXPECT_EQ(out(2, 6), 2);
  EXPECT_EQ(out(0, 1), 1);
  ExpectThrows([&] { out(2, 4); }, "want at least its dilated kernel");
}

TEST(ConvGeometryTest, OnlyTheBatchMayBeEmpty) {
  const WindowArguments window = Parse(Int("kernel", 1));
  EXPECT_EQ(MakeWindowGeometry(window, std::vector<int64_t>{0, 2, 3, 3}).OutputDims(2),
            (std::vector<int64_t>{0, 2, 3, 3}));
  for (size_t i = 1; i < 4; ++i) {
    std::vector<int64_t> dims{1, 2, 3, 3};
    dims[i] = 0;
    ExpectThrows([&] { MakeWindowGeometry(window, dims); }, "want at least 1");
  }
}

}  // namespace
}  // namespace caffe2rt::test::conv_geometry_test
