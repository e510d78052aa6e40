#include <cmath>
#include <limits>
#include <numeric>

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::reduce_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string Op(const std::string& type, const std::vector<int>& axes, bool keep) {
  std::string text = "type: \"" + type + R"(" input: "X" output: "Y" arg { name: "axes" )";
  for (const int axis : axes) text += "ints: " + std::to_string(axis) + " ";
  return text + "} arg { name: \"keepdims\" i: " + (keep ? "1" : "0") + " }";
}

struct Kind {
  const char* type;
  double start;
  double (*step)(double, double);
  double (*finish)(double, double);
};
const Kind kKinds[] = {
    {"ReduceSum", 0, [](double a, double x) { return a + x; }, [](double a, double) { return a; }},
    {"ReduceMean", 0, [](double a, double x) { return a + x; },
     [](double a, double n) { return a / n; }},
    {"ReduceMax", -1e30, [](double a, double x) { return std::max(a, x); },
     [](double a, double) { return a; }},
    {"ReduceMin", 1e30, [](double a, double x) { return std::min(a, x); },
     [](double a, double) { return a; }},
    {"ReduceL1", 0, [](double a, double x) { return a + std::abs(x); },
     [](double a, double) { return a; }},
    {"ReduceL2", 0, [](double a, double x) { return a + x * x; },
     [](double a, double) { return std::sqrt(a); }},
};

class ReduceTest : public testing::TestWithParam<Kind> {};

// The expected result is computed element by element, from the index of each element.
TEST_P(ReduceTest, AgreesWithALoopOverAnyAxes) {
  const std::vector<int64_t> dims = {2, 3, 1, 4, 37};
  const Kind& kind = GetParam();
  for (int mask = 0; mask < 32; ++mask) {
    Workspace ws;
    test::FeedRandom(&ws, "X", dims);
    const std::vector<float> x = Fetch<float>(ws, "X");
    std::vector<int> axes;
    std::vector<int64_t> kept, dropped;
    int64_t outputs = 1;
    for (int i = 0; i < 5; ++i) {
      const bool reduced = mask == 0 || (mask >> i & 1);
      if (mask >> i & 1) axes.push_back(i % 2 == 0 ? i : i - 5);
      kept.push_back(reduced ? 1 : dims[static_cast<size_t>(i)]);
      if (!reduced) dropped.push_back(dims[static_cast<size_t>(i)]);
      outputs *= kept.back();
    }
    std::vector<double> sums(static_cast<size_t>(outputs), kind.start);
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      int64_t rest = i, at = 0, step = 1;
      for (size_t d = 5; d-- > 0;) {
        const int64_t index = rest % dims[d];
        rest /= dims[d];
        if (kept[d] != 1) at += index * step;
        step *= kept[d];
      }
      double& sum = sums[static_cast<size_t>(at)];
      sum = kind.step(sum, x[static_cast<size_t>(i)]);
    }
    std::vector<float> want;
    const double count = static_cast<double>(x.size()) / static_cast<double>(outputs);
    for (const double sum : sums) want.push_back(static_cast<float>(kind.finish(sum, count)));
    for (const bool keep : {true, false}) {
      RunOp(&ws, Op(kind.type, axes, keep));
      ExpectTensor<float>(ws, "Y", keep ? kept : dropped, want, 1e-5);
      ExpectShapeInferred(&ws, Op(kind.type, axes, keep));
    }
  }
}

TEST_P(ReduceTest, ReducesAllDimensionsToOnesByDefault) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const std::string op = std::string("type: \"") + GetParam().type + R"(" input: "X" output: "Y")";
  RunOp(&ws, op);
  EXPECT_EQ(test::DimsOf(ws, "Y"), (std::vector<int64_t>{1, 1}));
  ExpectShapeInferred(&ws, op);
}

TEST_P(ReduceTest, NamesAnAxisOutOfRange) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op(GetParam().type, {2}, true)); },
               "argument axes contains 2, want -2 to 1 for an input of rank 2");
  ExpectThrows([&] { RunOp(&ws, Op(GetParam().type, {-3}, true)); }, "argument axes contains -3");
}

TEST_P(ReduceTest, AcceptsARepeatedAxisAndAScalar) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {2, 2});
  RunOp(&ws, Op(GetParam().type, {0, -2}, false));
  EXPECT_EQ(test::DimsOf(ws, "Y"), std::vector<int64_t>{1});
  Feed<float>(&ws, "X", {}, {3});
  RunOp(&ws, Op(GetParam().type, {}, true));
  ExpectTensor<float>(ws, "Y", {}, {3});
}

TEST_P(ReduceTest, RejectsBools) {
  Workspace ws;
  Feed<bool>(&ws, "X", {0}, {});
  ExpectThrows([&] { RunOp(&ws, Op(GetParam().type, {}, true)); },
               "input 0 (X) has elements of type bool, want float");
}

INSTANTIATE_TEST_SUITE_P(All, ReduceTest, testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.type; });

