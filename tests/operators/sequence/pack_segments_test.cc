#include <limits>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::pack_segments_test {
namespace {

const char* const kPack = R"(type: "PackSegments" input: "L" input: "X" output: "Y")";
const char* const kPackWithMask = R"(type: "PackSegments" input: "L" input: "X" output: "Y"
                                     output: "M" arg { name: "return_presence_mask" i: 1 })";
const char* const kUnpack = R"(type: "UnpackSegments" input: "L" input: "X" output: "Y")";

std::string WithLength(const std::string& op, int length) {
  return MakeString(op, R"( arg { name: "max_length" i: )", length, " }");
}

TEST(PackSegmentsTest, FillsShorterSegmentsWithZeros) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 2});
  FeedRange<float>(&ws, "X", {3, 2}, 1);
  RunOp(&ws, kPack);
  ExpectTensor<float>(ws, "Y", {3, 2, 2}, {1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6});
  ExpectShapeInferred(&ws, kPack, true);
}

TEST(PackSegmentsTest, PacksIntegers) {
  Workspace ws;
  Feed<int64_t>(&ws, "L", {2}, {2, 1});
  Feed<int32_t>(&ws, "X", {3}, {7, 8, 9});
  RunOp(&ws, kPack);
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {7, 8, 9, 0});
  Feed<int64_t>(&ws, "X", {3}, {7, 8, 9});
  RunOp(&ws, std::string(kPack) + R"( arg { name: "pad_minf" i: 1 })");  // for floats only
  ExpectTensor<int64_t>(ws, "Y", {2, 2}, {7, 8, 9, 0});
}

TEST(PackSegmentsTest, FillsWithMinusInfinity) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {2, 1});
  for (const int64_t block : {1, 2, 3, 4, 8}) {
    FeedRange<float>(&ws, "X", {3, block}, 1);
    RunOp(&ws, std::string(kPack) + R"( arg { name: "pad_minf" i: 1 })");
    const std::vector<float> y = Fetch<float>(ws, "Y");
    for (int64_t i = 0; i < 4 * block; ++i) {
      EXPECT_EQ(y[static_cast<size_t>(i)], i < 3 * block ? static_cast<float>(i + 1)
                                                         : -std::numeric_limits<float>::infinity());
    }
  }
}

TEST(PackSegmentsTest, CutsOffAndExtendsToTheLengthOfTheArgument) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {1, 3});
  FeedRange<float>(&ws, "X", {4}, 1);
  RunOp(&ws, WithLength(kPack, 2));
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 0, 2, 3});
  ExpectShapeInferred(&ws, WithLength(kPack, 2));
  RunOp(&ws, WithLength(kPackWithMask, 4));
  ExpectTensor<float>(ws, "Y", {2, 4}, {1, 0, 0, 0, 2, 3, 4, 0});
  ExpectTensor<bool>(ws, "M", {2, 4}, {true, false, false, false, true, true, true, false});
  ExpectShapeInferred(&ws, WithLength(kPackWithMask, 4));
  RunOp(&ws, WithLength(kPackWithMask, 0));
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
  ExpectTensor<bool>(ws, "M", {2, 0}, {});
}

TEST(PackSegmentsTest, LeavesAMaskThatIsNotRequestedUnset) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {1}, {1});
  FeedRange<float>(&ws, "X", {1}, 1);
  RunOp(&ws, R"(type: "PackSegments" input: "L" input: "X" output: "Y" output: "M")");
  EXPECT_FALSE(ws.GetBlob("M")->IsType<Tensor>());
}

TEST(PackSegmentsTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {0}, {});
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOp(&ws, kPackWithMask);
  ExpectTensor<float>(ws, "Y", {0, 0, 2}, {});
  ExpectTensor<bool>(ws, "M", {0, 0}, {});
  RunOp(&ws, WithLength(kPack, 3));
  ExpectTensor<float>(ws, "Y", {0, 3, 2}, {});
  Feed<int32_t>(&ws, "L", {2}, {0, 0});
  RunOp(&ws, WithLength(kPackWithMask, 1));
  ExpectTensor<float>(ws, "Y", {2, 1, 2}, {0, 0, 0, 0});
  ExpectTensor<bool>(ws, "M", {2, 1}, {false, false});
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<float>(&ws, "X", {3, 0}, {});
  RunOp(&ws, kPackWithMask);
  ExpectTensor<float>(ws, "Y", {2, 2, 0}, {});
  ExpectTensor<bool>(ws, "M", {2, 2}, {true, false, true, true});
}

TEST(UnpackSegmentsTest, RemovesThePadding) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 2});
  FeedRange<float>(&ws, "X", {3, 2, 2}, 1);
  RunOp(&ws, kUnpack);
  ExpectTensor<float>(ws, "Y", {3, 2}, {1, 2, 9, 10, 11, 12});
  Feed<int64_t>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, kUnpack);
  ExpectTensor<int64_t>(ws, "Y", {3}, {1, 5, 6});
}

