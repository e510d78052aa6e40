#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::arg_max_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T>
class ArgMaxTest : public testing::Test {};
using ElementTypes = testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(ArgMaxTest, ElementTypes);

TYPED_TEST(ArgMaxTest, GivesTheFirstOfEqualElements) {
  Workspace ws;
  Feed<TypeParam>(&ws, "X", {2, 3}, {1, 2, 2, 4, 3, 3});
  const char* max = R"(type: "ArgMax" input: "X" output: "Y")";
  RunOp(&ws, max);
  ExpectTensor<int64_t>(ws, "Y", {2, 1}, {1, 0});
  ExpectShapeInferred(&ws, max);
  const char* min = R"(type: "ArgMin" input: "X" output: "Y" arg { name: "keepdims" i: 0 })";
  RunOp(&ws, min);
  ExpectTensor<int64_t>(ws, "Y", {2}, {0, 1});
  ExpectShapeInferred(&ws, min);
}

TYPED_TEST(ArgMaxTest, RunsAlongAnInnerAxis) {
  Workspace ws;
  Feed<TypeParam>(&ws, "X", {2, 2, 2}, {1, 6, 5, 2, 3, 8, 3, 7});
  const char* op = R"(type: "ArgMax" input: "X" output: "Y" arg { name: "axis" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {2, 1, 2}, {1, 0, 0, 0});
  ExpectShapeInferred(&ws, op);
}

TEST(ArgMaxNaNTest, CountsOnlyInFront) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {kNaN, 1, 2, 1, kNaN, 2});
  RunOp(&ws, R"(type: "ArgMax" input: "X" output: "Y")");
  ExpectTensor<int64_t>(ws, "Y", {2, 1}, {0, 2});
  Feed<float>(&ws, "X", {3, 2}, {kNaN, 1, 1, kNaN, 2, 2});
  RunOp(&ws, R"(type: "ArgMax" input: "X" output: "Y" arg { name: "axis" i: 0 })");
  ExpectTensor<int64_t>(ws, "Y", {1, 2}, {0, 2});
}

TEST(ArgMaxEmptyTest, AcceptsManyEmptyRows) {
  constexpr int64_t kMany = int64_t{1} << 60;
  Workspace ws;
  Feed<float>(&ws, "X", {kMany, 2, 0}, {});
  for (const char* type : {"ArgMax", "ArgMin"}) {
    const std::string op = std::string("type: '") + type + "' input: 'X' output: 'Y' ";
    RunOp(&ws, op + "arg { name: 'axis' i: 1 }");
    ExpectTensor<int64_t>(ws, "Y", {kMany, 1, 0}, {});
    RunOp(&ws, op + "arg { name: 'axis' i: 0 }");
    ExpectTensor<int64_t>(ws, "Y", {1, 2, 0}, {});
  }
}

TEST(ArgMaxEmptyTest, GivesZeroForAnEmptyAxis) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOp(&ws, R"(type: "ArgMax" input: "X" output: "Y" arg { name: "axis" i: 0 })");
  ExpectTensor<int64_t>(ws, "Y", {1, 2}, {0, 0});
  RunOp(&ws, R"(type: "ArgMin" input: "X" output: "Y")");
  ExpectTensor<int64_t>(ws, "Y", {0, 1}, {});
}

TEST(ArgMaxErrorTest, RejectsInvalidAxesAndTypes) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<bool>(&ws, "B", {2}, {true, false});
  for (const char* axis : {"-2", "2"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws,
                std::string(R"(type: "ArgMax" input: "X" output: "Y" arg { name: "axis" i: )") +
                    axis + "}");
        },
        "below the rank of input 0 of shape [2, 2]");
  }
  ExpectThrows([&] { RunOp(&ws, R"(type: "ArgMax" input: "B" output: "Y")"); },
               "input 0 (X) has elements of type bool");
}

}  // namespace
}  // namespace caffe2rt::arg_max_test
