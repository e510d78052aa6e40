#include "tests/support/operator_test.h"

namespace caffe2rt {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(SegmentOneHotTest, MarksTheIndicesOfEachSegment) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 1});
  Feed<int64_t>(&ws, "I", {3}, {0, 1, 2});
  Feed<int64_t>(&ws, "S", {1}, {3});
  const char* op = R"(type: "SegmentOneHot" input: "L" input: "I" input: "S" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3, 3}, {1, 1, 0, 0, 0, 0, 0, 0, 1});
  ExpectShapeInferred(&ws, op, true);
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(SegmentOneHotTest, RefusesLengthsAndIndicesOutOfRange) {
  Workspace ws;
  Feed<int32_t>(&ws, "Long", {1}, {3});
  Feed<int32_t>(&ws, "Negative", {1}, {-1});
  Feed<int32_t>(&ws, "Two", {1}, {2});
  Feed<int64_t>(&ws, "I", {2}, {0, 3});
  Feed<int64_t>(&ws, "S", {1}, {3});
  const auto run = [&](const std::string& lengths) {
    RunOp(&ws,
          R"(type: "SegmentOneHot" output: "Y" input: ")" + lengths + R"(" input: "I" input: "S")");
  };
  ExpectThrows([&] { run("Long"); },
               "element 0 of input 0 (lengths) is 3, want 0 to the 2 elements left");
  ExpectThrows([&] { run("Negative"); }, "element 0 of input 0 (lengths) is -1");
  ExpectThrows([&] { run("Two"); },
               "element 1 of input 1 (indices) is 3, want 0 or more and below index_size 3");
}

}  // namespace
}  // namespace caffe2rt
