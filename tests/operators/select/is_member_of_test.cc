#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::is_member_of_test {
namespace {

std::string Members(const std::string& arguments) {
  return R"(type: "IsMemberOf" input: "X" output: "Y" )" + arguments;
}

TEST(IsMemberOfTest, ComparesWithTheValues) {
  const std::string values = Members(R"(arg { name: "value" ints: 3 ints: -1 ints: 7 })");
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 2}, {-1, 0, 7, 4});
  RunOp(&ws, values);
  ExpectTensor<bool>(ws, "Y", {2, 2}, {true, false, true, false});
  ExpectShapeInferred(&ws, values);
  Feed<int64_t>(&ws, "X", {}, {3});
  RunOp(&ws, values + R"( arg { name: "dtype" i: 10 })");
  ExpectTensor<bool>(ws, "Y", {}, {true});
  Feed<std::string>(&ws, "X", {3}, {"b", "", "a"});
  RunOp(&ws, Members(R"(arg { name: "value" strings: "c" strings: "b" })"));
  ExpectTensor<bool>(ws, "Y", {3}, {true, false, false});
  Feed<int32_t>(&ws, "X", {0, 2}, {});
  RunOp(&ws, values);
  ExpectTensor<bool>(ws, "Y", {0, 2}, {});
}

// Every number but 0 is true.
TEST(IsMemberOfTest, ComparesBools) {
  Workspace ws;
  Feed<bool>(&ws, "X", {2}, {true, false});
  RunOp(&ws, Members(R"(arg { name: "value" ints: 7 } arg { name: "dtype" i: 5 })"));
  ExpectTensor<bool>(ws, "Y", {2}, {true, false});
  RunOp(&ws, Members(R"(arg { name: "value" ints: 0 })"));
  ExpectTensor<bool>(ws, "Y", {2}, {false, true});
  RunOp(&ws, Members(R"(arg { name: "value" ints: 0 ints: -1 })"));
  ExpectTensor<bool>(ws, "Y", {2}, {true, true});
}

// Recorded from Caffe2: a value that is no list of the right type counts as no values.
TEST(IsMemberOfTest, FindsNothingWithoutValues) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2}, {1, 0});
  for (const char* const argument :
       {"", R"(arg { name: "value" i: 1 })", R"(arg { name: "value" floats: 1 })",
        R"(arg { name: "value" strings: "1" })"}) {
    RunOp(&ws, Members(argument));
    ExpectTensor<bool>(ws, "Y", {2}, {false, false});
  }
}

TEST(IsMemberOfTest, RejectsOtherTypes) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Members("")); },
               "input 0 (X) has elements of type float, want int32, int64, bool, string");
  Feed<int32_t>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Members(R"(arg { name: "dtype" i: 1 })")); },
               "argument \"dtype\" is 1, want 0, INT32 (2), STRING (4), BOOL (5) or INT64 (10)");
  ExpectThrows([&] { RunOp(&ws, Members(R"(arg { name: "dtype" i: 10 })")); },
               "argument dtype is 10, want the type of input 0 (X), int32");
  ExpectThrows([&] { RunOp(&ws, Members(R"(arg { name: "value" ints: 2147483648 ints: 1 })")); },
               "argument value contains 2147483648, want numbers of type int32");
  ExpectThrows([&] { RunOp(&ws, Members(R"(arg { name: "value" ints: -2147483649 })")); },
               "argument value contains -2147483649");
  ExpectThrows([] { DescribeGradient(Members("")); },
               "One should not call gradient for operator IsMemberOf.");
}

}  // namespace
}  // namespace caffe2rt::test::is_member_of_test
