#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::segment_input_test {
namespace {

TEST(SegmentInputTest, RejectsSegmentsThatDoNotFit) {
  Workspace ws;
  const auto run = [&](const std::string& type) {
    return
        [&ws, type] { RunOp(&ws, "type: \"" + type + R"(" input: "X" input: "S" output: "Y")"); };
  };
  FeedRange<float>(&ws, "X", {4, 2});
  Feed<int32_t>(&ws, "S", {2}, {1, 2});
  ExpectThrows(run("LengthsSum"), "sum of input 1 (LENGTHS), want the number of rows of input 0");
  Feed<int32_t>(&ws, "S", {2}, {5, -1});
  ExpectThrows(run("LengthsMax"), "element 1 of input LENGTHS, want at least 0");
  Feed<int32_t>(&ws, "S", {4}, {5, -1, 0, 0});
  ExpectThrows(run("UnsortedSegmentSum"), "element 1 of input SEGMENT_IDS is -1, want at least 0");
  Feed<int32_t>(&ws, "S", {3}, {0, 0, 1});
  ExpectThrows(run("UnsortedSegmentSum"),
               "elements of input 1 (SEGMENT_IDS), want the number of rows of input 0 (DATA)");
  for (const std::vector<int32_t>& ids :
       {std::vector<int32_t>{0, 0, 2, 2}, {1, 1, 2, 2}, {0, 1, 0, 1}, {0, 0, -1, -1}}) {
    Feed<int32_t>(&ws, "S", {4}, ids);
    ExpectThrows(run("SortedSegmentRangeMean"),
                 "of input SEGMENT_IDS: ids must be sorted, start at 0 and have no gaps");
  }
  Feed<int32_t>(&ws, "S", {2, 2}, {0, 0, 1, 1});
  ExpectThrows(run("SortedSegmentRangeMean"), "rank of input 1 (SEGMENT_IDS) of shape [2, 2]");
  Feed<int64_t>(&ws, "S", {4}, {0, 0, 1, 1});
  ExpectThrows(run("UnsortedSegmentSum"), "int");
  FeedRange<double>(&ws, "X", {4, 2});
  ExpectThrows(run("LengthsSum"), "input 0 (DATA) has elements of type double, want float");
}

// As in Caffe2, all segments are empty, whatever the lengths and the weights are.
TEST(SegmentInputTest, AcceptsSparseLengthsWithoutIndices) {
  for (const std::string type :
       {"SparseLengthsSum", "SparseLengthsMean", "SparseLengthsWeightedSum",
        "SparseLengthsPositionalWeightedSum"}) {
    const std::string op = MakeString(R"(type: ")", type, R"(" input: "X" )",
                                      type.ends_with("WeightedSum") ? R"(input: "W")" : "",
                                      R"( input: "I" input: "S" output: "Y")",
                                      HasOperator(TestDevice(), type) ? "" : " device_option {}");
    SCOPED_TRACE(op);
    Workspace ws;
    FeedRange<float>(&ws, "X", {5, 2});
    FeedRange<double>(&ws, "W", {3, 2});
    Feed<int64_t>(&ws, "I", {0}, {});
    Feed<int64_t>(&ws, "S", {0}, {});
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {0, 2}, {});
    Feed<int32_t>(&ws, "S", {2, 1}, {-3, 4});
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
    Feed<int32_t>(&ws, "I", {2, 0}, {});
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
    Feed<int32_t>(&ws, "S", {}, {0});
    ExpectThrows([&] { RunOp(&ws, op); }, "(LENGTHS)");
    Feed<int32_t>(&ws, "S", {1}, {0});
    Feed<float>(&ws, "I", {0}, {});
    ExpectThrows([&] { RunOp(&ws, op); }, "input INDICES");
  }
}

}  // namespace
}  // namespace caffe2rt::test::segment_input_test