TEST_P(ReduceTest, PrefersTheAxesOfAnInput) {
  const std::string type = GetParam().type;
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 4});
  Feed<int64_t>(&ws, "axes", {2}, {-1, 0});
  RunOp(&ws, Op(type, {0, 2}, false));
  const std::vector<float> want = Fetch<float>(ws, "Y");
  const std::string op = "type: \"" + type +
                         R"(" input: "X" input: "axes" output: "Y" arg { name: "axes" ints: 1 }
                            arg { name: "keepdims" i: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3}, want);
  ExpectShapeInferred(&ws, op, /*may_be_unknown=*/true);
  Feed<int64_t>(&ws, "axes", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, op); }, "contains 3, want -3 to 2");
  // Without axes, all dimensions are reduced, or none.
  Feed<int64_t>(&ws, "axes", {0}, {});
  RunOp(&ws, op);
  EXPECT_EQ(test::DimsOf(ws, "Y"), std::vector<int64_t>());
  RunOp(&ws, op + R"( arg { name: "noop_with_empty_axes" i: 1 })");
  EXPECT_EQ(test::DimsOf(ws, "Y"), (std::vector<int64_t>{2, 3, 4}));
}

TEST(ReduceTest, GivesItsNeutralElementForNoElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 0}, {});
  const float low = std::numeric_limits<float>::lowest(), high = std::numeric_limits<float>::max();
  const std::pair<const char*, float> cases[] = {{"ReduceSum", 0},   {"ReduceMean", 0},
                                                 {"ReduceMax", low}, {"ReduceMin", high},
                                                 {"ReduceL1", 0},    {"ReduceL2", 0}};
  for (const auto& [type, want] : cases) {
    RunOp(&ws, Op(type, {1}, true));
    ExpectTensor<float>(ws, "Y", {2, 1}, {want, want});
    RunOp(&ws, Op(type, {}, false));
    ExpectTensor<float>(ws, "Y", {}, {want});
    RunOp(&ws, Op(type, {0}, false));
    ExpectTensor<float>(ws, "Y", {0}, {});
    ExpectShapeInferred(&ws, Op(type, {0}, false));
  }
}

template <class T>
class ReduceTypeTest : public testing::Test {};
using OtherTypes = testing::Types<double, int32_t, int64_t>;
TYPED_TEST_SUITE(ReduceTypeTest, OtherTypes);

TYPED_TEST(ReduceTypeTest, ReducesLongRowsAndColumns) {
  using T = TypeParam;
  constexpr int64_t kRows = 3, kColumns = 200;
  Workspace ws;
  FeedRange<T>(&ws, "X", {kRows, kColumns}, 5, -1);
  std::vector<T> sums, largest, smallest, column_sums;
  for (int64_t r = 0; r < kRows; ++r) {
    const T first = static_cast<T>(5 - r * kColumns);
    sums.push_back(first * kColumns - kColumns * (kColumns - 1) / 2);
    largest.push_back(first);
    smallest.push_back(first - (kColumns - 1));
  }
  for (int64_t c = 0; c < kColumns; ++c)
    column_sums.push_back(static_cast<T>(3 * (5 - c) - 3 * kColumns));
  RunOp(&ws, Op("ReduceSum", {1}, false));
  ExpectTensor<T>(ws, "Y", {kRows}, sums);
  RunOp(&ws, Op("ReduceMax", {-1}, false));
  ExpectTensor<T>(ws, "Y", {kRows}, largest);
  RunOp(&ws, Op("ReduceMin", {1}, false));
  ExpectTensor<T>(ws, "Y", {kRows}, smallest);
  RunOp(&ws, Op("ReduceSum", {0}, false));
  ExpectTensor<T>(ws, "Y", {kColumns}, column_sums);
}

TEST(ReduceMaxTest, KeepsAFirstNaNAndPassesOverLaterOnes) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 3},
              {1, kNaN, 3, kNaN, -kInfinity, 2, -kInfinity, -kInfinity, -kInfinity});
  RunOp(&ws, Op("ReduceMax", {1}, false));
  ExpectTensor<float>(ws, "Y", {3}, {3, kNaN, -kInfinity});
  RunOp(&ws, Op("ReduceMax", {0}, false));
  ExpectTensor<float>(ws, "Y", {3}, {1, kNaN, 3});
  std::vector<float> row(100, kNaN);
  row[0] = 1;
  row[70] = 9;
  Feed<float>(&ws, "X", {100}, row);
  RunOp(&ws, Op("ReduceMax", {0}, false));
  ExpectTensor<float>(ws, "Y", {}, {9});
}

TEST(ReduceL2Test, GivesTheSizeOfASingleNumberWhoseSquareIsTooLarge) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {1e30f, -1e-30f});
  RunOp(&ws, Op("ReduceL2", {1}, false));
  ExpectTensor<float>(ws, "Y", {2}, {1e30f, 1e-30f});
}

TEST(ReduceSumTest, WrapsIntegers) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2}, {std::numeric_limits<int32_t>::max(), 1});
  RunOp(&ws, Op("ReduceSum", {0}, false));
  ExpectTensor<int32_t>(ws, "Y", {}, {std::numeric_limits<int32_t>::min()});
}

