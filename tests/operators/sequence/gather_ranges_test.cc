#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gather_ranges_test {
namespace {

TEST(GatherRangesTest, GathersRangesAndCountsTheirElements) {
  ExpectResults({
      {"GatherRanges X R -> Y L", "X f 6 = 1,2,3,4,5,6; R i 2,2,2 = 0,1,2,2,4,1,5,1",
       "Y f 5 = 1,3,4,5,6; L i 2 = 3,2"},
      // Ranges may overlap; the start of an empty one does not count.
      {"GatherRanges X R -> Y L", "X l 3 = 7,8,9; R l 3,1,2 = 1,2,0,3,9,0",
       "Y l 5 = 8,9,7,8,9; L i 3 = 2,3,0"},
      {"GatherRanges X R -> Y L", "X d 3; R i 0,2,2", "Y d 0; L i 0"},
      {"GatherRanges X R -> Y L", "X b 0; R i 1,1,2 = 0,0", "Y b 0; L i 1 = 0"},
  });
  Workspace ws;
  Feed<std::string>(&ws, "X", {3}, {"a", "b", "c"});
  Feed<int32_t>(&ws, "R", {1, 1, 2}, {1, 2});
  RunOp(&ws, R"(type: "GatherRanges" input: "X" input: "R" output: "Y" output: "L")");
  ExpectTensor<std::string>(ws, "Y", {2}, {"b", "c"});
}

TEST(GatherRangesTest, RejectsInvalidRanges) {
  const auto range = [](const std::string& start, const std::string& length) {
    return RejectedCall{"GatherRanges X R -> Y L", "X f 3; R l 1,1,2 = " + start + "," + length,
                        "range 0 of input 1 (RANGES) starts at " + start + " and has " + length +
                            " elements, want a range of the 3 elements of input 0 (DATA)"};
  };
  const std::string shape = ", want [rows, ranges, 2] with at least one range";
  ExpectRejected({
      range("2", "2"),
      range("-1", "2"),
      range("2", "-1"),
      range("9223372036854774784", "1"),
      range("1", "9223372036854774784"),
      {"GatherRanges X R -> Y L", "X f 3,1; R l 1,1,2",
       "rank of input 0 (DATA) of shape [3, 1]: got 2, want 1"},
      {"GatherRanges X R -> Y L", "X f 3; R l 1,2", "input 1 (RANGES) has shape [1, 2]" + shape},
      {"GatherRanges X R -> Y L", "X f 3; R l 1,1,3",
       "input 1 (RANGES) has shape [1, 1, 3]" + shape},
      {"GatherRanges X R -> Y L", "X f 3; R l 2,0,2",
       "input 1 (RANGES) has shape [2, 0, 2]" + shape},
      {"GatherRanges X R -> Y L", "X f 3; R f 1,1,2",
       "Unsupported type of tensor: input 1 (RANGES) has elements of type float, want int32, "
       "int64"},
  });
}

TEST(GatherRangesToDenseTest, MakesAMatrixForEachColumn) {
  ExpectResults({
      {"GatherRangesToDense X R -> Y Z lengths=4,2",
       "X l 8 = 3,6,4,7,7,4,2,2; R i 2,2,2 = 2,4,0,2,0,0,6,2",
       "Y l 2,4 = 4,7,7,4,0,0,0,0; Z l 2,2 = 3,6,2,2"},
      // In the order of the keys; equal ones in that of the elements. A range of 1 is too short.
      {"GatherRangesToDense X R K -> Y lengths=3,",
       "X f 6 = 1,2,3,4,5,6; R l 3,1,2 = 0,3,2,3,4,1; K l 6 = 2,2,1,0,-7,9",
       "Y f 3,3 = 3,1,2,5,4,3,0,0,0"},
      {"GatherRangesToDense X R -> Y lengths=2,", "X b 3 = 1; R i 2,1,2 = 1,2,0,0",
       "Y b 2,2 = 1,1,0,0"},
      {"GatherRangesToDense X R -> Y lengths=2,", "X f 3; R i 0,1,2", "Y f 0,2"},
      {"GatherRangesToDense X R -> Y lengths=2,", "X f 0; R i 1,1,2 = 0,0", "Y f 1,2 = 0"},
  });
  Workspace ws;
  Feed<std::string>(&ws, "X", {3}, {"a", "b", "c"});
  Feed<int32_t>(&ws, "R", {2, 1, 2}, {1, 2, 0, 0});
  RunOp(&ws, R"(type: "GatherRangesToDense" input: "X" input: "R" output: "Y"
                arg { name: "lengths" ints: 2 })");
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"b", "c", "", ""});
}

