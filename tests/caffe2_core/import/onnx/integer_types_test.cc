// Arithmetic, comparisons and reductions of every integer type, which operators compute in their own or
// in a wider type: the wanted values are those of C++'s integers. And nodes on half precision, which
// round what they compute but not what they move.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::integer_types_test {
namespace {

using namespace node_forms;  // used throughout this file

constexpr int kInt8 = 3, kUint16 = 4, kInt16 = 5, kHalf = 10, kUint32 = 12, kUint64 = 13,
              kBfloat = 16;

// The node on x and b, which are cast to the type; its result is cast to int64.
std::vector<int64_t> RunOn(const std::string& node, int type, const std::vector<int64_t>& x,
                           const std::vector<int64_t>& b) {
  const std::string graph = OnnxValue("input", "x", {MakeString(x.size())}, kInt64) +
                            OnnxValue("input", "b", {MakeString(b.size())}, kInt64) +
                            Node("Cast", "x", Int("to", type), "p") +
                            Node("Cast", "b", Int("to", type), "q") + node +
                            Node("Cast", "r", Int("to", kInt64)) + "output { name: 'y' }";
  const std::string bytes = OnnxBytes(graph, 18);
  EXPECT_EQ(OnnxImportError(bytes), "");
  if (!OnnxImportError(bytes).empty()) return {};
  const auto count = static_cast<int64_t>(x.size());
  return IntsOf(
      RunOnnxBytes(bytes, {{"x", IntTensor({count}, x)}, {"b", IntTensor({count}, b)}}, "y"));
}

template <class T>
void ExpectPairs(int type, const std::vector<int64_t>& x, const std::vector<int64_t>& b) {
  using Function = std::function<T(T, T)>;
  const std::pair<const char*, Function> rows[] = {
      {"Add", [](T p, T q) { return static_cast<T>(p + q); }},
      {"Sub", [](T p, T q) { return static_cast<T>(p - q); }},
      {"Mul", [](T p, T q) { return static_cast<T>(p * q); }},
      {"Max", [](T p, T q) { return std::max(p, q); }},
      {"Min", [](T p, T q) { return std::min(p, q); }},
      {"Equal", [](T p, T q) { return static_cast<T>(p == q); }},
      {"Greater", [](T p, T q) { return static_cast<T>(p > q); }},
      {"GreaterOrEqual", [](T p, T q) { return static_cast<T>(p >= q); }},
      {"Less", [](T p, T q) { return static_cast<T>(p < q); }},
      {"LessOrEqual", [](T p, T q) { return static_cast<T>(p <= q); }},
      {"BitwiseAnd", [](T p, T q) { return static_cast<T>(p & q); }},
      {"BitwiseOr", [](T p, T q) { return static_cast<T>(p | q); }},
      {"BitwiseXor", [](T p, T q) { return static_cast<T>(p ^ q); }}};
  for (const auto& [node, function] : rows) {
    SCOPED_TRACE(MakeString(node, " of type ", type));
    std::vector<int64_t> want;
    for (size_t i = 0; i < x.size(); ++i)
      want.push_back(static_cast<int64_t>(function(static_cast<T>(x[i]), static_cast<T>(b[i]))));
    EXPECT_EQ(RunOn(Node(node, "pq", "", "r"), type, x, b), want);
  }
}

TEST(IntegerTypesTest, PairsOfNumbers) {
  ExpectPairs<int8_t>(kInt8, {100, -128, 7, 5}, {100, 1, -7, 5});
  ExpectPairs<uint8_t>(kUint8, {200, 0, 7, 5}, {100, 1, 9, 5});
  ExpectPairs<int16_t>(kInt16, {30000, -32768, 7, 5}, {30000, 1, -7, 5});
  ExpectPairs<uint16_t>(kUint16, {60000, 0, 7, 5}, {10000, 1, 9, 5});
  ExpectPairs<int32_t>(kInt32, {70000, -7, 7, 5}, {3, 1, -7, 5});
  ExpectPairs<uint32_t>(kUint32, {4000000000, 0, 7, 5}, {1000000000, 1, 9, 5});
  ExpectPairs<int64_t>(kInt64, {int64_t{1} << 40, -7, 7, 5}, {int64_t{1} << 20, 1, -7, 5});
  // -1 is the greatest number without a sign.
  ExpectPairs<uint64_t>(kUint64, {-1, 0, 7, 5}, {1, 1, 9, 5});
}

template <class T>
void ExpectQuotients(int type, const std::vector<int64_t>& x, const std::vector<int64_t>& b) {
  std::vector<int64_t> want;
  for (size_t i = 0; i < x.size(); ++i)
    want.push_back(
        static_cast<int64_t>(static_cast<T>(static_cast<T>(x[i]) / static_cast<T>(b[i]))));
  EXPECT_EQ(RunOn(Node("Div", "pq", "", "r"), type, x, b), want) << type;
}

TEST(IntegerTypesTest, QuotientsAreRoundedToZero) {
  ExpectQuotients<int8_t>(kInt8, {-7, 7, -128}, {2, -2, 3});
  ExpectQuotients<uint8_t>(kUint8, {7, 200, 255}, {2, 3, 255});
  ExpectQuotients<int16_t>(kInt16, {-7, 7, -32768}, {2, -2, 3});
  ExpectQuotients<uint16_t>(kUint16, {7, 60000, 65535}, {2, 7, 65535});
  ExpectQuotients<int32_t>(kInt32, {-7, 7, 2000000001}, {2, -2, 2});
  ExpectQuotients<uint32_t>(kUint32, {7, 4000000001, 5}, {2, 2, 4000000000});
  ExpectQuotients<int64_t>(kInt64, {-7, 7, (int64_t{1} << 53) + 1}, {2, -2, 1});
}

template <class T>
void ExpectOneElement(int type, const std::vector<int64_t>& x) {
  using Function = std::function<T(T)>;
  const std::pair<const char*, Function> rows[] = {
      {"Abs", [](T p) { return static_cast<T>(p < 0 ? -p : p); }},
      {"Neg", [](T p) { return static_cast<T>(-p); }},
      {"Sign", [](T p) { return static_cast<T>(p > 0   ? 1
                                               : p < 0 ? -1
                                                       : 0); }},
      {"Relu", [](T p) { return p < 0 ? T{0} : p; }}};
  for (const auto& [node, function] : rows) {
    SCOPED_TRACE(MakeString(node, " of type ", type));
    std::vector<int64_t> want;
    for (const int64_t value : x) want.push_back(function(static_cast<T>(value)));
    EXPECT_EQ(RunOn(Node(node, "p", "", "r"), type, x, x), want);
  }
}

TEST(IntegerTypesTest, FunctionsOfOneElement) {
  EXPECT_EQ(RunOn(Node("Relu", "p", "", "r"), kInt8, {-100, 0, 127}, {0, 0, 0}),
            (std::vector<int64_t>{0, 0, 127}));
  ExpectOneElement<int8_t>(kInt8, {-100, 0, 127});
  ExpectOneElement<int16_t>(kInt16, {-30000, 0, 32767});
  ExpectOneElement<int32_t>(kInt32, {-70001, 0, 70001});
  ExpectOneElement<int64_t>(kInt64, {-(int64_t{1} << 53) - 1, 0, 5});
}

// Two rows of two numbers are reduced along the last axis.
std::vector<int64_t> Reduced(const std::string& type, int element, const std::vector<int64_t>& x) {
  const std::string reshaped = List("d", {2, 2}) + Node("Reshape", "pd", "", "m") + List("a", {1}) +
                               Node(type, "ma", Int("keepdims", 0), "r");
  return RunOn(reshaped, element, x, x);
}

TEST(IntegerTypesTest, ReductionsHoldTheValuesOfTheirType) {
  using Values = std::vector<int64_t>;
  const struct {
    const char* type;
    int element;
    Values x, want;
  } rows[] = {
      {"ReduceSum", kInt8, {100, 27, -128, 0}, {127, -128}},
      {"ReduceSum", kUint8, {200, 55, 0, 7}, {255, 7}},
      {"ReduceSum", kInt16, {30000, -1, -32768, 1}, {29999, -32767}},
      {"ReduceSum", kUint16, {60000, 5000, 0, 7}, {65000, 7}},
      {"ReduceSum", kUint32, {3000000000, 1000000000, 0, 7}, {4000000000, 7}},
      {"ReduceSum", kInt64, {int64_t{1} << 53, 1, -1, 0}, {(int64_t{1} << 53) + 1, -1}},
      {"ReduceMax", kInt8, {-100, -27, -128, 127}, {-27, 127}},
      {"ReduceMax", kUint8, {200, 55, 0, 255}, {200, 255}},
      {"ReduceMax", kInt16, {30000, -1, -32768, 1}, {30000, 1}},
      {"ReduceMax", kUint16, {60000, 5000, 0, 7}, {60000, 7}},
      {"ReduceMax", kUint32, {3000000000, 1, 0, 4294967295}, {3000000000, 4294967295}},
      {"ReduceMax", kBool, {1, 0, 0, 0}, {1, 0}},
      {"ReduceMin", kInt8, {-100, -27, -128, 127}, {-100, -128}},
      {"ReduceMin", kUint8, {200, 55, 255, 255}, {55, 255}},
      {"ReduceMin", kUint16, {60000, 50000, 0, 7}, {50000, 0}},
      {"ReduceMin", kUint32, {3000000000, 4000000000, 7, 8}, {3000000000, 7}},
      {"ReduceMin", kBool, {1, 0, 1, 1}, {0, 1}},
      {"ReduceProd", kInt16, {100, -300, 2, 3}, {-30000, 6}},
      {"ReduceProd", kUint32, {50000, 80000, 2, 3}, {4000000000, 6}},
      {"ReduceL1", kInt8, {-3, 4, -100, 27}, {7, 127}},
      {"ReduceSumSquare", kInt16, {-3, 4, 100, 100}, {25, 20000}},
      {"ReduceSumSquare", kUint8, {3, 4, 15, 5}, {25, 250}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " of type ", row.element));
    EXPECT_EQ(Reduced(row.type, row.element, row.x), row.want);
  }
}

