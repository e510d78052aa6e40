#include <limits>
#include <string>
#include <vector>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::string_join_test {
namespace {

std::string Join(const std::string& arguments = "") {
  return R"(type: "StringJoin" input: "X" output: "Y" )" + arguments;
}

TEST(StringJoinTest, JoinsRowsOrColumns) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 3}, {7, 1, -10, -14, 8, 0});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {2}, {"7,1,-10,", "-14,8,0,"});
  ExpectShapeInferred(&ws, Join());
  const std::string columns =
      Join(R"(arg { name: "axis" i: 1 } arg { name: "delimiter" s: ", " })");
  RunOp(&ws, columns);
  ExpectTensor<std::string>(ws, "Y", {3}, {"7, -14, ", "1, 8, ", "-10, 0, "});
  ExpectShapeInferred(&ws, columns);
  Feed<std::string>(&ws, "X", {1, 3}, {"a", "b,c", ""});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"a,b,c,,"});
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  RunOp(&ws, Join(R"(arg { name: "delimiter" s: "" })"));
  ExpectTensor<std::string>(ws, "Y", {2}, {"a", "b"});
}

// Recorded from Caffe2.
TEST(StringJoinTest, WritesNumbersAsStreams) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Workspace ws;
  Feed<float>(&ws, "X", {1, 9},
              {0.1f, 1e-7f, 1e10f, kInfinity, -kInfinity, 100000, 1000000, 123456.7f, 1.0f / 3});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1},
                            {"0.1,1e-07,1e+10,inf,-inf,100000,1e+06,123457,0.333333,"});
  Feed<double>(&ws, "X", {4}, {1e15, 1e-5, -0.0, std::numeric_limits<double>::quiet_NaN()});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {4}, {"1e+15,", "1e-05,", "-0,", "nan,"});
  Feed<bool>(&ws, "X", {2}, {true, false});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {2}, {"1,", "0,"});
  Feed<uint8_t>(&ws, "X", {1, 2}, {65, 66});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"A,B,"});
  Feed<int8_t>(&ws, "X", {1}, {-3});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"\xfd,"});
  Feed<uint16_t>(&ws, "X", {1}, {65535});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"65535,"});
  Feed<int16_t>(&ws, "X", {1}, {-32768});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"-32768,"});
  Feed<int64_t>(&ws, "X", {1}, {std::numeric_limits<int64_t>::min()});
  RunOp(&ws, Join());
  ExpectTensor<std::string>(ws, "Y", {1}, {"-9223372036854775808,"});
}

TEST(StringJoinTest, RejectsInvalidCalls) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, Join()); }, "rank of input 0 (X) of shape [1, 2, 1], want 1 or 2");
  Feed<float>(&ws, "X", {}, {1});
  ExpectThrows([&] { RunOp(&ws, Join()); }, "rank of input 0 (X) of shape [], want 1 or 2");
  Feed<float>(&ws, "X", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, Join(R"(arg { name: "axis" i: 1 })")); },
               "argument axis, want less than the rank of input 0 (X)");
  ExpectThrows([&] { RunOp(&ws, Join(R"(arg { name: "axis" i: -1 })")); },
               "argument \"axis\" is -1, want 0 or 1");
  Feed<float>(&ws, "X", {2, 0}, {});
  ExpectThrows([&] { RunOp(&ws, Join()); }, "elements of input 0 (X) of shape [2, 0]");
  ExpectThrows([] { DescribeGradient(Join()); },
               "One should not call gradient for operator StringJoin.");
}

}  // namespace
}  // namespace caffe2rt::test::string_join_test
