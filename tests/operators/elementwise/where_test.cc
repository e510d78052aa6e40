#include "tests/support/operator_test.h"

namespace caffe2rt::where_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(bool on_rows = false) {
  return std::string(R"(type: "Where" input: "C" input: "X" input: "Z" output: "Y")") +
         (on_rows ? " arg { name: \"broadcast_on_rows\" i: 1 }" : "");
}

template <class T>
void ExpectChoice(const T& x, const T& z) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {true, false});
  Feed<T>(&ws, "X", {2}, {x, x});
  Feed<T>(&ws, "Z", {2}, {z, z});
  RunOp(&ws, Op());
  ExpectTensor<T>(ws, "Y", {2}, {x, z});
  ExpectShapeInferred(&ws, Op());
}

TEST(WhereTest, ChoosesElementsOfEveryType) {
  ExpectChoice<float>(1, 2);
  ExpectChoice<double>(1, 2);
  ExpectChoice<int32_t>(1, 2);
  ExpectChoice<int64_t>(1, 2);
  ExpectChoice<bool>(true, false);
  ExpectChoice<std::string>("a", "b");
}

TEST(WhereTest, ChoosesElementsOfMatrices) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2, 3}, {true, false, false, false, true, true});
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "Z", {2, 3}, {-1, -2, -3, -4, -5, -6});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {2, 3}, {1, -2, -3, -4, 5, 6});
}

TEST(WhereTest, ChoosesRows) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {false, true});
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "Z", {2, 3}, {-1, -2, -3, -4, -5, -6});
  RunOp(&ws, Op(true));
  ExpectTensor<float>(ws, "Y", {2, 3}, {-1, -2, -3, 4, 5, 6});
  ExpectShapeInferred(&ws, Op(true));
}

TEST(WhereTest, KeepsEmptyAndScalarShapes) {
  Workspace ws;
  Feed<bool>(&ws, "C", {0}, {});
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<float>(&ws, "Z", {0, 3}, {});
  RunOp(&ws, Op(true));
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<bool>(&ws, "C", {}, {false});
  Feed<float>(&ws, "X", {}, {1});
  Feed<float>(&ws, "Z", {}, {2});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {}, {2});
}

TEST(WhereTest, NamesTheInputThatDoesNotFit) {
  Workspace ws;
  Feed<bool>(&ws, "C", {2}, {true, false});
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "Z", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); },
               "input 0 (C) has shape [2], want [2, 3] as input 1 (X), or the argument");
  FeedRange<float>(&ws, "Z", {3, 2});
  ExpectThrows([&] { RunOp(&ws, Op(true)); }, "input 2 (Z) has shape [3, 2], want [2, 3]");
  FeedRange<int32_t>(&ws, "Z", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op(true)); }, "input 2 (Z) has elements of type int32, want float");
  FeedRange<float>(&ws, "Z", {2, 3});
  Feed<bool>(&ws, "C", {3}, {true, false, true});
  ExpectThrows([&] { RunOp(&ws, Op(true)); },
               "input 0 (C) has shape [3], want one element for each row");
  FeedRange<int32_t>(&ws, "C", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "input 0 (C) has elements of type int32, want bool");
  FeedRange<uint8_t>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "Unsupported type of tensor: input 1 (X)");
}

}  // namespace
}  // namespace caffe2rt::where_test
