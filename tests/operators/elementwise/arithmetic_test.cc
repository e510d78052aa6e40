#include <limits>
#include <numeric>

#include "tests/support/operator_test.h"

namespace caffe2rt::arithmetic_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& type, const std::string& args = "",
               const std::string& output = "Y") {
  return "type: \"" + type + R"(" input: "A" input: "B" output: ")" + output + "\" " + args;
}

template <class T>
class ArithmeticTypeTest : public testing::Test {};
using NumericTypes = testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(ArithmeticTypeTest, NumericTypes);

TYPED_TEST(ArithmeticTypeTest, RunsElementByElementForEveryNumberOfElements) {
  using T = TypeParam;
  for (const int64_t n : {1, 4, 5, 100}) {
    Workspace ws;
    FeedRange<T>(&ws, "A", {n}, 3, 2);
    FeedRange<T>(&ws, "B", {n}, 1, 1);
    std::vector<T> sum, difference, product, quotient;
    for (int64_t i = 0; i < n; ++i) {
      const T a = static_cast<T>(3 + 2 * i), b = static_cast<T>(1 + i);
      sum.push_back(a + b);
      difference.push_back(a - b);
      product.push_back(a * b);
      quotient.push_back(a / b);
    }
    RunOp(&ws, Op("Add"));
    ExpectTensor<T>(ws, "Y", {n}, sum);
    RunOp(&ws, Op("Sub"));
    ExpectTensor<T>(ws, "Y", {n}, difference);
    RunOp(&ws, Op("Mul"));
    ExpectTensor<T>(ws, "Y", {n}, product);
    RunOp(&ws, Op("Div"));
    ExpectTensor<T>(ws, "Y", {n}, quotient, 1e-7);
    ExpectShapeInferred(&ws, Op("Div"));
  }
}

// The shapes of the inputs and the output. The values show the offsets i and j of the two inputs'
// elements: y = 1000 * i + j + 1.
struct ShapeCase {
  std::vector<int64_t> a, b, y;
  const char* args;
  int64_t b_axis;  // the dimension of y where b begins
};
class BroadcastTest : public testing::TestWithParam<ShapeCase> {};

// Returns the offset of the element that is combined with element `index` of y, in a tensor of
// shape `dims` whose first dimension corresponds to dimension `axis` of y.
int64_t OffsetOf(const std::vector<int64_t>& dims, int64_t axis,
                 const std::vector<int64_t>& index) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t at = axis + static_cast<int64_t>(i);
    const int64_t step = dims[i] == 1 || at < 0 ? 0 : index[static_cast<size_t>(at)];
    offset = offset * dims[i] + step;
  }
  return offset;
}

TEST_P(BroadcastTest, PairsTheElementsOfBothShapes) {
  const ShapeCase& c = GetParam();
  Workspace ws;
  FeedRange<float>(&ws, "A", c.a, 0, 1000);
  FeedRange<float>(&ws, "B", c.b, 1, 1);
  std::vector<float> want;
  std::vector<int64_t> index(c.y.size(), 0);
  const int64_t total = std::accumulate(c.y.begin(), c.y.end(), int64_t{1}, std::multiplies<>());
  const int64_t a_axis = static_cast<int64_t>(c.y.size() - c.a.size());
  for (int64_t i = 0; i < total; ++i) {
    want.push_back(static_cast<float>(1000 * OffsetOf(c.a, a_axis, index) +
                                      OffsetOf(c.b, c.b_axis, index) + 1));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < c.y[d]) break;
      index[d] = 0;
    }
  }
  RunOp(&ws, Op("Add", c.args));
  ExpectTensor<float>(ws, "Y", c.y, want);
  ExpectShapeInferred(&ws, Op("Add", c.args));
}

constexpr const char* kOld = "arg { name: \"broadcast\" i: 1 }";
INSTANTIATE_TEST_SUITE_P(
    Numpy, BroadcastTest,
    testing::Values(ShapeCase{{2, 3}, {3}, {2, 3}, "", 1}, ShapeCase{{3}, {2, 3}, {2, 3}, "", 0},
                    ShapeCase{{2, 3}, {}, {2, 3}, "", 2}, ShapeCase{{}, {2, 3}, {2, 3}, "", 0},
                    ShapeCase{{}, {}, {}, "", 0}, ShapeCase{{2, 3}, {1}, {2, 3}, "", 1},
                    ShapeCase{{2, 1, 4}, {1, 3, 1}, {2, 3, 4}, "", 0},
                    ShapeCase{{2, 3, 4, 5}, {3, 1, 5}, {2, 3, 4, 5}, "", 1},
                    ShapeCase{{2, 1, 3, 1, 5}, {1, 4, 1, 2, 1}, {2, 4, 3, 2, 5}, "", 0},
                    ShapeCase{{2, 1, 3, 1, 2, 1}, {3, 1, 2, 1, 4}, {2, 3, 3, 2, 2, 4}, "", 1},
                    ShapeCase{{1, 3}, {40, 1}, {40, 3}, "", 0}));
