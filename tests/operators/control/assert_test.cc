#include "tests/support/operator_test.h"

namespace caffe2rt::test::assert_test {
namespace {

template <class T>
class AssertTest : public testing::Test {};
using Types = testing::Types<bool, int32_t, int64_t>;
TYPED_TEST_SUITE(AssertTest, Types);

TYPED_TEST(AssertTest, AcceptsTensorsThatAreTrue) {
  Workspace ws;
  Feed<TypeParam>(&ws, "X", {2, 2}, {1, 1, 1, 1});
  RunOp(&ws, "type: 'Assert' input: 'X'");
  Feed<TypeParam>(&ws, "X", {0, 2}, {});
  RunOp(&ws, "type: 'Assert' input: 'X'");
}

TYPED_TEST(AssertTest, FailsWithItsTextForTheFirstElementThatIsFalse) {
  Workspace ws;
  Feed<TypeParam>(&ws, "X", {4}, {1, 1, 0, 0});
  ExpectThrows([&] { RunOp(&ws, "type: 'Assert' input: 'X'"); }, "element 2 of input 0 (X) is ");
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'Assert' input: 'X' arg { name: 'error_msg' s: 'no data' }"); },
      ": no data");
}

TEST(AssertTypeTest, RejectsOtherTypes) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, "type: 'Assert' input: 'X'"); }, "want bool, int32 or int64");
}

}  // namespace
}  // namespace caffe2rt::test::assert_test
