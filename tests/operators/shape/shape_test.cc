#include "tests/support/operator_test.h"

namespace caffe2rt::shape_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

TEST(ShapeTest, GivesAllDimensionsOrThePickedOnes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 0, 4});
  const char* all = R"(type: "Shape" input: "X" output: "Y")";
  RunOp(&ws, all);
  ExpectTensor<int64_t>(ws, "Y", {3}, {2, 0, 4});
  ExpectShapeInferred(&ws, all);
  const char* picked =
      R"(type: "Shape" input: "X" output: "Y" arg { name: "axes" ints: 2 ints: 0 ints: 2 })";
  RunOp(&ws, picked);
  ExpectTensor<int64_t>(ws, "Y", {3}, {4, 2, 4});
}

TEST(ShapeTest, GivesAnEmptyVectorForAScalar) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {}, {"a"});
  const char* op = R"(type: "Shape" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {0}, {});
  ExpectShapeInferred(&ws, op);
}

TEST(ShapeTest, RejectsAxesOutOfRange) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  for (const char* axis : {"-1", "2"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws,
                std::string(R"(type: "Shape" input: "X" output: "Y" arg { name: "axes" ints: )") +
                    axis + "}");
        },
        "below the rank of input 0 of shape [2, 3]");
  }
}

}  // namespace
}  // namespace caffe2rt::shape_test
