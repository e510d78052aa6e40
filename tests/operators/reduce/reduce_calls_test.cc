// Reductions of no elements and of the types that only ONNX's operators accept. Expected values are by hand.
#include <gtest/gtest.h>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::reduce_calls_test {
namespace {

TEST(ReduceCallsTest, ReducesNoElements) {
  const std::string onnx = " axes=0, noop_with_empty_axes=0";
  ExpectResults({
      {"ReduceMean X -> Y" + onnx, "X l 0,2", "Y l 1,2 = 0"},
      {"ReduceMean X -> Y" + onnx, "X i 0", "Y i 1 = 0"},
      {"ReduceMean X -> Y" + onnx, "X i 2,2 = 1,-1,2,-4", "Y i 1,2 = 1,-2"},
      {"ReduceMin X -> Y" + onnx, "X b 0,2", "Y b 1,2 = 1"},
      {"ReduceMax X -> Y" + onnx, "X b 0,2", "Y b 1,2 = 0"},
      {"ReduceMin X -> Y" + onnx, "X c 0,2", "Y c 1,2 = 127"},
      {"ReduceMax X -> Y" + onnx, "X c 0,2", "Y c 1,2 = -128"},
      {"ReduceMin X -> Y" + onnx, "X u 0", "Y u 1 = 255"},
      {"ReduceMin X -> Y" + onnx, "X b 2,2 = 1,0,1,1", "Y b 1,2 = 1,0"},
      {"ReduceMax X -> Y" + onnx, "X b 2,2 = 1,0,0,0", "Y b 1,2 = 1,0"},
      {"ReduceMax X -> Y infinite_if_empty=1 keepdims=0", "X f 0", "Y f - = -inf"},
      {"ReduceMin X -> Y infinite_if_empty=1 keepdims=0", "X d 0", "Y d - = inf"},
      {"ReduceMax X -> Y infinite_if_empty=1 axes=0,", "X f 0,3", "Y f 1,3 = -inf"},
      {"ReduceMax X -> Y infinite_if_empty=1 axes=0,", "X f 0,0", "Y f 1,0"},
      {"ReduceMin X -> Y infinite_if_empty=1", "X i 0", "Y i 1 = 2147483647"},
      {"ReduceMax X -> Y keepdims=0", "X f 0", "Y f - = -3.4028234663852886e38"},
      {"ReduceProd X -> Y keepdims=0", "X i 0,3", "Y i - = 1"},
      {"ReduceSumSquare X -> Y axes=-1,", "X i 2,0", "Y i 2,1 = 0"},
      {"ReduceLogSum X -> Y", "X f 0", "Y f 1 = -inf"},
      {"ReduceLogSumExp X -> Y", "X f 0", "Y f 1 = -inf"},
      {"ReduceLogSumExp X -> Y", "X d 2 = -inf,-inf", "Y d 1 = -inf"},
      {"ReduceLogSumExp X -> Y", "X d 2 = inf,1", "Y d 1 = inf"},
      {"ReduceLogSumExp X -> Y", "X d 2 = 1000,1000", "Y d 1 = 1000.6931471805599"},
  });
}

// Of no elements, too, whose least is true.
TEST(ReduceCallsTest, WritesOneForTrue) {
  Workspace ws;
  Feed<bool>(&ws, "X", {0, 2}, {});
  RunOp(&ws, R"(type: "ReduceMin" input: "X" output: "Y" arg { name: "axes" ints: 0 }
                arg { name: "noop_with_empty_axes" i: 0 })");
  const Tensor& y = ws.GetBlob("Y")->Get<Tensor>();
  ASSERT_EQ(y.numel(), 2);
  const auto* const bytes = static_cast<const uint8_t*>(y.raw_data());
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[1], 1);
}

TEST(ReduceCallsTest, ReducesNothingWithoutAxes) {
  ExpectResults({
      {"ReduceSum X A -> Y noop_with_empty_axes=1", "X f 2 = 3,4; A l 0", "Y f 2 = 3,4"},
      {"ReduceSum X A -> Y", "X f 2 = 3,4; A l 0", "Y f 1 = 7"},
      {"ReduceSum X -> Y noop_with_empty_axes=1", "X f 2 = 3,4", "Y f 2 = 3,4"},
      {"ReduceSum X A -> Y keepdims=0", "X i 2,2 = 1,2,3,4; A i 1 = -2", "Y i 2 = 4,6"},
      {"ReduceSumSquare X -> Y noop_with_empty_axes=1", "X i 2 = 3,-4", "Y i 2 = 9,16"},
      {"ReduceMean X A -> Y noop_with_empty_axes=1", "X l 2 = 3,-4; A i 0", "Y l 2 = 3,-4"},
  });
}

TEST(ReduceCallsTest, ReducesTheFirstRowsOfEachColumn) {
  ExpectResults({
      {"ReduceFrontSum X L -> Y", "X f 2,2 = 1,2,3,4; L i 2 = 1,2", "Y f 2 = 1,6"},
      // As in Caffe2, the first element counts in any case.
      {"ReduceBackSum X L -> Y", "X f 2,2 = 1,2,3,4; L i 2 = 0,2", "Y f 2 = 1,7"},
      {"ReduceFrontSum X L -> Y", "X f 0,2; L i 2 = 0", "Y f 2 = 0"},
      {"ReduceBackSum X L -> Y", "X i 2,0; L i 2 = 0", "Y i 2 = 0"},
      {"ReduceFrontSum X -> Y num_reduce_dim=2", "X f 2,1,2 = 1,2,3,4", "Y f 2 = 4,6"},
      {"ReduceBackSum X -> Y num_reduce_dim=0", "X f 2 = 1,2", "Y f 2 = 1,2"},
      {"ReduceFrontSumGradient G X -> D", "G f 1 = 5; X f 1,1", "D f 1,1 = 5"},
      {"ReduceBackMeanGradient G X -> D", "G f 2 = 6,8; X f 2,2", "D f 2,2 = 3,3,4,4"},
      // In old nets, input 1 is the shape.
      {"ReduceFrontSumGradient G S -> D", "G f 2 = 5,6; S l 2 = 3,2", "D f 3,2 = 5,6"},
      {"ReduceBackSumGradient G S -> D", "G f 2 = 5,6; S l 2 = 2,2", "D f 2,2 = 5,5,6,6"},
      {"ReduceFrontSumGradient G X L -> D", "G f 2 = 5,6; X f 2,2; L i 2 = 1,2",
       "D f 2,2 = 5,6,0,6"},
  });
  ExpectRejected({
      {"ReduceFrontSum X L -> Y", "X f 2,2; L i 2 = 2,3",
       "element 1 of input 1 (lengths), want at most 2, the number of elements (got 3, want at "
       "most 2)"},
      {"ReduceBackSum X L -> Y", "X f 2,2; L i 2 = 3,2",
       "element 0 of input 1 (lengths), want at most 2, the number of elements (got 3, want at "
       "most 2)"},
      {"ReduceFrontSum X L -> Y num_reduce_dim=2", "X f 2,2,2; L i 2 = 2",
       "argument num_reduce_dim with input 1 (lengths): got 2, want 1"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::reduce_calls_test
