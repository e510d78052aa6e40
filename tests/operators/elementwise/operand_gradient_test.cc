// The gradients of Add, Sub, Mul and Div.

#include "operators/elementwise/operand_gradient.h"

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::operand_gradient_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

using Dims = std::vector<int64_t>;

std::string GradientOp(const std::string& type, const std::string& args = "",
                       const std::string& outputs = R"(output: "dA" output: "dB")") {
  return "type: \"" + type + R"(Gradient" input: "dY" input: "A" input: "B" )" +
         (type == "Div" ? "input: \"Y\" " : "") + outputs + " " + args;
}

struct ShapeCase {
  Dims a, b, y;
  const char* args;
  int64_t b_axis;  // the dimension of y where b begins
};
class OperandGradientTest : public testing::TestWithParam<ShapeCase> {};

// The offset of the element that element `index` of y is computed from, in a tensor of shape `dims`
// whose first dimension corresponds to dimension `axis` of y.
size_t OffsetOf(const Dims& dims, int64_t axis, const Dims& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t at = axis + static_cast<int64_t>(i);
    offset = offset * dims[i] + (dims[i] == 1 || at < 0 ? 0 : index[static_cast<size_t>(at)]);
  }
  return static_cast<size_t>(offset);
}

// The gradients by their definition, element by element of y.
struct Gradients {
  std::vector<double> a, b;
};
Gradients Reference(const std::string& type, const ShapeCase& c, const std::vector<double>& a,
                    const std::vector<double>& b, const std::vector<double>& dy) {
  Gradients result{std::vector<double>(a.size()), std::vector<double>(b.size())};
  Dims index(c.y.size(), 0);
  for (size_t i = 0; i < dy.size(); ++i) {
    const size_t at_a = OffsetOf(c.a, static_cast<int64_t>(c.y.size() - c.a.size()), index);
    const size_t at_b = OffsetOf(c.b, c.b_axis, index);
    const double x = a[at_a], z = b[at_b];
    result.a[at_a] += dy[i] * (type == "Mul" ? z : (type == "Div" ? 1 / z : 1));
    result.b[at_b] += dy[i] * (type == "Mul"   ? x
                               : type == "Div" ? -x / (z * z)
                               : type == "Sub" ? -1
                                               : 1);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < c.y[d]) break;
      index[d] = 0;
    }
  }
  return result;
}

TEST_P(OperandGradientTest, SumsOverTheBroadcastDimensions) {
  const ShapeCase& c = GetParam();
  for (const std::string type : {"Add", "Sub", "Mul", "Div"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    FeedRange<double>(&ws, "A", c.a, 1, 0.25);
    FeedRange<double>(&ws, "B", c.b, 2, -0.0078125);
    FeedRange<double>(&ws, "dY", c.y, -3, 0.5);
    RunOp(&ws, "type: \"" + type + R"(" input: "A" input: "B" output: "Y" )" + c.args);
    const Gradients want = Reference(type, c, test::Fetch<double>(ws, "A"),
                                     test::Fetch<double>(ws, "B"), test::Fetch<double>(ws, "dY"));
    ExpectShapeInferred(&ws, GradientOp(type, c.args));
    ExpectTensor<double>(ws, "dA", c.a, want.a, 1e-12);
    ExpectTensor<double>(ws, "dB", c.b, want.b, 1e-12);
  }
}

constexpr const char* kOld = "arg { name: \"broadcast\" i: 1 }";
constexpr const char* kOldAt1 = "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 1 }";
INSTANTIATE_TEST_SUITE_P(
    Numpy, OperandGradientTest,
    testing::Values(ShapeCase{{2, 3}, {2, 3}, {2, 3}, "", 0}, ShapeCase{{2, 3}, {3}, {2, 3}, "", 1},
                    ShapeCase{{3}, {2, 3}, {2, 3}, "", 0}, ShapeCase{{2, 3}, {}, {2, 3}, "", 2},
                    ShapeCase{{}, {2, 3}, {2, 3}, "", 0}, ShapeCase{{}, {}, {}, "", 0},
                    ShapeCase{{40, 3}, {1, 3}, {40, 3}, "", 0},
                    ShapeCase{{2, 1, 4}, {1, 3, 1}, {2, 3, 4}, "", 0},
                    ShapeCase{{2, 3, 4, 5}, {3, 1, 5}, {2, 3, 4, 5}, "", 1},
                    ShapeCase{{2, 1, 3, 1, 5}, {1, 4, 1, 2, 1}, {2, 4, 3, 2, 5}, "", 0},
                    ShapeCase{{1, 3, 67}, {40, 1, 1}, {40, 3, 67}, "", 0}));
INSTANTIATE_TEST_SUITE_P(
    Older, OperandGradientTest,
    testing::Values(ShapeCase{{2, 3, 4}, {4}, {2, 3, 4}, kOld, 2},
                    ShapeCase{{2, 3, 67}, {3}, {2, 3, 67}, kOldAt1, 1},
                    ShapeCase{{2, 3, 4}, {3, 1}, {2, 3, 4}, kOldAt1, 1},
                    ShapeCase{{2, 3}, {}, {2, 3}, kOld, 2},
                    ShapeCase{{2, 3}, {2, 3}, {2, 3}, kOld, 0},
                    ShapeCase{
                        {2, 3, 4, 5},
                        {3},
                        {2, 3, 4, 5},
                        "arg { name: \"broadcast\" i: 1 } arg { name: \"axis_str\" s: \"C\" }",
                        1}));

TEST(ArithmeticGradientTest, AgreesWithDifferences) {
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    for (const Dims& b : {Dims{2, 3}, Dims{3}, Dims{2, 1}, Dims{}}) {
      Workspace ws;
      test::FeedRandom(&ws, "A", {2, 3}, -2, 2, 1);
      test::FeedRandom(&ws, "B", b, 1, 2, 2);
      ExpectGradientMatches(
          &ws, std::string("type: \"") + type + R"(" input: "A" input: "B" output: "Y")");
    }
  }
}

