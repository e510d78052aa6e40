#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::scatter_assign_test {
namespace {

const char* const kOp = R"(type: "ScatterAssign" input: "X" input: "I" input: "S" output: "X")";

template <class T, class Index>
void ExpectAssigned() {
  SCOPED_TRACE(std::string(TypeMeta::Name<T>()));
  Workspace ws;
  FeedRange<T>(&ws, "X", {4, 2}, 1);
  Feed<Index>(&ws, "I", {3}, {3, 1, 3});
  FeedRange<T>(&ws, "S", {3, 2}, 20);
  ExpectShapeInferred(&ws, kOp);
  const std::vector<T> got = Fetch<T>(ws, "X");
  const int want[] = {1, 2, 22, 23, 5, 6, 24, 25};
  ASSERT_EQ(got.size(), std::size(want));
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(static_cast<float>(got[i]), static_cast<float>(want[i])) << i;
  }
}

TEST(ScatterAssignTest, CopiesSlicesOfEveryType) {
  ExpectAssigned<float, int32_t>();
  ExpectAssigned<float16, int64_t>();
  ExpectAssigned<double, int32_t>();
  ExpectAssigned<uint8_t, int64_t>();
  ExpectAssigned<int32_t, int64_t>();
  ExpectAssigned<int64_t, int32_t>();
}

TEST(ScatterAssignTest, AcceptsSlicesOfOneElementAndNone) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "I", {2}, {2, 0});
  Feed<float>(&ws, "S", {2}, {7, 8});
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "X", {3}, {8, 2, 7});
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "S", {0}, {});
  RunOp(&ws, kOp);
  ExpectTensor<float>(ws, "X", {3}, {8, 2, 7});
}

TEST(ScatterAssignTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  Feed<float>(&ws, "S", {3}, {7, 8, 9});
  ExpectThrows([&] { RunOp(&ws, kOp); },
               "elements of input 2 (SLICES) of shape [3], want 2 slices of 1");
  Feed<double>(&ws, "S", {2}, {7, 8});
  ExpectThrows([&] { RunOp(&ws, kOp); },
               "input 2 (SLICES) has elements of type double, want float as input 0 (DATA)");
  Feed<float>(&ws, "S", {2}, {7, 8});
  for (const int32_t index : {-1, 3}) {
    Feed<int32_t>(&ws, "I", {2}, {0, index});
    ExpectThrows([&] { RunOp(&ws, kOp); }, "is out of range, want at least 0 and below 3");
  }
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "ScatterAssign" input: "X" input: "I" input: "S" output: "Y")"); },
      "must be the same blob");
  Feed<bool>(&ws, "X", {2}, {true, false});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "input 0 (DATA) has elements of type bool");
  ExpectThrows([] { DescribeGradient(kOp); }, "One should not call gradient");
}

}  // namespace
}  // namespace caffe2rt::test::scatter_assign_test
