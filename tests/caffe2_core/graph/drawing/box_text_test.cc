// The lines in the box of an operator: its arguments, and the names of its blobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/drawing/argument_text.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/node_box.h"
#include "caffe2_core/graph/drawing/node_text.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::box_text_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kTimes = "\xC3\x97", kEllipsis = "\xE2\x80\xA6";

std::string I(const std::string& name, int64_t value) {
  return MakeString("arg { name: '", name, "' i: ", value, " } ");
}
std::string Ints(const std::string& name, const std::vector<int>& values) {
  std::string text = "arg { name: '" + name + "' ";
  for (const int value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}
// The fields of the argument of an operator.
std::string Value(const std::string& fields, size_t most = 100) {
  return ArgumentText(ParseOp("type: 'T' arg { " + fields + " }").arg(0), most);
}
std::string Detail(const std::string& type, const std::string& args) {
  return DetailText(ParseOp("type: '" + type + "' " + args));
}

TEST(BoxTextTest, ValuesOfArgumentsOfEachKind) {
  const struct {
    const char* fields;
    const char* text;
  } rows[] = {
      {"f: -0.5", "-0.5"},
      {"i: -3", "-3"},
      {"i: 9223372036854775807", "9223372036854775807"},
      {"s: 'NHWC'", "\"NHWC\""},
      {"s: ''", "\"\""},
      {"n { }", "a net of 0 operators"},
      {"n { op { } op { } op { } }", "a net of 3 operators"},
      {"floats: 1.5 floats: -2", "[1.5, -2]"},
      {"ints: 7", "[7]"},
      {"ints: 1 ints: -2 ints: 3", "[1, -2, 3]"},
      {"strings: 'a' strings: ''", "[\"a\", \"\"]"},
      {"nets { } nets { }", "2 nets"},
      {"nets { }", "1 net"},
      {"t { }", "a tensor"},
      {"tensors { } tensors { }", "a tensor"},
      {"", "[]"},
      // The first of several kinds
      {"f: 2 i: 3", "2"},
      {"i: 3 s: 'a'", "3"},
      {"ints: 4 strings: 'a'", "[4]"},
  };
  for (const auto& row : rows) EXPECT_EQ(Value(row.fields), row.text) << row.fields;
}

// Neither the separator before an element nor the bracket after it counts.
TEST(BoxTextTest, ListsEndBeforeTheElementThatDoesNotFit) {
  const std::string three = "ints: 1 ints: 22 ints: 3";
  EXPECT_EQ(Value(three, 7), "[1, 22, 3]");  // "[1, 22" and "3"
  EXPECT_EQ(Value(three, 6), "[1, 22" + kEllipsis + ", 3 values]");
  EXPECT_EQ(Value(three, 4), "[1, 22" + kEllipsis + ", 3 values]");
  EXPECT_EQ(Value(three, 3), "[1" + kEllipsis + ", 3 values]");
  EXPECT_EQ(Value(three, 1), "[" + kEllipsis + ", 3 values]");
}

TEST(BoxTextTest, WindowsAreStatedForEachAxis) {
  const std::string kernel = I("kernel", 3), three = "3" + kTimes + "3";
  const struct {
    std::string args;
    std::string text;
  } rows[] = {
      {kernel, three},
      {Ints("kernels", {5}), "5"},
      {Ints("kernels", {1, 2, 1, 2, 1, 2, 1, 2}), "1" + kTimes + "2" + kTimes + "1" + kTimes + "2" +
                                                      kTimes + "1" + kTimes + "2" + kTimes + "1" +
                                                      kTimes + "2"},
      {Ints("kernels", {1, 1, 1, 1, 1, 1, 1, 1, 1}), "kernels [1, 1, 1, 1, 1, 1, 1, 1, 1]"},
      // A list precedes one number for each axis, which precede one for both.
      {kernel + I("kernel_h", 1) + I("kernel_w", 2), "1" + kTimes + "2"},
      {kernel + I("kernel_h", 1) + I("kernel_w", 2) + Ints("kernels", {4, 5}), "4" + kTimes + "5"},
      {kernel + I("kernel_w", 2), three},
      {I("kernel_h", 0) + I("kernel_w", 5), "0" + kTimes + "5"},
      {kernel + I("stride", 1) + I("pad", 0) + I("dilation", 1) + I("group", 1), three},
      {kernel + I("stride", 2) + I("pad", 1) + I("dilation", 4) + I("group", 32),
       three + ", stride 2, pad 1, dilation 4, group 32"},
      {kernel + Ints("strides", {2, 2}), three + ", stride 2"},
      {kernel + Ints("strides", {1, 2}), three + ", stride 1/2"},
      {kernel + Ints("pads", {0, 0, 0, 0}), three},
      {kernel + Ints("pads", {0, 1, 2, 3}), three + ", pad 0/1/2/3"},
      {kernel + I("pad_l", 1), three + ", pad 0/1/0/0"},
      {kernel + I("pad_b", 1), three + ", pad 0/0/1/0"},
      {kernel + I("pad_r", 1), three + ", pad 0/0/0/1"},
      {kernel + I("pad_r", 0), three},
      {kernel + I("pad_t", 1) + I("pad", 9), three + ", pad 1/0/0/0"},
      {kernel + I("dilation_h", 2) + I("dilation_w", 1), three + ", dilation 2/1"},
      {kernel + I("group", 0), three + ", group 0"},
      {kernel + I("global_pooling", 1), three + ", global"},
      {kernel + I("global_pooling", 0), three},
      {I("stride", 2), "stride 2"},
      // 60 bytes: four numbers with their signs, nine digits and the dots
      {Ints("kernels", std::vector<int>(8, 1111111111)),
       "1111111111" + kTimes + "1111111111" + kTimes + "1111111111" + kTimes + "1111111111" +
           kTimes + "111111111..."},
      {kernel + I("axis", 1), three},
  };
  for (const auto& row : rows) EXPECT_EQ(Detail("Conv", row.args), row.text) << row.args;
}

// A name and its shape share a line where they fit and there are several outputs.
TEST(BoxTextTest, NamesAndShapesShareLinesWhereTheyFit) {
  const std::string shape = "float [2, 3]";
  for (size_t size = 1; size <= 80; ++size) {
    NetSummary summary;
    summary.ops.emplace_back();
    const std::string name(size, 'm'), both = name + ": " + shape;
    for (const std::string& output : {name, std::string("n")}) {
      summary.ops[0].output_names.push_back(output);
      summary.ops[0].outputs.push_back(
          CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT));
    }
    if (TextWidth(both, kTextPx, false) <= kMostTextPx) {
      EXPECT_THAT(OutputLines(summary, {0}), ElementsAre(both, "n: " + shape)) << size;
    } else {
      EXPECT_THAT(OutputLines(summary, {0}), ElementsAre(name, shape, "n: " + shape)) << size;
    }
    summary.ops[0].output_names.pop_back();
    EXPECT_THAT(OutputLines(summary, {0}), ElementsAre(name, shape)) << size;
  }
}

