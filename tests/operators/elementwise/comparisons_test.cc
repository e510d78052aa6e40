#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::comparisons_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

struct ComparisonCase {
  const char* type;
  std::vector<bool> want;  // results of comparing 1 with 2, 2 with 2, 3 with 2
};
class ComparisonTest : public testing::TestWithParam<ComparisonCase> {
 protected:
  std::string Op(const std::string& output = "Y", const std::string& args = "") const {
    return std::string("type: \"") + GetParam().type + R"(" input: "A" input: "B" output: ")" +
           output + "\" " + args;
  }
  template <class T>
  void ExpectOrder() {
    Workspace ws;
    Feed<T>(&ws, "A", {3}, {1, 2, 3});
    Feed<T>(&ws, "B", {}, {2});
    RunOp(&ws, Op());
    ExpectTensor<bool>(ws, "Y", {3}, GetParam().want);
    ExpectShapeInferred(&ws, Op());
    Feed<T>(&ws, "B", {3}, {2, 2, 2});
    RunOp(&ws, Op());
    ExpectTensor<bool>(ws, "Y", {3}, GetParam().want);
  }
};

TEST_P(ComparisonTest, OrdersNumbersOfEveryType) {
  ExpectOrder<float>();
  ExpectOrder<double>();
  ExpectOrder<int32_t>();
  ExpectOrder<int64_t>();
}

TEST_P(ComparisonTest, OrdersBools) {
  Workspace ws;
  // Compares false with true, true with true, and true with false.
  Feed<bool>(&ws, "A", {3}, {false, true, true});
  Feed<bool>(&ws, "B", {3}, {true, true, false});
  RunOp(&ws, Op());
  ExpectTensor<bool>(ws, "Y", {3}, GetParam().want);
}

TEST_P(ComparisonTest, FindsNaNUnequalToEverything) {
  Workspace ws;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Feed<float>(&ws, "A", {2}, {kNaN, 1});
  Feed<float>(&ws, "B", {2}, {kNaN, kNaN});
  RunOp(&ws, Op());
  const bool want = std::string(GetParam().type) == "NE";
  ExpectTensor<bool>(ws, "Y", {2}, {want, want});
}

TEST_P(ComparisonTest, BroadcastsInBothForms) {
  Workspace ws;
  Feed<int32_t>(&ws, "A", {3, 1}, {1, 2, 3});
  Feed<int32_t>(&ws, "B", {2}, {2, 2});
  RunOp(&ws, Op());
  const std::vector<bool>& w = GetParam().want;
  ExpectTensor<bool>(ws, "Y", {3, 2}, {w[0], w[0], w[1], w[1], w[2], w[2]});
  Feed<int32_t>(&ws, "B", {3}, {2, 2, 2});
  RunOp(&ws, Op("Y", "arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }"));
  ExpectTensor<bool>(ws, "Y", {3, 1}, w);
}

TEST_P(ComparisonTest, KeepsEmptyShapesAndRejectsStringsAndInPlaceOutputs) {
  Workspace ws;
  Feed<float>(&ws, "A", {0, 2}, {});
  Feed<float>(&ws, "B", {2}, {1, 2});
  RunOp(&ws, Op());
  ExpectTensor<bool>(ws, "Y", {0, 2}, {});
  ExpectThrows([&] { RunOp(&ws, Op("A")); }, "in place");
  Feed<std::string>(&ws, "A", {1}, {"a"});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "Unsupported type of tensor: input 0 (A)");
}

INSTANTIATE_TEST_SUITE_P(All, ComparisonTest,
                         testing::Values(ComparisonCase{"LT", {true, false, false}},
                                         ComparisonCase{"LE", {true, true, false}},
                                         ComparisonCase{"GT", {false, false, true}},
                                         ComparisonCase{"GE", {false, true, true}},
                                         ComparisonCase{"EQ", {false, true, false}},
                                         ComparisonCase{"NE", {true, false, true}}),
                         [](const auto& info) { return info.param.type; });

}  // namespace
}  // namespace caffe2rt::comparisons_test