TEST(ReduceSumTest, AllocatesAndLocksNothingWhenWarm) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4, 5});
  NetBase* net =
      ws.CreateNet(test::ParseNet("name: \"n\" op { " + Op("ReduceSum", {1, 3}, true) + " }"));
  ASSERT_TRUE(net->Run() && net->Run());
  const test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

std::string GradientOp(const std::string& type, const std::vector<int>& axes) {
  std::string text = "type: \"" + type + R"(" input: "dY" input: "X" input: "Y" output: "dX"
      arg { name: "axes" )";
  for (const int axis : axes) text += "ints: " + std::to_string(axis) + " ";
  return text + "}";
}

// Distances between the elements avoid kinks: none is 0, and no two are nearly equal.
TEST_P(ReduceTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  std::vector<float> x;
  for (int i = 0; i < 24; ++i)
    x.push_back((i % 2 ? -0.25f : 0.25f) * static_cast<float>(i * 7 % 24 + 1));
  Feed<float>(&ws, "X", {2, 3, 4}, x);
  for (const std::vector<int>& axes :
       {std::vector<int>{}, {0}, {1}, {-1}, {0, 2}, {2, 1}, {0, 1, 2}}) {
    for (const bool keep : {true, false}) {
      test::ExpectGradientMatches(&ws, Op(GetParam().type, axes, keep));
    }
  }
}

TEST(ReduceGradientTest, GivesEveryElementThatEqualsTheResultItsGradient) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 3}, {1, 3, 3, 2, 2, 2});
  Feed<int32_t>(&ws, "Y", {2}, {3, 2});
  Feed<int32_t>(&ws, "dY", {2}, {5, 7});
  const std::string largest = GradientOp("ReduceMaxGradient", {1});
  RunOp(&ws, largest);
  ExpectTensor<int32_t>(ws, "dX", {2, 3}, {0, 5, 5, 7, 7, 7});
  ExpectShapeInferred(&ws, largest);
  Feed<double>(&ws, "X", {3}, {1, kNaN, 1});
  Feed<double>(&ws, "Y", {}, {1});
  Feed<double>(&ws, "dY", {1}, {4});
  RunOp(&ws, GradientOp("ReduceMinGradient", {0}));
  ExpectTensor<double>(ws, "dX", {3}, {4, 0, 4});
}

TEST(ReduceGradientTest, SumsAcceptFourTypesAndMeansFloats) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int64_t>(&ws, "Y", {2}, {4, 6});
  Feed<int64_t>(&ws, "dY", {2}, {8, 9});
  RunOp(&ws, GradientOp("ReduceSumGradient", {0}));
  ExpectTensor<int64_t>(ws, "dX", {2, 2}, {8, 9, 8, 9});
  ExpectThrows([&] { RunOp(&ws, GradientOp("ReduceMeanGradient", {0})); },
               "input 0 (dY) has elements of type int64");
}

// Recorded from the original: where a norm has no derivative.
TEST(ReduceGradientTest, NormsHaveAGradientAtZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0, 1e-13f, -2, 0});
  Feed<float>(&ws, "Y", {2}, {0, 2});
  Feed<float>(&ws, "dY", {2}, {3, 5});
  RunOp(&ws, GradientOp("ReduceL1Gradient", {1}));
  ExpectTensor<float>(ws, "dX", {2, 2}, {0, 0, -5, 0});
  RunOp(&ws, GradientOp("ReduceL2Gradient", {1}));
  ExpectTensor<float>(ws, "dX", {2, 2}, {3, 3, -5, 0});
}

TEST(ReduceGradientTest, AcceptsTensorsWithoutElementsAndScalars) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "Y", {2}, {0, 0});
  Feed<float>(&ws, "dY", {2}, {1, 1});
  RunOp(&ws, GradientOp("ReduceMeanGradient", {1}));
  ExpectTensor<float>(ws, "dX", {2, 0}, {});
  Feed<float>(&ws, "X", {}, {3});
  Feed<float>(&ws, "Y", {}, {3});
  Feed<float>(&ws, "dY", {}, {2});
  RunOp(&ws, R"(type: "ReduceSumGradient" input: "dY" input: "X" input: "Y" output: "dX")");
  ExpectTensor<float>(ws, "dX", {}, {2});
}

TEST(ReduceGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "Y", {2});
  FeedRange<float>(&ws, "dY", {3});
  const auto run = [&](const std::vector<int>& axes) {
    return [&ws, axes] { RunOp(&ws, GradientOp("ReduceSumGradient", axes)); };
  };
  ExpectThrows(run({1}), "elements of input 0 (dY) of shape [3], want one for each output");
  ExpectThrows(run({0}), "elements of input 2 (Y) of shape [2], want one for each output");
  ExpectThrows(run({2}), "argument axes contains 2");
  FeedRange<double>(&ws, "dY", {2});
  EXPECT_THROW(run({1})(), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::reduce_test