// A number in one operator, and what is not known in the other.
TEST(BoxTextTest, UnknownShapesAreNotLikeNumbers) {
  NetSummary summary;
  for (const TensorShape& shape :
       {CreateTensorShape(std::vector<int64_t>(), TensorProto::FLOAT), UnknownShape()}) {
    summary.ops.emplace_back();
    summary.ops.back().output_names = {"y"};
    summary.ops.back().outputs = {shape};
  }
  summary.ops[1].outputs[0].set_data_type(TensorProto::FLOAT);
  EXPECT_THAT(OutputLines(summary, {0}), ElementsAre("y", "float []"));
  EXPECT_THAT(OutputLines(summary, {0, 1}), ElementsAre("y"));
  EXPECT_THAT(OutputLines(summary, {1, 0}), ElementsAre("y"));
}

// Numbers that are not integers are no windows, and only some arguments are element types.
TEST(BoxTextTest, ArgumentsOfOtherKindsAreStatedAsTheyAre) {
  EXPECT_EQ(Detail("Conv", "arg { name: 'kernel' f: 3.5 }"), "kernel 3.5");
  EXPECT_EQ(Detail("Conv", "arg { name: 'kernel' f: 3.5 } " + I("stride", 2)), "stride 2");
  EXPECT_EQ(Detail("Conv", "arg { name: 'kernels' floats: 3.5 } " + I("kernel", 2)),
            "2" + kTimes + "2");
  EXPECT_EQ(Detail("Cast", I("to", 1)), MakeString("to ", DataTypeName(TensorProto::FLOAT)));
  EXPECT_EQ(Detail("Cast", I("axis", 1)), "axis 1");
  EXPECT_EQ(Detail("Cast", I("to", 99)), "to 99");
  EXPECT_EQ(Detail("Cast", I("to", (int64_t{1} << 32) + 1)), "to 4294967297");
  EXPECT_EQ(Detail("Cast", "arg { name: 'to' s: 'float' }"), "to \"float\"");
  EXPECT_EQ(Detail("Cast", "arg { name: 'to' f: 1.5 }"), "to 1.5");
}

