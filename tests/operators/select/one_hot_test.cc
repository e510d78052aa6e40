#include "tests/support/operator_test.h"

namespace caffe2rt::one_hot_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(OneHotTest, MakesARowForEachIndex) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {2}, {2, 0});
  Feed<int64_t>(&ws, "S", {}, {3});
  const char* op = R"(type: "OneHot" input: "I" input: "S" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 3}, {0, 0, 1, 1, 0, 0});
  ExpectShapeInferred(&ws, op, true);
  Feed<int64_t>(&ws, "I", {0}, {});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(OneHotTest, RejectsIndicesOutOfRangeAndOtherShapes) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {1}, {3});
  Feed<int64_t>(&ws, "N", {1}, {-1});
  Feed<int64_t>(&ws, "M", {1, 1}, {0});
  Feed<int64_t>(&ws, "S", {1}, {3});
  Feed<int64_t>(&ws, "Two", {2}, {3, 3});
  ExpectThrows([&] { RunOp(&ws, R"(type: "OneHot" input: "I" input: "S" output: "Y")"); },
               "below index_size 3");
  ExpectThrows([&] { RunOp(&ws, R"(type: "OneHot" input: "N" input: "S" output: "Y")"); },
               "want at least 0 and below index_size");
  ExpectThrows([&] { RunOp(&ws, R"(type: "OneHot" input: "M" input: "S" output: "Y")"); },
               "want a vector");
  ExpectThrows([&] { RunOp(&ws, R"(type: "OneHot" input: "I" input: "Two" output: "Y")"); },
               "want one");
  ExpectThrows([&] { RunOp(&ws, R"(type: "OneHot" input: "I" input: "N" output: "Y")"); },
               "want at least 0");
}

}  // namespace
}  // namespace caffe2rt::one_hot_test