// --- half precision ---

// The operators between the widening of the input and the narrowing of the output.
std::string HalfOperators(const std::string& nodes, int type) {
  std::string graph = nodes;
  for (const char* name : {"x", "b"}) graph += OnnxValue("input", name, {"1", "1", "2", "2"}, type);
  graph += OnnxValue("output", "y", {}, type);
  const std::string bytes = OnnxBytes(graph, 18);
  EXPECT_EQ(OnnxImportError(bytes), "");
  if (!OnnxImportError(bytes).empty()) return "";
  const OnnxModel model = ImportOnnxFromMemory(bytes, {});
  std::string types;
  for (const OperatorDef& op : model.predict_net.op()) types += op.type() + " ";
  return types;
}

TEST(RoundedTypesTest, WhatIsMovedIsNotRounded) {
  const std::string unit = Ints("kernel_shape", {1, 1});
  const std::string nodes[] = {Node("Abs"),
                               Node("Neg"),
                               Node("Relu"),
                               Node("Sign"),
                               Node("ThresholdedRelu"),
                               Node("Identity"),
                               Node("Max", "xb"),
                               Node("Min", "xb"),
                               Number("l", 1) + Node("Clip", "x"),
                               Node("Transpose"),
                               Node("Flatten"),
                               Node("MaxPool", "x", unit),
                               Node("GlobalMaxPool"),
                               Node("Dropout"),
                               Node("Concat", "xb", Int("axis", 0)),
                               Node("DepthToSpace", "x", Int("blocksize", 1)),
                               Node("SpaceToDepth", "x", Int("blocksize", 1)),
                               Node("Trilu"),
                               Node("ReduceMax"),
                               Node("ReduceMin"),
                               List("i", {0}) + Node("Gather", "xi"),
                               List("i", {0}) + Node("Unsqueeze", "xi"),
                               List("i", {0}) + Node("Squeeze", "xi"),
                               List("i", {4}) + Node("Reshape", "xi"),
                               List("i", {1, 1, 2, 1}) + Node("Tile", "xi"),
                               List("i", {2, 1, 2, 2}) + Node("Expand", "xi"),
                               List("i", {0, 0, 0, 0, 0, 0, 1, 0}) + Node("Pad", "xi"),
                               List("i", {1}) + Node("TopK", "xi", "", "yk"),
                               List("i", {0}) + List("e", {1}) + Node("Slice", "xie"),
                               List("i", {1, 1}) + Node("Split", "xi", Int("axis", 2), "yk")};
  for (const std::string& node : nodes) {
    SCOPED_TRACE(node);
    const std::string half = HalfOperators(node, kHalf);
    EXPECT_EQ(half.find("FloatToHalf"), half.rfind("FloatToHalf"));
    EXPECT_TRUE(half.ends_with("FloatToHalf ")) << half;
  }
}