TEST(UnpackSegmentsTest, CutsOffLengthsIfTheArgumentIsGiven) {
  Workspace ws;
  Feed<int64_t>(&ws, "L", {2}, {1, 5});
  FeedRange<float>(&ws, "X", {2, 2}, 1);
  RunOp(&ws, WithLength(kUnpack, 2));
  ExpectTensor<float>(ws, "Y", {3}, {1, 3, 4});
  ExpectThrows([&] { RunOp(&ws, kUnpack); },
               "an element of input 0 (lengths) is 5, want at most 2, dim 1");
}

TEST(UnpackSegmentsTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {0, 0});
  Feed<float>(&ws, "X", {2, 0, 3}, {});
  RunOp(&ws, kUnpack);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOp(&ws, kUnpack);
  ExpectTensor<float>(ws, "Y", {0}, {});
}

// Strings are on the CPU only.
TEST(PackSegmentsTest, PacksAndUnpacksStrings) {
  const std::string on_cpu = " device_option {}";
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<std::string>(&ws, "X", {3}, {"a", "bb", "c"});
  RunOp(&ws, kPack + on_cpu);
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"a", "", "bb", "c"});
  Feed<int32_t>(&ws, "L", {2}, {2, 1});
  RunOp(&ws, kPack + on_cpu);  // the padding overwrites what the memory held
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"a", "bb", "c", ""});
  RunOp(&ws, R"(type: "UnpackSegments" input: "L" input: "Y" output: "Z")" + on_cpu);
  ExpectTensor<std::string>(ws, "Z", {3}, {"a", "bb", "c"});
}

TEST(PackSegmentsTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  const auto pack = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  Feed<int32_t>(&ws, "L", {2}, {1, 3});
  FeedRange<float>(&ws, "X", {3, 2});
  ExpectThrows(pack(kPack),
               "sum of input 0 (lengths), want dim 0 of input 1 (tensor) of shape [3, 2]");
  ExpectThrows(pack(WithLength(kPack, -2)), "argument \"max_length\" is -2, want -1 or more");
  ExpectThrows(pack(std::string(kPack) + R"( arg { name: "return_presence_mask" i: 1 })"),
               "want a second output (presence_mask)");
  Feed<int32_t>(&ws, "L", {2}, {4, -1});
  ExpectThrows(pack(kPack), "element 1 of input 0 (lengths), want at least 0");
  Feed<int32_t>(&ws, "L", {1, 2}, {1, 2});
  ExpectThrows(pack(kPack), "rank of input 0 (lengths) of shape [1, 2], want a vector");
  Feed<float>(&ws, "L", {2}, {1, 2});
  ExpectThrows(pack(kPack), "input 0 (lengths) has elements of type float, want int32");
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<double>(&ws, "X", {3}, {1, 2, 3});
  ExpectThrows(pack(kPack), "has elements of type double, want float");
  FeedRange<float>(&ws, "X", {});
  ExpectThrows(pack(kPack), "rank of input 1 (tensor)");
}

TEST(UnpackSegmentsTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  const auto unpack = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  FeedRange<float>(&ws, "X", {2, 2});
  ExpectThrows(unpack(WithLength(kUnpack, 3)), "argument max_length is 3, want 2, dim 1");
  FeedRange<float>(&ws, "X", {3, 2});
  ExpectThrows(unpack(kUnpack),
               "number of lengths, want dim 0 of input 1 (packed_tensor) of shape [3, 2]");
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows(unpack(kUnpack), "rank of input 1 (packed_tensor) of shape [2]");
}

TEST(PackSegmentsTest, HasTheGradientsOfCaffe2) {
  EXPECT_EQ(DescribeGradient(kPack), "UnpackSegments(L,Y_grad)->X_grad | - X_grad");
  EXPECT_EQ(DescribeGradient(kUnpack), "PackSegments(L,Y_grad)->X_grad | - X_grad");
}

TEST(PackSegmentsTest, RowsThatAreCutOffHaveNoGradient) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {3, 0, 1});
  FeedRange<float>(&ws, "X", {3, 2, 2}, 1);
  RunOp(&ws, WithLength(kUnpack, 2) + " is_gradient_op: true");
  ExpectTensor<float>(ws, "Y", {4, 2}, {1, 2, 3, 4, 0, 0, 9, 10});
  ExpectGradientMatches(&ws, WithLength(kUnpack, 2));
  Feed<float>(&ws, "X", {3, 0, 2}, {});
  RunOp(&ws, WithLength(kUnpack, 0) + " is_gradient_op: true");
  ExpectTensor<float>(ws, "Y", {4, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  FeedRange<float>(&ws, "X", {3, 2}, 1);
  RunOp(&ws, WithLength(kPack, 2) + " is_gradient_op: true");
  ExpectTensor<float>(ws, "Y", {3, 2, 2}, {1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0});
  FeedRange<float>(&ws, "X", {4, 2}, 1);
  ExpectGradientMatches(&ws, WithLength(kPack, 2));
}

}  // namespace
}  // namespace caffe2rt::test::pack_segments_test
