#include <cmath>
#include <limits>
#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::square_root_divide_test {
namespace {

TEST(SquareRootDivideTest, DividesEachRow) {
  ExpectResults({
      {"SquareRootDivide X S -> Y", "X f 3,2 = 1,2,3,4,5,6; S f 3 = 4,0,0.25",
       "Y f 3,2 = 0.5,1,3,4,10,12"},
      {"SquareRootDivide X S -> Y", "X f 2 = 3,-8; S i 2 = 9,16", "Y f 2 = 1,-2"},
      {"SquareRootDivide X S -> Y", "X f 2,1,1 = 3,8; S l 2 = 9,1152921504606846976",
       "Y f 2,1,1 = 1,7.450580597e-9", 1e-12},
      {"SquareRootDivide X S -> Y", "X f 0,2; S i 0", "Y f 0,2"},
      {"SquareRootDivide X S -> X", "X f 1,2 = 6,8; S f 1,1 = 4", "X f 1,2 = 3,4"},
  });
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {5});
  Feed<float>(&ws, "S", {1}, {std::numeric_limits<float>::infinity()});
  const std::string op = R"(type: "SquareRootDivide" input: "X" input: "S" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1}, {0});
  Feed<float>(&ws, "S", {1}, {std::numeric_limits<float>::quiet_NaN()});
  ExpectThrows([&] { RunOp(&ws, op); }, "element 0 of input 1 (scale): got nan, want at least 0");
  EXPECT_EQ(DescribeGradient(op), "SquareRootDivide(Y_grad,S)->X_grad | X_grad -");
}

TEST(SquareRootDivideTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"SquareRootDivide X S -> Y", "X f -; S f 1",
       "rank of input 0 (data): got 0, want at least 1"},
      {"SquareRootDivide X S -> Y", "X f 3,2; S f 2",
       "elements of input 1 (scale), want the rows of input 0 (data) of shape [3, 2] (got 2, want "
       "3)"},
      {"SquareRootDivide X S -> Y", "X d 1; S f 1",
       "the tensor holds elements of type double, want float"},
      {"SquareRootDivide X S -> Y", "X f 1; S d 1",
       "Unsupported type of tensor: input 1 (scale) has elements of type double, want float, "
       "int32, int64"},
      {"SquareRootDivide X S -> Y", "X f 2; S i 2 = 1,-4",
       "element 1 of input 1 (scale): got -4, want at least 0"},
  });
  ExpectInferred({{"SquareRootDivide X S -> Y", "X f 3,2; S i 3", "float [3, 2]"}});
}

}  // namespace
}  // namespace caffe2rt::test::square_root_divide_test
