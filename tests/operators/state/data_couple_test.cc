#include "tests/support/operator_test.h"

namespace caffe2rt::test::data_couple_test {
namespace {

TEST(DataCoupleTest, KeepsBlobs) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<int64_t>(&ws, "y", {}, {3});
  Feed<float>(&ws, "z", {1}, {4});
  RunOp(&ws, "type: 'DataCouple' input: 'x' input: 'y' input: 'z' output: 'x' output: 'y'");
  ExpectTensor<float>(ws, "x", {2}, {1, 2});
  ExpectTensor<int64_t>(ws, "y", {}, {3});
}

TEST(DataCoupleTest, IsInPlace) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, "type: 'DataCouple' input: 'x' output: 'y'"); },
               "must be the same blob");
  ExpectThrows([&] { RunOp(&ws, "type: 'DataCouple' input: 'x' output: 'x' output: 'y'"); },
               "outputs");
}

}  // namespace
}  // namespace caffe2rt::test::data_couple_test
