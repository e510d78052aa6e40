// What is computed at import: the values of operators on constants, as ONNX defines them, without
// an operator left in the nets; and the shapes of inputs.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"

namespace caffe2rt::test::folding_test {
namespace {

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7,
              kBool = 9, kDouble = 11;

std::string Constant(const std::string& name, int type, const std::vector<int64_t>& dims,
                     const std::vector<double>& values) {
  std::string text = MakeString("initializer { name: '", name, "' data_type: ", type, " ");
  for (const int64_t dim : dims) text += MakeString("dims: ", dim, " ");
  const char* const field = type == kFloat    ? "float_data: "
                            : type == kDouble ? "double_data: "
                            : type == kInt64  ? "int64_data: "
                                              : "int32_data: ";
  for (const double value : values) {
    text += field;
    text += type == kFloat || type == kDouble ? std::to_string(value)
                                              : std::to_string(static_cast<int64_t>(value));
    text += " ";
  }
  return text + "} ";
}
std::string List(const std::string& name, const std::vector<double>& values, int type = kInt64) {
  return Constant(name, type, {static_cast<int64_t>(values.size())}, values);
}
std::string Scalar(const std::string& name, double value, int type = kInt64) {
  return Constant(name, type, {}, {value});
}
std::string Int(const std::string& name, int64_t value) {
  return MakeString("attribute { name: '", name, "' type: INT i: ", value, " } ");
}
// Inputs of one letter; "-" is absent.
std::string Node(const std::string& type, const std::string& inputs,
                 const std::string& attributes = "", const std::string& output = "y") {
  std::string text = "node { op_type: '" + type + "' name: 'n" + output + "' ";
  for (const char input : inputs) {
    text += MakeString("input: '", input == '-' ? std::string() : std::string(1, input), "' ");
  }
  return text + "output: '" + output + "' " + attributes + "} ";
}

template <class T>
std::vector<double> Numbers(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}
std::vector<double> NumbersOf(const Tensor& tensor) {
  if (tensor.IsType<float>()) return Numbers<float>(tensor);
  if (tensor.IsType<double>()) return Numbers<double>(tensor);
  if (tensor.IsType<int64_t>()) return Numbers<int64_t>(tensor);
  if (tensor.IsType<int32_t>()) return Numbers<int32_t>(tensor);
  if (tensor.IsType<int16_t>()) return Numbers<int16_t>(tensor);
  if (tensor.IsType<int8_t>()) return Numbers<int8_t>(tensor);
  if (tensor.IsType<uint16_t>()) return Numbers<uint16_t>(tensor);
  if (tensor.IsType<uint8_t>()) return Numbers<uint8_t>(tensor);
  return Numbers<bool>(tensor);
}

struct Fold {
  std::string graph;  // constants and nodes that write y
  std::vector<int64_t> dims;
  std::vector<double> want;
  int type = kInt64;  // of y
};

bool HasType(const Tensor& tensor, int type) {
  switch (type) {
    case kFloat:
      return tensor.IsType<float>();
    case kDouble:
      return tensor.IsType<double>();
    case kInt64:
      return tensor.IsType<int64_t>();
    case kInt32:
      return tensor.IsType<int32_t>();
    case kInt16:
      return tensor.IsType<int16_t>();
    case kInt8:
      return tensor.IsType<int8_t>();
    case kUint16:
      return tensor.IsType<uint16_t>();
    case kUint8:
      return tensor.IsType<uint8_t>();
    default:
      return tensor.IsType<bool>();
  }
}

// The types of all operators but fills and casts of fills.
std::string OperatorsOf(const OnnxModel& model) {
  std::string types;
  for (const NetDef* net : {&model.init_net, &model.predict_net}) {
    for (const OperatorDef& op : net->op()) {
      const bool fills =
          op.type().starts_with("GivenTensor") || (net == &model.init_net && op.type() == "Cast");
      if (!fills) types += op.type() + " ";
    }
  }
  return types;
}

void Check(const std::vector<Fold>& folds, bool folded = true) {
  for (const Fold& fold : folds) {
    SCOPED_TRACE(fold.graph);
    const std::string bytes = OnnxBytes(fold.graph + "output { name: 'y' }", 18);
    ASSERT_EQ(OnnxImportError(bytes), "");
    const OnnxModel model = ImportOnnxFromMemory(bytes, {});
    if (folded) {
      EXPECT_EQ(OperatorsOf(model), "Copy ");
      EXPECT_EQ(model.output_dims.at("y"), fold.dims);
    }
    const Tensor y = RunOnnxBytes(bytes, {}, "y");
    EXPECT_EQ(y.dims(), fold.dims);
    EXPECT_TRUE(HasType(y, fold.type));
    if (HasType(y, fold.type)) EXPECT_EQ(NumbersOf(y), fold.want);
  }
}

TEST(FoldingTest, ArithmeticOfIntegers) {
  const std::string ab = List("a", {-7, 7, 6}) + List("b", {2, -2, 3});
  const std::string bits = List("p", {0, 0, 1, 1}, kBool) + List("q", {0, 1, 0, 1}, kBool);
  const std::string broadcast = Constant("r", kInt64, {2, 1}, {10, 20}) + List("s", {1, 2, 3});
  Check({{ab + Node("Add", "ab"), {3}, {-5, 5, 9}},
         {ab + Node("Sub", "ab"), {3}, {-9, 9, 3}},
         {ab + Node("Mul", "ab"), {3}, {-14, -14, 18}},
         // Rounded to zero; the rest has the sign of the divisor.
         {ab + Node("Div", "ab"), {3}, {-3, -3, 2}},
         {ab + Node("Mod", "ab"), {3}, {1, -1, 0}},
         {ab + Node("Max", "ab"), {3}, {2, 7, 6}},
         {ab + Node("Min", "ab"), {3}, {-7, -2, 3}},
         {ab + List("c", {9, 9, 1}) + Node("Max", "abc"), {3}, {9, 9, 6}},
         {ab + List("c", {9, 9, 1}) + Node("Min", "abc"), {3}, {-7, -2, 1}},
         {ab + Node("Equal", "ab"), {3}, {0, 0, 0}, kBool},
         {ab + Node("Equal", "aa"), {3}, {1, 1, 1}, kBool},
         {ab + Node("Less", "ab"), {3}, {1, 0, 0}, kBool},
         {ab + Node("Less", "aa"), {3}, {0, 0, 0}, kBool},
         {ab + Node("LessOrEqual", "aa"), {3}, {1, 1, 1}, kBool},
         {ab + Node("LessOrEqual", "ab"), {3}, {1, 0, 0}, kBool},
         {ab + Node("Greater", "ab"), {3}, {0, 1, 1}, kBool},
         {ab + Node("Greater", "aa"), {3}, {0, 0, 0}, kBool},
         {ab + Node("GreaterOrEqual", "aa"), {3}, {1, 1, 1}, kBool},
         {ab + Node("GreaterOrEqual", "ab"), {3}, {0, 1, 1}, kBool},
         {bits + Node("And", "pq"), {4}, {0, 0, 0, 1}, kBool},
         {bits + Node("Or", "pq"), {4}, {0, 1, 1, 1}, kBool},
         {bits + Node("Xor", "pq"), {4}, {0, 1, 1, 0}, kBool},
         {bits + Node("Not", "p"), {4}, {1, 1, 0, 0}, kBool},
         {ab + Node("Neg", "a"), {3}, {7, -7, -6}},
         {ab + Node("Abs", "a"), {3}, {7, 7, 6}},
         {broadcast + Node("Add", "rs"), {2, 3}, {11, 12, 13, 21, 22, 23}},
         {broadcast + Node("Sub", "sr"), {2, 3}, {-9, -8, -7, -19, -18, -17}},
         {broadcast + Scalar("t", 5) + Node("Mul", "ts"), {3}, {5, 10, 15}}});
}

TEST(FoldingTest, IntegersWrapAsTheirTypes) {
  const auto sum = [](int type, double a, double b) {
    return List("a", {a}, type) + List("b", {b}, type) + Node("Add", "ab");
  };
  Check({{sum(kInt32, 2147483647, 1), {1}, {-2147483648.0}, kInt32},
         {sum(kInt16, 32767, 2), {1}, {-32767}, kInt16},
         {sum(kInt8, 100, 100), {1}, {-56}, kInt8},
         {sum(kUint8, 250, 10), {1}, {4}, kUint8},
         {sum(kUint16, 65535, 3), {1}, {2}, kUint16}});
}

TEST(FoldingTest, FloatingPoint) {
  const std::string ab = List("a", {2.25, -2.5}, kFloat) + List("b", {2, 2}, kFloat);
  Check({{ab + Node("Add", "ab"), {2}, {4.25, -0.5}, kFloat},
         {ab + Node("Sub", "ab"), {2}, {0.25, -4.5}, kFloat},
         {ab + Node("Mul", "ab"), {2}, {4.5, -5}, kFloat},
         {ab + Node("Div", "ab"), {2}, {1.125, -1.25}, kFloat},
         {ab + Node("Less", "ab"), {2}, {0, 1}, kBool},
         {ab + Node("Equal", "bb"), {2}, {1, 1}, kBool},
         {ab + Node("GreaterOrEqual", "ab"), {2}, {1, 0}, kBool},
         {ab + Node("GreaterOrEqual", "bb"), {2}, {1, 1}, kBool},
         {ab + Node("LessOrEqual", "ab"), {2}, {0, 1}, kBool},
         {ab + Node("LessOrEqual", "bb"), {2}, {1, 1}, kBool},
         {ab + Node("Greater", "ab"), {2}, {1, 0}, kBool},
         {ab + Node("Greater", "bb"), {2}, {0, 0}, kBool},
         {ab + Node("Less", "bb"), {2}, {0, 0}, kBool},
         {ab + Node("Equal", "ab"), {2}, {0, 0}, kBool},
         {ab + Node("Neg", "a"), {2}, {-2.25, 2.5}, kFloat},
         {ab + Node("Abs", "a"), {2}, {2.25, 2.5}, kFloat},
         {ab + Node("Floor", "a"), {2}, {2, -3}, kFloat},
         {ab + Node("Ceil", "a"), {2}, {3, -2}, kFloat},
         {List("c", {2.25, 4}, kFloat) + Node("Sqrt", "c"), {2}, {1.5, 2}, kFloat},
         // Rounded to float, but not doubles.
         {List("c", {16777216}, kFloat) + List("d", {1}, kFloat) + Node("Add", "cd"),
          {1},
          {16777216},
          kFloat},
         {List("c", {16777216}, kDouble) + List("d", {1}, kDouble) + Node("Add", "cd"),
          {1},
          {16777217},
          kDouble}});
}

TEST(FoldingTest, Casts) {
  const auto cast = [](int to) { return Node("Cast", "a", Int("to", to)); };
  const std::string reals = List("a", {-2.75, 0.5, 0}, kFloat);
  Check({{reals + cast(kInt64), {3}, {-2, 0, 0}},
         {reals + cast(kBool), {3}, {1, 1, 0}, kBool},
         {reals + cast(kDouble), {3}, {-2.75, 0.5, 0}, kDouble},
         {List("a", {300, -1}) + cast(kUint8), {2}, {44, 255}, kUint8},
         {List("a", {300, -1}) + cast(kInt8), {2}, {44, -1}, kInt8},
         {List("a", {300, 0}) + cast(kBool), {2}, {1, 0}, kBool},
         {List("a", {16777217}) + cast(kFloat), {1}, {16777216}, kFloat},
         {List("a", {1, 0}, kBool) + cast(kInt64), {2}, {1, 0}}});
}

// Floats are rounded after each step, and integers wrap: the root of 2, squared, is below 2.
TEST(FoldingTest, StepsAreRoundedToTheirType) {
  const float root = std::sqrt(2.0f), square = root * root;
  const auto least = [](const std::string& type) {
    return List("a", {-128, 127}, kInt8) + Node(type, "a", "", "b") +
           Node("Cast", "b", Int("to", kInt64));
  };
  const std::string max = List("a", {2147483647}, kInt32) + List("b", {2}, kInt32);
  const auto wide = [&](const std::string& type) {
    return max + Node(type, "ab", "", "c") + Node("Cast", "c", Int("to", kInt64));
  };
  Check({{List("a", {2}, kFloat) + Node("Sqrt", "a", "", "b") + Node("Mul", "bb"),
          {1},
          {square},
          kFloat},
         {List("a", {0.1}, kDouble) + Node("Cast", "a", Int("to", kFloat), "b") +
              Node("Cast", "b", Int("to", kDouble)),
          {1},
          {static_cast<double>(0.1f)},
          kDouble},
         {least("Neg"), {2}, {-128, -127}},
         {least("Abs"), {2}, {-128, 127}},
         {wide("Add"), {1}, {-2147483647}},
         {wide("Mul"), {1}, {-2}},
         {max + Node("Sub", "ba", "", "c") + Node("Sub", "ca", "", "d") +
              Node("Cast", "d", Int("to", kInt64)),
          {1},
          {4}}});
}

TEST(FoldingTest, MovedElements) {
  const std::string m = Constant("m", kInt64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto gather = [](int axis) { return Node("Gather", "mi", Int("axis", axis)); };
  Check(
      {{m + List("i", {-1, 0}) + gather(0), {2, 3}, {4, 5, 6, 1, 2, 3}},
       {m + List("i", {-1}) + gather(1), {2, 1}, {3, 6}},
       {m + Scalar("i", 1) + gather(-1), {2}, {2, 5}},
       {m + Constant("i", kInt64, {1, 2}, {0, 2}) + gather(1), {2, 1, 2}, {1, 3, 4, 6}},
       {List("a", {1, 2}) + List("b", {3}) + Node("Concat", "ab", Int("axis", 0)), {3}, {1, 2, 3}},
       {List("a", {1, 2}) + List("b", {3}) + Node("Concat", "bab", Int("axis", -1)),
        {4},
        {3, 1, 2, 3}},
       {m + Node("Concat", "mm", Int("axis", 0)), {4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}},
       {m + List("a", {-1, 0}) + Node("Unsqueeze", "ma"), {1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}},
       {Constant("s", kInt64, {1, 2, 1}, {8, 9}) + Node("Squeeze", "s"), {2}, {8, 9}},
       {Constant("s", kInt64, {1, 2, 1}, {8, 9}) + List("a", {-1}) + Node("Squeeze", "sa"),
        {1, 2},
        {8, 9}},
       {m + List("a", {3, -1}) + Node("Reshape", "ma"), {3, 2}, {1, 2, 3, 4, 5, 6}},
       {m + List("a", {-1, 0}) + Node("Reshape", "ma"), {2, 3}, {1, 2, 3, 4, 5, 6}},
       {m + List("a", {0, 1, 3}) + Node("Reshape", "ma"), {2, 1, 3}, {1, 2, 3, 4, 5, 6}},
       {Constant("e", kInt64, {0, 2}, {}) + List("a", {3, 0}) +
            Node("Reshape", "ea", Int("allowzero", 1)),
        {3, 0},
        {}},
       {List("a", {1, 2}) + List("b", {2, 1}) + Node("Expand", "ab"), {2, 2}, {1, 2, 1, 2}},
       {Scalar("a", 7) + List("b", {3}) + Node("Expand", "ab"), {3}, {7, 7, 7}},
       {List("c", {1, 0}, kBool) + Constant("a", kInt64, {2, 1}, {10, 20}) + Scalar("b", -1) +
            Node("Where", "cab"),
        {2, 2},
        {10, -1, 20, -1}}});
}

TEST(FoldingTest, Slices) {
  const std::string list = List("l", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const std::string m = Constant("m", kInt64, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto slice = [&](double begin, double end, double step) {
    return list + List("b", {begin}) + List("e", {end}) + List("a", {0}) + List("s", {step}) +
           Node("Slice", "lbeas");
  };
  const double far = 1e15;
  Check({{slice(2, 5, 1), {3}, {2, 3, 4}},
         {slice(-3, far, 1), {3}, {7, 8, 9}},
         {slice(-far, -8, 1), {2}, {0, 1}},
         {slice(1, 9, 3), {3}, {1, 4, 7}},
         {slice(8, 1, -3), {3}, {8, 5, 2}},
         {slice(-1, -far, -4), {3}, {9, 5, 1}},
         {slice(far, -far, -9), {2}, {9, 0}},
         {slice(5, 5, 1), {0}, {}},
         {slice(7, 2, 1), {0}, {}},
         {slice(3, 9, 100), {1}, {3}},
         {list + List("b", {8}) + List("e", {far}) + Node("Slice", "lbe"), {2}, {8, 9}},
         {list + List("b", {8}) + List("e", {5}) + List("s", {-1}) + Node("Slice", "lbe-s"),
          {3},
          {8, 7, 6}},
         {m + List("b", {1, -2}) + List("e", {2, far}) + List("a", {0, -1}) + Node("Slice", "mbea"),
          {1, 2},
          {5, 6}},
         {m + List("b", {0, 1}) + List("e", {far, 2}) + Node("Slice", "mbe"), {2, 1}, {2, 5}}});
}

TEST(FoldingTest, RangesAndFills) {
  const auto range = [](double start, double limit, double step) {
    return Scalar("a", start) + Scalar("b", limit) + Scalar("c", step) + Node("Range", "abc");
  };
  const auto fill = [](const std::string& value) {
    return List("a", {2, 3}) +
           Node("ConstantOfShape", "a",
                value.empty()
                    ? ""
                    : "attribute { name: 'value' type: TENSOR t { dims: 1 " + value + " } } ");
  };
  Check({{range(1, 6, 2), {3}, {1, 3, 5}},
         {range(1, 5, 2), {2}, {1, 3}},
         {range(10, 4, -3), {2}, {10, 7}},
         {range(4, 4, 1), {0}, {}},
         {range(4, 5, -1), {0}, {}},
         {fill(""), {2, 3}, {0, 0, 0, 0, 0, 0}, kFloat},
         {fill("data_type: 7 int64_data: -4"), {2, 3}, {-4, -4, -4, -4, -4, -4}},
         {fill("data_type: 1 float_data: 0.5"), {2, 3}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, kFloat},
         {fill("data_type: 9 int32_data: 1"), {2, 3}, {1, 1, 1, 1, 1, 1}, kBool}});
}

TEST(FoldingTest, ReductionsOfAllElements) {
  const std::string m = Constant("m", kInt64, {2, 2}, {3, -4, 2, 5}), l = List("l", {3, -4, 2}),
                    a = List("a", {0});
  const auto all = [&](const std::string& type) { return m + Node(type, "m", Int("keepdims", 0)); };
  const auto axis = [&](const std::string& type) {
    return l + a + Node(type, "la", Int("keepdims", 0));
  };
  Check({{all("ReduceSum"), {}, {6}},
         {all("ReduceProd"), {}, {-120}},
         {all("ReduceMax"), {}, {5}},
         {all("ReduceMin"), {}, {-4}},
         {m + Node("ReduceSum", "m"), {1, 1}, {6}},
         {axis("ReduceSum"), {}, {1}},
         {axis("ReduceProd"), {}, {-24}},
         {axis("ReduceMax"), {}, {3}},
         {axis("ReduceMin"), {}, {-4}},
         {l + a + Node("ReduceMax", "la"), {1}, {3}},
         {List("i", {2147483647, 1}, kInt32) + Node("ReduceSum", "i", Int("keepdims", 0)),
          {},
          {-2147483648.0},
          kInt32}});
  // Without axes, nothing is reduced where that is said.
  Check({{m + Node("ReduceSum", "m", Int("noop_with_empty_axes", 1)), {2, 2}, {3, -4, 2, 5}},
         {m + List("a", {1}) + Node("ReduceSum", "ma"), {2, 1}, {-1, 7}}},
        false);
}

TEST(FoldingTest, ShapesOfInputs) {
  const struct {
    std::string node;
    std::vector<int64_t> want;
  } rows[] = {{Node("Shape", "x"), {2, 3, 4}},
              {Node("Shape", "x", Int("start", 1)), {3, 4}},
              {Node("Shape", "x", Int("start", -1)), {4}},
              {Node("Shape", "x", Int("end", 2)), {2, 3}},
              {Node("Shape", "x", Int("start", -2) + Int("end", -1)), {3}},
              {Node("Shape", "x", Int("start", -9) + Int("end", 9)), {2, 3, 4}},
              {Node("Shape", "x", Int("start", 2) + Int("end", 1)), {}},
              {Node("Size", "x"), {24}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.node);
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", {"2", "3", "4"}) + row.node + "output { name: 'y' }", 18);
    EXPECT_EQ(OperatorsOf(ImportOnnxFromMemory(bytes, {})), "Copy ");
    const Tensor y =
        RunOnnxBytes(bytes, {{"x", FloatTensor({2, 3, 4}, std::vector<float>(24))}}, "y");
    EXPECT_EQ(IntsOf(y), row.want);
    EXPECT_EQ(y.dim(), row.node.find("Size") != std::string::npos ? 0 : 1);
  }
}

// Beyond 4,096 elements, operators compute.
TEST(FoldingTest, HasALimit) {
  for (const int64_t count : {4096, 4097}) {
    const std::string bytes =
        OnnxBytes(Scalar("a", 0) + Scalar("b", static_cast<double>(count)) + Scalar("c", 1) +
                      Node("Range", "abc") + "output { name: 'y' }",
                  18);
    EXPECT_EQ(OperatorsOf(ImportOnnxFromMemory(bytes, {})).find("Range") == std::string::npos,
              count == 4096);
    const Tensor y = RunOnnxBytes(bytes, {}, "y");
    EXPECT_EQ(y.dims(), std::vector<int64_t>{count});
    EXPECT_EQ(IntsOf(y).back(), count - 1);
  }
}

// What cannot be computed is left to the operators, which compute the same or report it.
TEST(FoldingTest, LeavesTheRestToOperators) {
  const std::string real = List("a", {5.5, -5.5}, kFloat) + List("b", {2, 2}, kFloat);
  Check(
      {{real + Node("Mod", "ab", Int("fmod", 1)), {2}, {1.5, -1.5}, kFloat},
       {real + Node("Max", "ab"), {2}, {5.5, 2}, kFloat},
       {List("a", {-7, 7}) + List("b", {2, -2}) + Node("Mod", "ab", Int("fmod", 1)), {2}, {-1, 1}},
       {Constant("m", kInt64, {2, 1}, {1, 2}) + Node("Concat", "mm", Int("axis", 1)),
        {2, 2},
        {1, 1, 2, 2}},
       {Constant("m", kInt64, {2, 2}, {1, 2, 3, 4}) + Node("Concat", "mm", Int("axis", -1)),
        {2, 4},
        {1, 2, 1, 2, 3, 4, 3, 4}},
       {Constant("m", kInt64, {2, 2}, {1, 2, 3, 4}) + List("a", {0}) +
            Node("ReduceSum", "ma", Int("keepdims", 0)),
        {2},
        {4, 6}},
       {List("a", {1.5, 2.5}, kFloat) + Node("ReduceMax", "a"), {1}, {2.5}, kFloat},
       {Scalar("a", 0.5, kFloat) + Scalar("b", 2, kFloat) + Scalar("c", 1, kFloat) +
            Node("Range", "abc"),
        {2},
        {0.5, 1.5},
        kFloat}},
      false);
  // Rows of different lengths are no matrix.
  EXPECT_NE(
      OnnxImportError(OnnxBytes(Constant("m", kInt64, {2, 2}, {1, 2, 3, 4}) +
                                    Constant("r", kInt64, {1, 3}, {5, 6, 7}) +
                                    Node("Concat", "mr", Int("axis", 0)) + "output { name: 'y' }",
                                18)),
      "");
}

}  // namespace
}  // namespace caffe2rt::test::folding_test
