#include "caffe2_core/graph/gradient.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::gather_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

TEST(GatherTest, GathersRowsAndCountsNegativeIndicesFromTheEnd) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "I", {2, 1}, {2, -3});
  const char* op = R"(type: "Gather" input: "X" input: "I" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1, 2}, {4, 5, 0, 1});
  ExpectShapeInferred(&ws, op);
}

TEST(GatherTest, GathersColumnsAndWrapsIndicesOnlyOnRequest) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int64_t>(&ws, "I", {1}, {2});
  const char* op = R"(type: "Gather" input: "X" input: "I" output: "Y" arg { name: "axis" i: -1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {2, 5});
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "I", {1}, {-1});
  ExpectThrows([&] { RunOp(&ws, op); }, "INDICES element is out of DATA bounds, id=-1 axis_dim=3");
  RunOp(&ws, R"(type: "Gather" input: "X" input: "I" output: "Y" arg { name: "axis" i: 1 }
                arg { name: "wrap_indices" i: 1 })");
  ExpectTensor<float>(ws, "Y", {2, 1}, {2, 5});
}

TEST(GatherTest, MatchesOuterDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "I", {2, 2}, {0, 1, 2, 2});
  const char* op = R"(type: "Gather" input: "X" input: "I" output: "Y" arg { name: "axis" i: 1 }
                      arg { name: "match_outer" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 1, 5, 5});
  ExpectShapeInferred(&ws, op);
  FeedRange<int32_t>(&ws, "I", {3, 1});
  ExpectThrows([&] { RunOp(&ws, op); },
               "input 1 (INDICES) has shape [3, 1], want its first dimensions to be [2]");
}

TEST(GatherTest, AcceptsScalarIndicesStringsAndEmptyTensors) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  Feed<int32_t>(&ws, "I", {}, {1});
  const char* op = R"(type: "Gather" input: "X" input: "I" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<std::string>(ws, "Y", {}, {"b"});
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "I", {0}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  // With an empty dimension, the output keeps the shape of DATA, whatever the indices are.
  FeedRange<float>(&ws, "X", {0, 3});
  FeedRange<int32_t>(&ws, "I", {5});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  ExpectShapeInferred(&ws, op);
}

TEST(GatherTest, RejectsIndicesOutOfBoundsAndOtherTypes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2});
  FeedRange<float>(&ws, "S", {});
  Feed<int64_t>(&ws, "I", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Gather" input: "X" input: "I" output: "Y")"); },
               "INDICES element is out of DATA bounds, id=2 axis_dim=2");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Gather" input: "X" input: "X" output: "Y")"); },
               "input 1 (INDICES) has elements of type float");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Gather" input: "S" input: "I" output: "Y")"); },
               "is a scalar");
}

TEST(BatchGatherTest, GathersColumnsAndWrapsNoIndex) {
  Workspace ws;
  FeedRange<int32_t>(&ws, "X", {2, 3});
  Feed<int64_t>(&ws, "I", {2}, {2, 0});
  const char* op = R"(type: "BatchGather" input: "X" input: "I" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {2, 0, 5, 3});
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "I", {1}, {-1});
  ExpectThrows([&] { RunOp(&ws, op); }, "id=-1 axis_dim=3");
}

const char* const kBatchGradient =
    R"(type: "BatchGatherGradient" input: "X" input: "I" input: "dY" output: "dX")";

TEST(BatchGatherGradientTest, AddsTheSlicesOfEqualIndices) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  Feed<float>(&ws, "dY", {2, 3}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, kBatchGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {2, 0, 4, 5, 0, 10});
  ExpectShapeInferred(&ws, kBatchGradient);

  // Without indices, and without elements.
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "dY", {2, 0}, {});
  RunOp(&ws, kBatchGradient);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<int32_t>(&ws, "I", {1}, {2});
  Feed<float>(&ws, "dY", {0, 1}, {});
  RunOp(&ws, kBatchGradient);
  ExpectTensor<float>(ws, "dX", {0, 3}, {});
}

