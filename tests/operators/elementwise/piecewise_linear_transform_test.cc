#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::piecewise_linear_transform_test {
namespace {

// Recorded with Caffe2.
TEST(PiecewiseLinearTransformTest, IsConstantOutsideOfItsBounds) {
  const std::string one =
      "PiecewiseLinearTransform X -> Y bounds=0.0,1.0,2.0 slopes=1.0,2.0 intercepts=0.5,-1.0";
  const std::string inputs = "PiecewiseLinearTransform X B S I -> Y";
  ExpectResults({
      {one, "X f 8,1 = -1,0,0.5,1,1.5,2,3,nan", "Y f 8,1 = 0.5,0.5,1,1.5,2,3,3,nan"},
      {one + " binary=1", "X f 3 = -1,0.5,3", "Y f 3 = 0.5,1,3"},
      {one + " binary=1", "X f 2,2 = 9,0.5,9,1.5", "Y f 2,2 = 0,1,-1,2"},
      {one + " binary=1", "X f 0,2", "Y f 0,2"},
      // Equal bounds: the last one belongs to the last piece.
      {"PiecewiseLinearTransform X -> Y bounds=0.5,1.0,1.0 slopes=1.0,2.0 intercepts=0.0,0.0",
       "X f 2,1 = 0.75,1", "Y f 2,1 = 0.75,2"},
      {inputs,
       "X f 3,2 = 0.1,0.9,0.5,0.5,0.95,0.05; B f 2,3 = 0,0.5,1,0,0.2,1; S f 2,2 = 1,2,3,4; I f 4 = "
       "0,0,1,1",
       "Y f 3,2 = 0.1,4.6,0.5,3,1.9,1.15"},
      {inputs + " binary=1", "X f 1,1 = 0.7; B f 2 = 0.5,1; S f 1 = 1; I f 1 = 2", "Y f 1,1 = 2.7"},
  });
  ExpectInferred({{inputs, "X f 3,2; B f 6; S f 4; I f 4", "float [3, 2]"}});
}

TEST(PiecewiseLinearTransformTest, RejectsPiecesThatDoNotFit) {
  const std::string inputs = "PiecewiseLinearTransform X B S I -> Y";
  const std::string three =
      "inputs, want bounds, slopes and intercepts as 3 arguments or as 3 inputs ";
  ExpectRejected({
      {"PiecewiseLinearTransform X -> Y bounds=0.0,1.0 slopes=1.0,", "X f 2,1",
       "arguments bounds, slopes and intercepts have 2, 1 and 0 elements, want all of them or "
       "none"},
      {"PiecewiseLinearTransform X -> Y", "X f 2,1", three + "(got 1, want 4)"},
      {inputs + " bounds=0.0,1.0 slopes=1.0, intercepts=1.0,", "X f 2,1; B f 2; S f 1; I f 1",
       three + "(got 4, want 1)"},
      {inputs, "X f 2,2; B f 6; S f 4; I f 3",
       "intercepts, want as many as slopes (got 3, want 4)"},
      {inputs, "X f 2,2; B f 6; S f 6; I f 6",
       "there are 6 bounds and 6 slopes, want one bound more than slopes for each function"},
      {inputs, "X f 2,2; B f 5; S f 3; I f 3",
       "there are 5 bounds and 3 slopes, want one bound more than slopes for each function"},
      {inputs, "X f 2,2; B f 3; S f 2; I f 2",
       "functions, want one for each column of input 0 (predictions) (got 1, want 2)"},
      {inputs + " binary=1", "X f 2,2; B f 6; S f 4; I f 4",
       "functions, want 1 with argument binary (got 2, want 1)"},
      {inputs + " binary=1", "X f 2,3; B f 3; S f 2; I f 2",
       "input 0 (predictions) has shape [2, 3], want 1 or 2 columns with argument binary"},
      {inputs, "X f 2; B f 3; S f 2; I f 2", "rank of input 0 (predictions) of shape [2], want 2"},
      {inputs + " binary=1", "X f 1,1,1; B f 3; S f 2; I f 2",
       "rank of input 0 (predictions) of shape [1, 1, 1], want 2 or 1"},
      {inputs, "X f 2,2; B f 4 = 0,1,1,0.5; S f 2; I f 2",
       "bound 3 is 0.5, want ascending bounds for each function"},
      {"PiecewiseLinearTransform X -> Y bounds=1.0,nan slopes=1.0, intercepts=1.0,", "X f 2,1",
       "bound 1 is nan, want ascending bounds for each function"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::piecewise_linear_transform_test
