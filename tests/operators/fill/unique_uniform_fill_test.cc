#include <algorithm>

#include "tests/support/operator_test.h"

namespace caffe2rt::unique_uniform_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectThrows;
using test::Feed;
using test::Fetch;
using test::RunOp;

TEST(UniqueUniformFillTest, DrawsEveryNumberOnceIfAllAreRequested) {
  Workspace ws;
  const char* op = R"(type: "UniqueUniformFill" output: "Y" arg { name: "shape" ints: 2 ints: 2 }
                      arg { name: "min" i: -1 } arg { name: "max" i: 2 })";
  RunOp(&ws, op);
  EXPECT_THAT(Fetch<int32_t>(ws, "Y"), testing::UnorderedElementsAre(-1, 0, 1, 2));
  ExpectShapeInferred(&ws, op);
}

TEST(UniqueUniformFillTest, DrawsNoneOfTheAvoidedNumbers) {
  Workspace ws;
  Feed<int64_t>(&ws, "S", {1}, {3});
  Feed<int64_t>(&ws, "A", {2}, {3, 5});
  RunOp(
      &ws,
      R"(type: "UniqueUniformFill" input: "S" input: "A" output: "Y" arg { name: "input_as_shape" i: 1 }
                arg { name: "min" i: 2 } arg { name: "max" i: 6 } arg { name: "dtype" i: 10 })");
  EXPECT_THAT(Fetch<int64_t>(ws, "Y"), testing::UnorderedElementsAre(2, 4, 6));
}

TEST(UniqueUniformFillTest, DrawsFromTheWholeRangeOfInt64) {
  Workspace ws;
  RunOp(
      &ws,
      R"(type: "UniqueUniformFill" output: "Y" arg { name: "shape" ints: 100 } arg { name: "dtype" i: 10 }
                arg { name: "min" i: -9223372036854775808 } arg { name: "max" i: 9223372036854775807 })");
  std::vector<int64_t> values = Fetch<int64_t>(ws, "Y");
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
  EXPECT_LT(values.front(), 0);
  EXPECT_GT(values.back(), 0);
}

TEST(UniqueUniformFillTest, RejectsMoreNumbersThanTheRangeHas) {
  Workspace ws;
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "shape" ints: 4 }
                      arg { name: "min" i: 0 } arg { name: "max" i: 2 })");
      },
      "cannot draw 4 different numbers from [0, 2]");
}

TEST(UniqueUniformFillTest, RejectsMissingBoundsOtherTypesAndRepeatedAvoidance) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  Feed<int32_t>(&ws, "A", {2}, {3, 3});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "max" i: 2 })"); },
      "argument \"min\" is required but missing");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "min" i: 2 })"); },
      "argument \"max\" is required but missing");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "min" f: 1 }
                      arg { name: "max" i: 2 })");
      },
      "Argument min does not have the right field: expected field i");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "min" i: 2 }
                      arg { name: "max" i: 2 })");
      },
      "argument min, want less than argument max");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UniqueUniformFill" output: "Y" arg { name: "dtype" i: 1 }
                      arg { name: "min" i: 0 } arg { name: "max" i: 2 })");
      },
      "argument \"dtype\" is 1, want INT32 (2) or INT64 (10)");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "UniqueUniformFill" input: "X" input: "A" output: "Y"
                      arg { name: "min" i: 0 } arg { name: "max" i: 9 })");
      },
      "want all to differ");
}

// An OperatorDef without bounds passes the schema, so that its gradient can be generated.
TEST(UniqueUniformFillTest, NeedsBoundsOnlyToRun) {
  const OperatorDef def = test::ParseOp(R"(type: "UniqueUniformFill" output: "Y")");
  EXPECT_TRUE(OpSchemaRegistry::Schema("UniqueUniformFill")->Verify(def));
}

}  // namespace
}  // namespace caffe2rt::unique_uniform_fill_test