TEST(BatchGatherGradientTest, GivesEachOuterPartItsOwnIndices) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 2});
  Feed<int64_t>(&ws, "I", {2, 2}, {0, 0, 2, 1});
  FeedRange<float>(&ws, "dY", {2, 2, 2}, 1);
  RunOp(&ws, std::string(kBatchGradient) + R"( arg { name: "match_outer" i: 1 })");
  ExpectTensor<float>(ws, "dX", {2, 3, 2}, {4, 6, 0, 0, 0, 0, 0, 0, 7, 8, 5, 6});
}

TEST(BatchGatherGradientTest, FollowsTheAxisOfGather) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 3});
  Feed<int64_t>(&ws, "I", {2}, {-1, 0});
  FeedRange<float>(&ws, "dY", {2, 2, 2}, 1);
  const std::string last = std::string(kBatchGradient) + R"( arg { name: "axis" i: -1 })";
  RunOp(&ws, last + R"( arg { name: "wrap_indices" i: 1 })");
  ExpectTensor<float>(ws, "dX", {2, 2, 3}, {2, 0, 1, 4, 0, 3, 6, 0, 5, 8, 0, 7});
  ExpectThrows([&] { RunOp(&ws, last); }, "index -1 is out of range, want at least 0 and below 3");
}

TEST(BatchGatherGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "I", {2}, {0, 3});
  FeedRange<float>(&ws, "dY", {2, 2});
  const auto run = [&] { RunOp(&ws, kBatchGradient); };
  ExpectThrows(run, "index 3 is out of range");
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  FeedRange<float>(&ws, "dY", {3, 2});
  ExpectThrows(run, "input 2 (the gradient) has shape [3, 2], want its first dimensions to be [2]");
  FeedRange<float>(&ws, "dY", {2, 3});
  ExpectThrows(run, "of shape [2, 3], want 2 slices of 1 for each outer index");
  FeedRange<int32_t>(&ws, "X", {2, 3});
  ExpectThrows(run, "input 0 (DATA) has elements of type int32");
  FeedRange<float>(&ws, "X", {3});
  ExpectThrows(run, "rank of input 0 (DATA)");
}

TEST(GatherTest, HasASparseGradientForAxisZero) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "I", {4}, {2, 0, 2, 1});
  const std::string op = R"(type: "Gather" input: "X" input: "I" output: "Y")";
  ExpectGradientMatches(&ws, op);
  ExpectGradientMatches(&ws, op + R"( arg { name: "dense_gradient" i: 1 })");
  const GradientOpsMeta meta = GetGradientForOp(test::ParseOp(op), {{.dense_ = "g"}});
  EXPECT_TRUE(meta.ops_.empty());
  EXPECT_EQ(meta.g_input_.at(0).indices_, "I");
  EXPECT_EQ(meta.g_input_.at(0).values_, "g");
  EXPECT_TRUE(meta.g_input_.at(1).IsEmpty());
}

TEST(GatherTest, HasADenseGradientForOtherAxes) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 2});
  Feed<int64_t>(&ws, "I", {4}, {2, 0, 2, 1});
  const std::string op =
      R"(type: "Gather" input: "X" input: "I" output: "Y" arg { name: "axis" i: 1 })";
  ExpectGradientMatches(&ws, op);
  ExpectGradientMatches(&ws, R"(type: "BatchGather" input: "X" input: "I" output: "Y")");
  Feed<int64_t>(&ws, "I", {2, 1, 2}, {2, 0, 1, 1});
  ExpectGradientMatches(&ws, op + R"( arg { name: "match_outer" i: 1 })");
  ExpectThrows(
      [&] {
        GetGradientForOp(test::ParseOp(op + R"( arg { name: "dense_gradient" i: 0 })"),
                         {{.dense_ = "g"}});
      },
      "argument dense_gradient is 0, want 1");
}

}  // namespace
}  // namespace caffe2rt::gather_test