TEST(BoxTextTest, OtherArgumentsAreTheFirstShortOnes) {
  const std::string name59(59, 'a'), name60(60, 'a');
  const struct {
    std::string args;
    std::string text;
  } rows[] = {
      {"", ""},
      {I("axis", 1) + I("axis_w", -2), "axis 1, axis_w -2"},
      {I("flag", 0) + I("axis", 1), "axis 1"},
      {"arg { name: 'x' f: 0 }", "x 0"},
      {"arg { name: 'x' nets { } } arg { name: 'y' n { } }", ""},
      {I(name59, 1), name59 + " 1"},
      {I(name60, 1), ""},
      {I(name60, 1) + I("b", 2), "b 2"},
      {I("to", 10), "to 10"},  // an element type only where the schema says so
  };
  for (const auto& row : rows) EXPECT_EQ(Detail("MyType", row.args), row.text) << row.args;
  for (const char* minor : {"order",
                            "is_test",
                            "epsilon",
                            "momentum",
                            "exhaustive_search",
                            "ws_nbytes_limit",
                            "values",
                            "legacy_pad",
                            "Y_scale",
                            "Y_zero_point",
                            "use_cudnn",
                            "net_position",
                            "debug_info",
                            "broadcast",
                            "beta",
                            "bias",
                            "size",
                            "float16_compute",
                            "shared_buffer",
                            "deterministic",
                            "dtype",
                            "init_params",
                            "cudnn_exhaustive_search",
                            "allow_broadcast_fastpath"}) {
    EXPECT_EQ(Detail("MyType", I(minor, 1)), "") << minor;
  }
  EXPECT_EQ(Detail("Cast", I("to", 10)), "to int64");
  EXPECT_EQ(Detail("Cast", I("to", 1)), "to float");
  EXPECT_EQ(Detail("Cast", I("to", 99)), "to 99");
  EXPECT_EQ(Detail("Cast", I("to", 2147483648)), "to 2147483648");
}

TEST(BoxTextTest, CountsAndNames) {
  EXPECT_EQ(CountText(0, "operator"), "0 operators");
  EXPECT_EQ(CountText(1, "operator"), "1 operator");
  EXPECT_EQ(CountText(2, "operator"), "2 operators");
  EXPECT_THAT(NameLines({}), IsEmpty());
  EXPECT_THAT(NameLines({"a", "b", "c", "d"}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(NameLines({"a", "b", "c", "d", "e"}), ElementsAre("a", "b", "c", "+ 2 more"));
  EXPECT_THAT(NameLines({std::string(200, 'x')}), ElementsAre(std::string(200, 'x')));
  EXPECT_THAT(NameLines({"a", std::string(201, 'x')}),
              ElementsAre("a", std::string(197, 'x') + "..."));
}

}  // namespace
}  // namespace caffe2rt::test::box_text_test