TEST(ArithmeticGradientTest, AcceptsFloatsAndIntegers) {
  Workspace ws;
  Feed<int32_t>(&ws, "A", {2}, {7, -4});
  Feed<int32_t>(&ws, "B", {1}, {2});
  Feed<int32_t>(&ws, "dY", {2}, {3, 5});
  RunOp(&ws, GradientOp("Mul"));
  ExpectTensor<int32_t>(ws, "dA", {2}, {6, 10});
  ExpectTensor<int32_t>(ws, "dB", {1}, {3 * 7 - 5 * 4});
  Feed<float>(&ws, "dY", {2}, {3, 5});
  ExpectThrows([&] { RunOp(&ws, GradientOp("Add")); },
               "A has elements of type int32, want float as dY");
}

TEST(ArithmeticGradientTest, WritesOverDyInPlace) {
  struct Case {
    const char* type;
    const char* outputs;
    std::vector<float> da, db;
  };
  // A = 1, 2; B = 4, 8; Y = A / B for Div; dY = 3, 5.
  for (const Case& c :
       {Case{"Add", R"(output: "dY" output: "dB")", {3, 5}, {3, 5}},
        Case{"Add", R"(output: "dA" output: "dY")", {3, 5}, {3, 5}},
        Case{"Sub", R"(output: "dY" output: "dB")", {3, 5}, {-3, -5}},
        Case{"Sub", R"(output: "dA" output: "dY")", {3, 5}, {-3, -5}},
        Case{"Mul", R"(output: "dA" output: "dY")", {12, 40}, {3, 10}},
        Case{"Mul", R"(output: "dY" output: "dB")", {12, 40}, {3, 10}},
        Case{"Div", R"(output: "dY" output: "dB")", {0.75f, 0.625f}, {-0.1875f, -0.15625f}}}) {
    SCOPED_TRACE(std::string(c.type) + " " + c.outputs);
    Workspace ws;
    Feed<float>(&ws, "A", {2}, {1, 2});
    Feed<float>(&ws, "B", {2}, {4, 8});
    Feed<float>(&ws, "Y", {2}, {0.25f, 0.25f});
    Feed<float>(&ws, "dY", {2}, {3, 5});
    RunOp(&ws, GradientOp(c.type, "", c.outputs));
    const bool first = std::string(c.outputs).find("dB") != std::string::npos;
    ExpectTensor<float>(ws, first ? "dY" : "dA", {2}, c.da);
    ExpectTensor<float>(ws, first ? "dB" : "dY", {2}, c.db);
  }
}