TEST(RoundedTypesTest, WhatIsComputedIsRounded) {
  const std::string nodes[] = {Node("Add", "xb"),    Node("Sub", "xb"),
                               Node("Mul", "xb"),    Node("Div", "xb"),
                               Node("Exp"),          Node("Sqrt"),
                               Node("Sigmoid"),      Node("Tanh"),
                               Node("Erf"),          Node("Softmax"),
                               Node("ReduceSum"),    Node("ReduceMean"),
                               Node("MatMul", "xb"), Node("GlobalAveragePool"),
                               Node("Gelu"),         Node("LeakyRelu"),
                               Node("Pow", "xb"),    Node("Reciprocal")};
  for (const std::string& node : nodes) {
    SCOPED_TRACE(node);
    const std::string half = HalfOperators(node, kHalf);
    EXPECT_TRUE(half.ends_with("FloatToHalf HalfToFloat FloatToHalf ")) << half;
    EXPECT_TRUE(half.starts_with("HalfToFloat ")) << half;
  }
  EXPECT_EQ(HalfOperators(Node("Add", "xb"), kBfloat), "Cast Cast Add Cast Cast Cast ");
}

// 1 + 2^-10 is a number of half precision, but not of bfloat16, whose steps from 1 on are 2^-7.
TEST(RoundedTypesTest, CastsRoundToTheirType) {
  const auto rounded = [](int type, float x) {
    const std::string graph = OnnxValue("input", "x", {"1"}) +
                              Node("Cast", "x", Int("to", type), "h") +
                              Node("Cast", "h", Int("to", kFloat)) + "output { name: 'y' }";
    return FloatsOf(RunOnnxBytes(OnnxBytes(graph, 18), {{"x", FloatTensor({1}, {x})}}, "y"))[0];
  };
  EXPECT_EQ(rounded(kHalf, 1.0009765625f), 1.0009765625f);
  EXPECT_EQ(rounded(kHalf, 1.00048828125f), 1.0f);
  EXPECT_EQ(rounded(kBfloat, 1.0009765625f), 1.0f);
  EXPECT_EQ(rounded(kBfloat, 1.0078125f), 1.0078125f);
  EXPECT_EQ(rounded(kBfloat, 1e38f) > 9e37f, true);
  EXPECT_EQ(rounded(kHalf, 1e38f), std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace caffe2rt::test::integer_types_test
