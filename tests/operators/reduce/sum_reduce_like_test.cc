#include "tests/support/operator_test.h"

namespace caffe2rt::sum_reduce_like_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& args = "") {
  return R"(type: "SumReduceLike" input: "A" input: "B" output: "Y" )" + args;
}

// A is 1 2 3 / 4 5 6.
TEST(SumReduceLikeTest, AddsWhatBroadcastingHadSpread) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3}, 1);
  const auto expect = [&](const std::vector<int64_t>& dims, const std::vector<float>& want,
                          const char* args = "") {
    FeedRange<float>(&ws, "B", dims);
    RunOp(&ws, Op(args));
    ExpectTensor<float>(ws, "Y", dims, want);
    ExpectShapeInferred(&ws, Op(args));
  };
  expect({3}, {5, 7, 9});
  expect({2, 1}, {6, 15});
  expect({2}, {6, 15}, "arg { name: \"axis\" i: 0 }");
  expect({1, 1}, {21});
  expect({}, {21});
  expect({2, 3}, {1, 2, 3, 4, 5, 6});
  expect({3}, {5, 7, 9}, "arg { name: \"axis_str\" s: \"C\" }");
  expect({2}, {6, 15}, "arg { name: \"axis_str\" s: \"N\" }");
  expect({2}, {6, 15}, "arg { name: \"axis_str\" s: \"C\" } arg { name: \"order\" s: \"CHW\" }");
}

// A is 1 to 8 in [2, 2, 2].
TEST(SumReduceLikeTest, FollowsNumpysRulesIfAsked) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 2, 2}, 1);
  const std::string op = Op("arg { name: \"numpy\" i: 1 }");
  const auto expect = [&](const std::vector<int64_t>& dims, const std::vector<float>& want) {
    FeedRange<float>(&ws, "B", dims);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", dims, want);
    ExpectShapeInferred(&ws, op);
  };
  expect({2, 1, 2}, {4, 6, 12, 14});
  expect({2, 1}, {14, 22});
  expect({1, 2, 1}, {14, 22});
  expect({2}, {16, 20});
  expect({}, {36});
  expect({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  FeedRange<float>(&ws, "B", {1, 3});
  ExpectThrows([&] { RunOp(&ws, op); },
               "input 1 (B) has shape [1, 3], which cannot be broadcast to that of input 0 (A) [2, "
               "2, 2]");
  FeedRange<float>(&ws, "B", {1, 1, 1, 1});
  ExpectThrows([&] { RunOp(&ws, op); },
               "rank of input 0 (A) [2, 2, 2], want at least the rank of input 1 (B) [1, 1, 1, 1]");
}

TEST(SumReduceLikeTest, AcceptsDoublesAndEmptyShapes) {
  Workspace ws;
  FeedRange<double>(&ws, "A", {2, 3}, 1);
  FeedRange<float>(&ws, "B", {3});
  RunOp(&ws, Op());
  ExpectTensor<double>(ws, "Y", {3}, {5, 7, 9});
  Feed<float>(&ws, "A", {0, 3}, {});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {3}, {0, 0, 0});
}

TEST(SumReduceLikeTest, RejectsIncompatibleShapes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  FeedRange<float>(&ws, "B", {5});
  ExpectThrows([&] { RunOp(&ws, Op()); },
               "input 1 (B) has shape [5], which does not fit into input 0 (A)");
  FeedRange<float>(&ws, "B", {2, 3, 1, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "rank of input 0 (A) [2, 3]");
  FeedRange<int32_t>(&ws, "A", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); },
               "input 0 (A) has elements of type int32, want float, double");
}

}  // namespace
}  // namespace caffe2rt::sum_reduce_like_test
