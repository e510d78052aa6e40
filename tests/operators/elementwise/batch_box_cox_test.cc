#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::batch_box_cox_test {
namespace {

const char* const kBoxCox = R"(type: "BatchBoxCox" input: "X" input: "A" input: "B" output: "Y")";

TEST(BatchBoxCoxTest, TransformsEachColumn) {
  ExpectResults({
      // (v^2 - 1) / 2 and (1/v - 1) / -1 of v = x + 0 and x + 1.
      {"BatchBoxCox X A B -> Y", "X f 2,2 = 1,3,3,1; A f 2 = 2,-1; B f 2 = 0,1",
       "Y f 2,2 = 0,0.75,4,0.5"},
      {"BatchBoxCox X A B -> Y", "X d 1,1,2 = 1,4; A d 2 = 1,0.5; B d 1,2 = 5,0",
       "Y d 1,1,2 = 5,2"},
      // v is at least 1e-6.
      {"BatchBoxCox X A B -> Y", "X f 3 = -7,1,0.000001; A f - = -1; B f - = -1",
       "Y f 3 = -999999,-999999,-999999", 1e-6},
      {"BatchBoxCox X A B -> X", "X f 1,1 = 3; A f 1 = 2; B f 1 = 0", "X f 1,1 = 4"},
      {"BatchBoxCox X A B -> Y min_block_size=0", "X f 0,2; A f 2; B f 2", "Y f 0,2"},
      {"BatchBoxCox X A B -> Y", "X f 2,0; A f 0; B f 0", "Y f 2,0"},
  });
}

TEST(BatchBoxCoxTest, TakesLogarithmsForAnExponentOfZero) {
  Workspace ws;
  Feed<double>(&ws, "X", {3, 1}, {1, 7, -3});
  Feed<double>(&ws, "A", {1}, {0});
  Feed<double>(&ws, "B", {1}, {2});
  RunOp(&ws, kBoxCox);
  ExpectTensor<double>(ws, "Y", {3, 1}, {std::log(3.0), std::log(9.0), std::log(1e-6)}, 1e-14);
  // An exponent near 0, where a difference in float has no correct digit.
  Feed<float>(&ws, "X", {1, 1}, {2});
  Feed<float>(&ws, "A", {1}, {1e-7f});
  Feed<float>(&ws, "B", {1}, {0});
  RunOp(&ws, kBoxCox);
  ExpectTensor<float>(ws, "Y", {1, 1}, {std::log(2.0f)}, 1e-6);
}

TEST(BatchBoxCoxTest, PassesOnNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {kNaN, kInfinity, 1, kNaN});
  Feed<float>(&ws, "A", {2}, {0, 0.5f});
  Feed<float>(&ws, "B", {2}, {0, 0});
  RunOp(&ws, kBoxCox);
  ExpectTensor<float>(ws, "Y", {2, 2}, {kNaN, kInfinity, 0, kNaN});
}

TEST(BatchBoxCoxTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"BatchBoxCox X A B -> Y", "X f -; A f 1; B f 1",
       "rank of input 0 (data): got 0, want at least 1"},
      {"BatchBoxCox X A B -> Y", "X f 2,3; A f 2; B f 3",
       "elements of input 1 (lambda1), want one for each column of input 0 (data) of shape [2, 3] "
       "(got 2, want 3)"},
      {"BatchBoxCox X A B -> Y", "X f 2; A f 1; B f 2",
       "elements of input 2 (lambda2), want one for each column of input 0 (data) of shape [2] "
       "(got 2, want 1)"},
      {"BatchBoxCox X A B -> Y", "X i 2; A i 1; B i 1",
       "Unsupported type of tensor: input 0 (data) has elements of type int32, want float, double"},
      {"BatchBoxCox X A B -> Y", "X d 2; A f 1; B d 1",
       "the tensor holds elements of type float, want double"},
  });
  ExpectInferred({{"BatchBoxCox X A B -> Y", "X d 3,2; A d 2; B d 2", "double [3, 2]"}});
  ExpectThrows([] { DescribeGradient(kBoxCox); },
               "should have a gradient but is not implemented yet");
}

}  // namespace
}  // namespace caffe2rt::test::batch_box_cox_test
