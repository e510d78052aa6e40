#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::byte_weight_dequant_test {
namespace {

const std::string kFrom10To520 = "ByteWeightDequant X -> Y min=10. max=520.";

// One step is 510 / 255 = 2.
TEST(ByteWeightDequantTest, DividesTheRangeInto255Steps) {
  ExpectResults({
      {kFrom10To520 + " shape=2,2", "X u 4 = 0,1,128,255", "Y f 2,2 = 10,12,266,520"},
      {kFrom10To520 + " shape=2,", "X u 2,2 = 3,4,128,255", "Y f 2 = 16,18"},
      {kFrom10To520, "X u 1 = 255", "Y f - = 520"},
      {"ByteWeightDequant X -> Y min=4. max=-251. shape=2,", "X u 2 = 7,255", "Y f 2 = -3,-251"},
      {"ByteWeightDequant X -> Y shape=3,", "X u 3 = 0,255,85", "Y f 3 = -3,3,-1"},
  });
  ExpectInferred({{kFrom10To520 + " shape=2,3", "X u 6", "float [2, 3]"},
                  {kFrom10To520, "X u ?", "float []"}});
}

TEST(ByteWeightDequantTest, AcceptsTheBytesOfAString) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2}, {std::string("\0\x01\xff", 3), "x"});
  const std::string op = R"(type: "ByteWeightDequant" input: "X" output: "Y"
    arg { name: "min" f: 10 } arg { name: "max" f: 520 } arg { name: "shape" ints: )";
  RunOp(&ws, op + "3 }");
  ExpectTensor<float>(ws, "Y", {3}, {10, 12, 520}, 1e-6);
  ExpectThrows([&] { RunOp(&ws, op + "4 }"); },
               "bytes of the first element of input 0 (WI), for the shape [4]: got 3, want at "
               "least 4");
  Feed<std::string>(&ws, "X", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op + "3 }"); }, "elements of input 0 (WI), a tensor of strings");
}

TEST(ByteWeightDequantTest, RejectsInvalidCalls) {
  ExpectRejected({
      {kFrom10To520 + " shape=2,3", "X u 5",
       "elements of input 0 (WI) of shape [5], for the shape [2, 3]: got 5, want at least 6"},
      {kFrom10To520, "X u 0",
       "elements of input 0 (WI) of shape [0], for the shape []: got 0, want at least 1"},
      {kFrom10To520 + " shape=-1,2", "X u 2",
       "argument \"shape\" is [-1, 2], want numbers above 0"},
      {kFrom10To520 + " shape=0,", "X u 2", "argument \"shape\" is [0], want numbers above 0"},
      {kFrom10To520, "X i 1 = 1",
       "Unsupported type of tensor: input 0 (WI) has elements of type int32, want uint8, "
       "string"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::byte_weight_dequant_test