TEST(MulGradientTest, WritesOverDyIfTheShapesDiffer) {
  const std::vector<float> of_small = {17, 29, 45}, of_large = {1, 4, 9, 4, 10, 18};
  Workspace ws;
  FeedRange<float>(&ws, "A", {3}, 1);
  FeedRange<float>(&ws, "B", {2, 3}, 1);
  FeedRange<float>(&ws, "dY", {2, 3}, 1);
  RunOp(&ws, GradientOp("Mul", "", R"(output: "dA" output: "dY")"));
  ExpectTensor<float>(ws, "dA", {3}, of_small);
  ExpectTensor<float>(ws, "dY", {2, 3}, of_large);
  FeedRange<float>(&ws, "A", {2, 3}, 1);
  FeedRange<float>(&ws, "B", {3}, 1);
  FeedRange<float>(&ws, "dY", {2, 3}, 1);
  RunOp(&ws, GradientOp("Mul", "", R"(output: "dY" output: "dB")"));
  ExpectTensor<float>(ws, "dY", {2, 3}, of_large);
  ExpectTensor<float>(ws, "dB", {3}, of_small);
}

// As memory plans place it.
TEST(MulGradientTest, WritesToTheAddressOfDy) {
  Workspace ws;
  Feed<float>(&ws, "A", {2}, {1, 2});
  Feed<float>(&ws, "B", {2}, {4, 8});
  Feed<float>(&ws, "dY", {2}, {3, 5});
  Tensor* const da = ws.CreateBlob("dA")->GetMutableTensor(CPU);
  da->Resize(2);
  da->ShareData(ws.GetBlob("dY")->Get<Tensor>());
  RunOp(&ws, GradientOp("Mul"));
  ExpectTensor<float>(ws, "dA", {2}, {12, 40});
  ExpectTensor<float>(ws, "dB", {2}, {3, 10});
}

TEST(DivGradientTest, AcceptsTheInputsOfOldNets) {
  Workspace ws;
  Feed<float>(&ws, "B", {2}, {4, 8});
  Feed<float>(&ws, "Y", {2}, {0.25f, 0.5f});
  Feed<float>(&ws, "dY", {2}, {3, 5});
  const std::string op =
      R"(type: "DivGradient" input: "B" input: "Y" input: "dY" output: "dA" output: "dB")";
  ExpectShapeInferred(&ws, op);
  ExpectTensor<float>(ws, "dA", {2}, {0.75f, 0.625f});
  ExpectTensor<float>(ws, "dB", {2}, {-0.1875f, -0.3125f});
}

TEST(ArithmeticGradientTest, KeepsEmptyShapes) {
  for (const char* type : {"Add", "Sub", "Mul", "Div"}) {
    Workspace ws;
    FeedRange<float>(&ws, "A", {0, 3});
    FeedRange<float>(&ws, "B", {3}, 1);
    FeedRange<float>(&ws, "Y", {0, 3});
    FeedRange<float>(&ws, "dY", {0, 3});
    RunOp(&ws, GradientOp(type));
    ExpectTensor<float>(ws, "dA", {0, 3}, {});
    ExpectTensor<float>(ws, "dB", {3}, {0, 0, 0});
  }
}

TEST(ArithmeticGradientTest, RejectsOperandsThatDoNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  FeedRange<float>(&ws, "B", {3});
  FeedRange<float>(&ws, "dY", {3});
  ExpectThrows([&] { RunOp(&ws, GradientOp("Add")); }, "dY has shape [3]");
  FeedRange<float>(&ws, "dY", {2, 3});
  ExpectThrows([&] { RunOp(&ws, GradientOp("Add", "", R"(output: "dA" output: "dY")")); },
               "output 1 is input 0 of shape [2, 3], but the gradient has shape [3]");
  FeedRange<float>(&ws, "B", {2});
  ExpectThrows([&] { RunOp(&ws, GradientOp("Add")); }, "input 1 (B) has shape [2]");
  FeedRange<uint8_t>(&ws, "dY", {2, 3});
  ExpectThrows([&] { RunOp(&ws, GradientOp("Add")); },
               "input 0 (dY) has elements of type uint8, want float, double, int32, int64");
}

}  // namespace
}  // namespace caffe2rt::operand_gradient_test
