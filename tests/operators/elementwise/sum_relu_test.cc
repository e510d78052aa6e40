#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sum_relu_test {
namespace {

TEST(SumReluTest, IsThePositivePartOfTheSum) {
  ExpectResults({
      {"SumRelu A B -> Y", "A f 2,2 = 1,-2,3,-4; B f 2,2 = -3,5,4,4", "Y f 2,2 = 0,3,7,0"},
      {"SumRelu A B C -> Y", "A d 2 = 1,-2; B d 2 = 5,6; C d 2 = 7,-100", "Y d 2 = 13,0"},
      {"SumRelu A -> Y", "A i 3 = -3,4,0", "Y i 3 = 0,4,0"},
      {"SumRelu A B -> A", "A i 2 = -3,4; B i 2 = 1,2", "A i 2 = 0,6"},
      {"SumRelu A -> A", "A f 2 = -3,4", "A f 2 = 0,4"},
      {"SumRelu A B -> Y", "A f 0,3; B f 0,3", "Y f 0,3"},
  });
  ExpectInferred({{"SumRelu A B -> Y", "A d 2,3; B d 2,3", "double [2, 3]"}});
}

TEST(SumReluTest, IsZeroForNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Workspace ws;
  // Also for many elements, which are computed in vectors.
  std::vector<float> a(1000, kNaN), b(1000, 1), want(1000, 0);
  a[0] = -kInfinity;
  b[0] = kInfinity;
  a[1] = kInfinity;
  want[1] = kInfinity;
  Feed<float>(&ws, "A", {1000}, a);
  Feed<float>(&ws, "B", {1000}, b);
  RunOp(&ws, R"(type: "SumRelu" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1000}, want);
}

TEST(SumReluTest, WrapsIntegersAround) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  Workspace ws;
  Feed<int32_t>(&ws, "A", {2}, {kMost, -kMost - 1});
  Feed<int32_t>(&ws, "B", {2}, {1, -1});
  RunOp(&ws, R"(type: "SumRelu" input: "A" input: "B" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {2}, {0, kMost});
}

TEST(SumReluTest, RejectsOtherShapesAndTypes) {
  ExpectRejected({
      {"SumRelu A B -> Y", "A f 2; B f 1", "input 1 has shape [1], want [2] as input 0"},
      {"SumRelu A B -> Y", "A f 2; B d 2",
       "input 1 has elements of type double, want float as input 0"},
      {"SumRelu A -> Y", "A l 2",
       "Unsupported type of tensor: input 0 (X0) has elements of type int64, want float, double, "
       "int32"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::sum_relu_test