INSTANTIATE_TEST_SUITE_P(
    Older, BroadcastTest,
    testing::Values(
        ShapeCase{{2, 3, 4}, {4}, {2, 3, 4}, kOld, 2},
        ShapeCase{{2, 3, 4}, {3, 4}, {2, 3, 4}, kOld, 1},
        ShapeCase{{2, 3, 4},
                  {3},
                  {2, 3, 4},
                  "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 1 }",
                  1},
        ShapeCase{{2, 3, 4},
                  {2, 3},
                  {2, 3, 4},
                  "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }",
                  0},
        ShapeCase{{2, 3, 4},
                  {3, 1},
                  {2, 3, 4},
                  "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 1 }",
                  1},
        ShapeCase{{2, 3, 4}, {1, 4}, {2, 3, 4}, kOld, 1}, ShapeCase{{2, 3}, {}, {2, 3}, kOld, 2},
        ShapeCase{{2, 3}, {2, 3}, {2, 3}, kOld, 0},
        ShapeCase{{2, 3, 4, 5},
                  {3},
                  {2, 3, 4, 5},
                  "arg { name: \"broadcast\" i: 1 } arg { name: \"axis_str\" s: \"C\" }",
                  1},
        ShapeCase{{2, 4, 5, 3},
                  {3},
                  {2, 4, 5, 3},
                  "arg { name: \"broadcast\" i: 1 } arg { name: \"axis_str\" s: \"C\" } "
                  "arg { name: \"order\" s: \"NHWC\" }",
                  3}));

TEST(AddTest, LegacyBroadcastAcceptsAnyNumberOfOnes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 2});
  Feed<float>(&ws, "B", {1, 1, 1}, {10});
  RunOp(&ws, Op("Add", "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: -5 }"));
  ExpectTensor<float>(ws, "Y", {2, 2}, {10, 11, 12, 13});
}

TEST(AddTest, KeepsEmptyShapes) {
  for (const auto& [a, b, y] : std::vector<std::array<std::vector<int64_t>, 3>>{
           {{{0, 3}, {0, 3}, {0, 3}}}, {{{2, 0}, {2, 1}, {2, 0}}}, {{{0, 1}, {1, 3}, {0, 3}}}}) {
    Workspace ws;
    FeedRange<float>(&ws, "A", a);
    FeedRange<float>(&ws, "B", b);
    RunOp(&ws, Op("Add"));
    ExpectTensor<float>(ws, "Y", y, {});
    ExpectShapeInferred(&ws, Op("Add"));
  }
}

TEST(AddTest, RunsInPlaceWhereTheShapeStays) {
  Workspace ws;
  Feed<float>(&ws, "A", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "B", {3}, {10, 20, 30});
  RunOp(&ws, Op("Add", "", "A"));
  ExpectTensor<float>(ws, "A", {2, 3}, {11, 22, 33, 14, 25, 36});
  RunOp(&ws, R"(type: "Sub" input: "B" input: "A" output: "A")");
  ExpectTensor<float>(ws, "A", {2, 3}, {-1, -2, -3, -4, -5, -6});
  RunOp(&ws, R"(type: "Mul" input: "A" input: "A" output: "A")");
  ExpectTensor<float>(ws, "A", {2, 3}, {1, 4, 9, 16, 25, 36});
}

TEST(AddTest, RejectsInPlaceOutputOfAnotherShape) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  FeedRange<float>(&ws, "B", {3});
  ExpectThrows([&] { RunOp(&ws, Op("Add", "", "B")); },
               "output 0 (Y) is an input of shape [3], but the result has shape [2, 3]");
  ExpectThrows([&] { RunOp(&ws, Op("Add", kOld, "B")); },
               "only input 0 (A) may be overwritten in place");
}

TEST(AddTest, NamesShapesThatDoNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3, 4});
  FeedRange<float>(&ws, "B", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("Add")); },
               "input 1 (B) has shape [2, 3], which does not fit input 0 (A) [2, 3, 4]");
  ExpectThrows(
      [&] { RunOp(&ws, Op("Add", kOld)); },
      "input 1 (B) has shape [2, 3], which does not fit into input 0 (A) [2, 3, 4] at axis 1");
  const std::string axis = "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: ";
  ExpectThrows([&] { RunOp(&ws, Op("Add", axis + "2 }")); }, "argument axis is 2, want 0 to 1");
  ExpectThrows([&] { RunOp(&ws, Op("Add", axis + "-2 }")); }, "argument axis is -2, want 0 to 1");
  FeedRange<float>(&ws, "B", {2, 3, 4});
  ExpectThrows([&] { RunOp(&ws, Op("Add", axis + "1 }")); }, "argument axis is 1, want 0 to 0");
  FeedRange<float>(&ws, "B", {1, 2, 3, 4});
  ExpectThrows([&] { RunOp(&ws, Op("Add", kOld)); }, "rank of input 0 (A) [2, 3, 4]");
}

