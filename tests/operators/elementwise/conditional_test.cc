#include "tests/support/operator_test.h"

namespace caffe2rt::conditional_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

const char* const kOp = R"(type: "Conditional" input: "C" input: "X" input: "Z" output: "Y")";

TEST(ConditionalTest, ChoosesRowsOfAnyType) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {true, false});
  Feed<int16_t>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<int16_t>(&ws, "Z", {2, 2}, {5, 6, 7, 8});
  RunOp(&ws, kOp);
  ExpectTensor<int16_t>(ws, "Y", {2, 2}, {1, 2, 7, 8});
  ExpectShapeInferred(&ws, kOp);
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  Feed<std::string>(&ws, "Z", {2}, {"c", "d"});
  RunOp(&ws, kOp);
  ExpectTensor<std::string>(ws, "Y", {2}, {"a", "d"});
}

TEST(ConditionalTest, KeepsEmptyShapes) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {true, false});
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<float>(&ws, "Z", {2, 0}, {});
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
}

TEST(ConditionalTest, NamesTheInputThatDoesNotFit) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {true, false});
  FeedRange<float>(&ws, "X", {3, 2});
  FeedRange<float>(&ws, "Z", {3, 2});
  ExpectThrows([&] { RunOp(&ws, kOp); },
               "input 0 (C) has shape [2], want one element for each row");
  FeedRange<float>(&ws, "Z", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 2 (Z) has shape [2, 3], want [3, 2]");
  FeedRange<double>(&ws, "Z", {3, 2});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 2 (Z) has elements of type double, want float");
  FeedRange<int32_t>(&ws, "C", {3});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 0 (C) has elements of type int32, want bool");
}

}  // namespace
}  // namespace caffe2rt::conditional_test
