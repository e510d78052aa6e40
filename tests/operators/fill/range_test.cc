#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::range_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(RangeTest, CountsToAnEnd) {
  Workspace ws;
  Feed<float>(&ws, "stop", {}, {2.5});
  const char* op = R"(type: "Range" input: "stop" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3}, {0, 1, 2});
  ExpectShapeInferred(&ws, op, true);
}

TEST(RangeTest, StepsUpAndDown) {
  Workspace ws;
  Feed<double>(&ws, "a", {1}, {10});
  Feed<double>(&ws, "b", {1}, {5});
  Feed<double>(&ws, "down", {1}, {-2});
  RunOp(&ws, R"(type: "Range" input: "a" input: "b" input: "down" output: "Y")");
  ExpectTensor<double>(ws, "Y", {3}, {10, 8, 6});
  RunOp(&ws, R"(type: "Range" input: "a" input: "b" output: "Y")");
  ExpectTensor<double>(ws, "Y", {0}, {});
}

TEST(RangeTest, EndsBeforeTheStopWhenTheStepDoesNotDivide) {
  Workspace ws;
  Feed<int32_t>(&ws, "zero", {1}, {0});
  Feed<int32_t>(&ws, "ten", {1}, {10});
  Feed<int32_t>(&ws, "three", {1}, {3});
  Feed<int32_t>(&ws, "down", {1}, {-3});
  RunOp(&ws, R"(type: "Range" input: "ten" input: "zero" input: "down" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {4}, {10, 7, 4, 1});
  RunOp(&ws, R"(type: "Range" input: "zero" input: "ten" input: "three" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {4}, {0, 3, 6, 9});
  // In the other direction there are no elements.
  RunOp(&ws, R"(type: "Range" input: "zero" input: "ten" input: "down" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {0}, {});
  RunOp(&ws, R"(type: "Range" input: "ten" input: "zero" input: "three" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {0}, {});
}

TEST(RangeTest, HasNoElementsUpToInfinityOrNaN) {
  Workspace ws;
  for (const float stop : {INFINITY, NAN, -INFINITY}) {
    Feed<float>(&ws, "stop", {1}, {stop});
    RunOp(&ws, R"(type: "Range" input: "stop" output: "Y")");
    ExpectTensor<float>(ws, "Y", {0}, {});
  }
}

TEST(RangeTest, RejectsVectorsAStepOfZeroAndOtherTypes) {
  Workspace ws;
  Feed<int64_t>(&ws, "one", {1}, {1});
  Feed<int64_t>(&ws, "zero", {1}, {0});
  Feed<int64_t>(&ws, "two", {2}, {1, 2});
  Feed<uint8_t>(&ws, "byte", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Range" input: "two" output: "Y")"); },
               "elements of input 0, want one");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Range" input: "one" input: "one" input: "zero" output: "Y")"); },
      "Step size cannot be 0: input 2 (step)");  // programs of Caffe2 look for its first words
  ExpectThrows([&] { RunOp(&ws, R"(type: "Range" input: "byte" output: "Y")"); },
               "input 0 has elements of type");
}

TEST(RangeTest, RejectsRangesThatAreTooLong) {
  Workspace ws;
  Feed<int64_t>(&ws, "low", {1}, {INT64_MIN});
  Feed<int64_t>(&ws, "high", {1}, {INT64_MAX});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Range" input: "low" input: "high" output: "Y")"); },
               "is too long");
  Feed<double>(&ws, "far", {1}, {1e300});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Range" input: "far" output: "Y")"); },
               "elements of the range");
}

// The distance from 0 to the least integer is one more than the largest integer.
template <class T>
void ExpectLongRanges() {
  constexpr T kLeast = std::numeric_limits<T>::min(), kGreatest = std::numeric_limits<T>::max();
  constexpr T kHalf = kLeast / 2;
  Workspace ws;
  const auto run = [&](T start, T stop, T step) {
    Feed<T>(&ws, "a", {}, {start});
    Feed<T>(&ws, "b", {1}, {stop});
    Feed<T>(&ws, "c", {}, {step});
    ws.RunOperatorOnce(test::ParseOp("type: 'Range' input: 'a' input: 'b' input: 'c' output: 'y'"));
  };
  const auto too_long = [](T start, T stop) {
    return MakeString("range from ", start, " to ", stop, " is too long");
  };
  run(0, kLeast, kHalf);
  ExpectTensor<T>(ws, "y", {2}, {0, kHalf});
  run(0, kLeast, kLeast);
  ExpectTensor<T>(ws, "y", {1}, {0});
  run(kGreatest, -1, kHalf);
  ExpectTensor<T>(ws, "y", {2}, {kGreatest, static_cast<T>(kGreatest + kHalf)});
  run(kLeast, -1, kGreatest);
  ExpectTensor<T>(ws, "y", {1}, {kLeast});
  ExpectThrows([&] { run(0, kLeast, -1); }, too_long(0, kLeast));
  ExpectThrows([&] { run(kGreatest, -1, -1); }, too_long(kGreatest, -1));
  ExpectThrows([&] { run(1, kLeast, kHalf); }, too_long(1, kLeast));
  ExpectThrows([&] { run(kLeast, kGreatest, kGreatest); }, too_long(kLeast, kGreatest));
  ExpectThrows([&] { run(kLeast, 0, kHalf); }, too_long(kLeast, 0));
}

// Steps that lead away from the end, also where they are longer than the distance.
template <class T>
void ExpectNothingTheWrongWay() {
  Workspace ws;
  const std::pair<int, int> ranges[] = {{1, -2}, {1, -1}, {3, -2}, {5, -2},
                                        {-1, 2}, {-3, 2}, {0, 2}};
  for (const auto& [stop, step] : ranges) {
    SCOPED_TRACE(stop);
    Feed<T>(&ws, "a", {}, {T(0)});
    Feed<T>(&ws, "b", {}, {static_cast<T>(stop)});
    Feed<T>(&ws, "c", {}, {static_cast<T>(step)});
    const char* const op = "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'y'";
    ws.RunOperatorOnce(test::ParseOp(op));
    ExpectTensor<T>(ws, "y", {0}, {});
    Feed<T>(&ws, "c", {}, {static_cast<T>(-step)});
    ws.RunOperatorOnce(test::ParseOp(op));
    std::vector<T> want;
    for (int i = 0; stop < 0 ? i > stop : i < stop; i -= step) want.push_back(static_cast<T>(i));
    ExpectTensor<T>(ws, "y", {static_cast<int64_t>(want.size())}, want);
  }
}

TEST(RangeTest, IsEmptyIfTheStepLeadsAwayFromTheEnd) {
  ExpectNothingTheWrongWay<int32_t>();
  ExpectNothingTheWrongWay<int64_t>();
  ExpectNothingTheWrongWay<float>();
  ExpectNothingTheWrongWay<double>();
}

TEST(RangeTest, EndsAtTheBoundsOfItsType) {
  ExpectLongRanges<int32_t>();
  ExpectLongRanges<int64_t>();
}

}  // namespace
}  // namespace caffe2rt::range_test