// Recorded from Caffe2: the ranges of all runs count.
TEST(GatherRangesToDenseTest, RejectsTooManyMismatchedRanges) {
  const auto expect = [](const std::string& arguments, const std::vector<int32_t>& lengths,
                         const std::vector<bool>& fails, const std::string& message) {
    Workspace ws;
    FeedRange<float>(&ws, "X", {10});
    NetBase* net = nullptr;
    for (size_t i = 0; i < lengths.size(); ++i) {
      Feed<int32_t>(&ws, "R", {1, 1, 2}, {0, lengths[i]});
      if (net == nullptr) {
        net = ws.CreateNet(
            ParseNet(R"(name: "n" op { type: "GatherRangesToDense" input: "X" input: "R"
                        output: "Y" arg { name: "lengths" ints: 2 } )" +
                     arguments + "}"));
      }
      SCOPED_TRACE(i);
      if (fails[i]) {
        ExpectThrows([&] { net->Run(); }, message);
      } else {
        EXPECT_TRUE(net->Run());
      }
    }
  };
  const std::string observed = R"(arg { name: "min_observation" i: )";
  expect(observed + R"(1 } arg { name: "max_mismatched_ratio" f: 0.5 })", {2, 1, 1, 2, 2},
         {false, false, true, false, false},
         "ranges of output 0 that were of another length than the argument states, of 3 so far");
  expect(observed + R"(3 } arg { name: "max_empty_ratio" f: 0.5 })", {2, 0, 0, 2},
         {false, false, true, false}, "ranges of output 0 that were empty, of 3 so far");
  expect(observed + "1 }", {0, 0, 0}, {false, false, false}, "");
  expect(observed + "100 }", {1, 1}, {false, true}, "of 2 so far");
}

TEST(GatherRangesToDenseTest, RejectsInvalidCalls) {
  const std::string call = "GatherRangesToDense X R -> Y";
  ExpectRejected({
      {call, "X f 3; R i 1,1,2 = 0,3", "argument \"lengths\" is required but missing"},
      {call + " lengths=0,", "X f 3; R i 1,1,2 = 0,3",
       "argument \"lengths\" is [0], want at least one, each above 0"},
      {call + " lengths=3,3", "X f 3; R i 1,2,2 = 0,3",
       "values of argument lengths, want the outputs (got 2, want 1)"},
      {call + " lengths=3, min_observation=0", "X f 3; R i 1,1,2 = 0,3",
       "argument \"min_observation\" is 0, want above 0"},
      {call + " lengths=3, max_empty_ratio=-0.5", "X f 3; R i 1,1,2 = 0,3",
       "argument \"max_empty_ratio\" is -0.5, want at least 0"},
      {call + " lengths=2,", "X f 3; R i 1,2,2 = 0,2",
       "dim 1 of input 1 (RANGES) of shape [1, 2, 2], want the values of argument lengths (got 2, "
       "want 1)"},
      {call + " lengths=2,", "X f 3; R i 1,1,2 = 2,2",
       "range 0 of input 1 (RANGES) starts at 2 and has 2 elements, want a range of the 3 elements "
       "of input 0 (DATA)"},
      {"GatherRangesToDense X R K -> Y lengths=2,", "X f 3; R i 1,1,2 = 0,2; K i 3",
       "the tensor holds elements of type int32, want int64"},
      {"GatherRangesToDense X R K -> Y lengths=2,", "X f 3; R i 1,1,2 = 0,2; K l 2",
       "elements of input 2 (KEY), want those of input 0 (DATA) (got 2, want 3)"},
      {"GatherRangesToDense X R K -> Y lengths=2,", "X f 3; R i 1,1,2 = 0,2; K l 3,1",
       "rank of input 2 (KEY) of shape [3, 1]: got 2, want 1"},
  });
}

TEST(GatherRangesTest, InfersShapes) {
  ExpectInferred({
      {"GatherRanges X R -> Y L", "X d 4; R i 3,2,2", "double ?; int32 [3]"},
      {"GatherRanges X R -> Y L", "X d 4; R i ?", "double ?; int32 ?"},
      {"GatherRangesToDense X R -> Y Z lengths=4,2", "X l 8; R i 5,2,2",
       "int64 [5, 4]; int64 [5, 2]"},
      {"GatherRangesToDense X R -> Y lengths=4,", "X l 8; R i ?", "int64 ?"},
  });
  EXPECT_EQ(DescribeGradient(R"(type: "GatherRangesToDense" input: "X" input: "R" output: "Y"
                                arg { name: "lengths" ints: 2 })"),
            " | - -");
}

}  // namespace
}  // namespace caffe2rt::test::gather_ranges_test