TEST(AddTest, RejectsContradictoryAxes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  FeedRange<float>(&ws, "B", {3});
  const std::string old = kOld;
  ExpectThrows([&] { RunOp(&ws, Op("Add", old + R"(arg { name: "axis_str" s: "Z" })")); },
               "argument axis_str \"Z\" is not a letter of argument order \"NCHW\"");
  ExpectThrows([&] { RunOp(&ws, Op("Add", old + R"(arg { name: "axis_str" s: "CH" })")); },
               "length of argument axis_str \"CH\"");
  ExpectThrows(
      [&] {
        RunOp(&ws, Op("Add", old + R"(arg { name: "axis_str" s: "C" } arg { name: "axis" i: 1 })"));
      },
      "argument axis together with axis_str");
}

TEST(AddTest, RejectsBoolsAndMixedTypes) {
  Workspace ws;
  Feed<float>(&ws, "A", {1}, {1});
  Feed<int32_t>(&ws, "B", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Op("Add")); },
               "input 1 (B) has elements of type int32, want float as input 0 (A)");
  Feed<bool>(&ws, "A", {1}, {true});
  ExpectThrows([&] { RunOp(&ws, Op("Add")); }, "input 0 (A) has elements of type bool, want float");
}

TEST(AddTest, WrapsIntegers) {
  Workspace ws;
  Feed<int32_t>(&ws, "A", {1}, {std::numeric_limits<int32_t>::max()});
  Feed<int32_t>(&ws, "B", {1}, {1});
  RunOp(&ws, Op("Add"));
  ExpectTensor<int32_t>(ws, "Y", {1}, {std::numeric_limits<int32_t>::min()});
}

TEST(DivTest, TruncatesIntegersAndWrapsTheSmallestOne) {
  Workspace ws;
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  Feed<int32_t>(&ws, "A", {3}, {-7, 7, kMin});
  Feed<int32_t>(&ws, "B", {3}, {2, -2, -1});
  RunOp(&ws, Op("Div"));
  ExpectTensor<int32_t>(ws, "Y", {3}, {-3, -3, kMin});
}

TEST(DivTest, RejectsIntegerDivisionByZeroAndAcceptsThatOfFloats) {
  Workspace ws;
  Feed<int64_t>(&ws, "A", {2}, {1, 2});
  Feed<int64_t>(&ws, "B", {2}, {1, 0});
  ExpectThrows([&] { RunOp(&ws, Op("Div")); }, "input 1 (B) is 0 at element 1");
  Feed<float>(&ws, "A", {2}, {1, 2});
  Feed<float>(&ws, "B", {2}, {1, 0});
  RunOp(&ws, Op("Div"));
  ExpectTensor<float>(ws, "Y", {2}, {1, std::numeric_limits<float>::infinity()});
}

TEST(DivTest, RunsInPlaceOnItsFirstInputOnly) {
  Workspace ws;
  Feed<float>(&ws, "A", {2}, {1, 2});
  Feed<float>(&ws, "B", {2}, {4, 4});
  RunOp(&ws, Op("Div", "", "A"));
  ExpectTensor<float>(ws, "A", {2}, {0.25f, 0.5f});
  ExpectThrows([&] { RunOp(&ws, Op("Div", "", "B")); }, "in place");
}

// The shapes of B make each kind of loop: all elements, one element, rows, columns, and blocks
// within outer loops.
TEST(ArithmeticTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {5, 7, 61, 67}, 1, 3);
  const std::vector<int64_t> shapes[] = {{5, 7, 61, 67}, {1},           {67},          {7, 1, 1},
                                         {5, 1, 1, 67},  {5, 1, 61, 1}, {1, 7, 61, 67}};
  for (const std::vector<int64_t>& shape : shapes) {
    test::FeedRandom(&ws, "Z", shape, 1, 3, 2);
    for (const char* type : {"Add", "Mul", "Div", "GT"}) {
      test::ExpectSameBitsForAllThreads(
          &ws, MakeString("type: \"", type, R"(" input: "X" input: "Z" output: "Y")"));
      test::ExpectSameBitsForAllThreads(
          &ws, MakeString("type: \"", type, R"(" input: "Z" input: "X" output: "Y")"));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::arithmetic_test
