// Element types of 8 bits and less, which blobs hold as float, int8 or uint8, and uint64.
#include <gtest/gtest.h>

#include <limits>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/import/onnx/onnx_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::narrow_types_test {
namespace {

using Proto = onnx::TensorProto;

std::string CastTo(const std::string& from, int type) {
  return MakeString("node { op_type: 'Cast' input: '", from,
                    "' output: 'y' attribute { name: 'to' type: INT i: ", type, " } } ");
}

// -1, 7, -8, 2, 1: two in a byte, the first in its lower half.
constexpr const char* kPacked =
    "initializer { name: 'w' data_type: 22 dims: 5 raw_data: '\\x7f\\x28\\x01' } ";

TEST(OnnxNarrowTypesTest, ReadsPackedIntegersOfRawAndTypedData) {
  const std::string y = OnnxValue("output", "y", {"5"});
  const std::vector<float> want = {-1, 7, -8, 2, 1};
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(kPacked + CastTo("w", 1) + y, 21), {}, "y")), want);
  const std::string typed =
      "initializer { name: 'w' data_type: 22 dims: 5 int32_data: 127 int32_data: 40 int32_data: 1 "
      "} ";
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(typed + CastTo("w", 1) + y, 21), {}, "y")), want);
}

TEST(OnnxNarrowTypesTest, RejectsPackedDataOfAnotherLength) {
  const std::string graph =
      "initializer { name: 'w' data_type: 22 dims: 7 raw_data: '\\x7f\\x28\\x01' } " +
      CastTo("w", 1) + OnnxValue("output", "y", {"7"});
  EXPECT_NE(OnnxImportError(OnnxBytes(graph, 21)).find("bytes of elements: got 3, want 4"),
            std::string::npos)
      << OnnxImportError(OnnxBytes(graph, 21));
}

// (w - 1) * scale; scales 0.5 and 2 for blocks of 3 and 2.
TEST(OnnxNarrowTypesTest, DequantizesBlocksOfPackedIntegers) {
  const std::string graph =
      std::string(kPacked) +
      "initializer { name: 's' data_type: 1 dims: 2 float_data: 0.5 float_data: 2 } "
      "initializer { name: 'z' data_type: 22 dims: 2 int32_data: 17 } "
      "node { op_type: 'DequantizeLinear' input: 'w' input: 's' input: 'z' output: 'y' "
      "attribute { name: 'axis' type: INT i: 0 } attribute { name: 'block_size' type: INT i: 3 } "
      "} " +
      OnnxValue("output", "y", {"5"});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph, 21), {}, "y")),
            (std::vector<float>{-1, 3, -4.5, 2, 0}));
}

// round(x / 2) + 1, limited to -8 ... 7
TEST(OnnxNarrowTypesTest, QuantizesToTheRangeOfTheType) {
  const std::string graph =
      "initializer { name: 's' data_type: 1 float_data: 2 } "
      "initializer { name: 'z' data_type: 22 int32_data: 1 } "
      "node { op_type: 'QuantizeLinear' input: 'x' input: 's' input: 'z' output: 'y' } " +
      OnnxValue("input", "x", {"4"}) + OnnxValue("output", "y", {"4"}, Proto::INT4);
  const Tensor y =
      RunOnnxBytes(OnnxBytes(graph, 21), {{"x", FloatTensor({4}, {5, -30, 40, 0})}}, "y");
  ASSERT_TRUE(y.IsType<int8_t>());
  EXPECT_EQ(std::vector<int8_t>(y.data<int8_t>(), y.data<int8_t>() + 4),
            (std::vector<int8_t>{3, -8, 7, 1}));
}

TEST(OnnxNarrowTypesTest, StatesTheFormatOfOutputs) {
  const std::string graph = OnnxValue("input", "x", {"3"}) + CastTo("x", Proto::FLOAT8E4M3FN) +
                            OnnxValue("output", "y", {"3"}, Proto::FLOAT8E4M3FN);
  const OnnxModel model = ImportOnnxFromMemory(OnnxBytes(graph, 21), {});
  EXPECT_EQ(StatedOutputFormats(model.predict_net).at("y"), "float8e4m3fn");
  const Tensor y =
      RunOnnxBytes(OnnxBytes(graph, 21), {{"x", FloatTensor({3}, {0.3f, -1000, 0.4f})}}, "y");
  EXPECT_EQ(FloatsOf(y), (std::vector<float>{0.3125f, -448, 0.40625f}));
}

TEST(OnnxNarrowTypesTest, FilesOfTensorsGiveTheNumbersBack) {
  const TempDir folder;
  const std::string file = folder.path() + "/t.pb";
  WriteNarrowOnnxTensor(file, "t", FloatTensor({3}, {0.5f, -6, 3}), NarrowFormat::kFloat4E2M1);
  EXPECT_EQ(FloatsOf(ReadOnnxTensor(file)), (std::vector<float>{0.5f, -6, 3}));
}

// The attention of ONNX Runtime ends with moved elements: the output is half, as the file says.
TEST(OnnxNarrowTypesTest, OutputsOfMovedElementsKeepHalfPrecision) {
  const std::string graph = OnnxValue("input", "x", {"1", "2", "4"}, Proto::FLOAT16) +
                            "node { op_type: 'MultiHeadAttention' domain: 'com.microsoft' input: "
                            "'x' input: 'x' input: 'x' "
                            "output: 'y' attribute { name: 'num_heads' type: INT i: 2 } } " +
                            OnnxValue("output", "y", {"1", "2", "4"}, Proto::FLOAT16);
  Tensor x({1, 2, 4}, CPU);
  for (int i = 0; i < 8; ++i) x.mutable_data<float16>()[i] = float16(1.f);
  const Tensor y = RunOnnxBytes(
      OnnxBytes(graph, 17, "opset_import { domain: 'com.microsoft' version: 1 }"), {{"x", x}}, "y");
  ASSERT_TRUE(y.IsType<float16>());
  EXPECT_EQ(float{y.data<float16>()[7]}, 1.f);
}

// 2^63 is above 1, and below 2^64 - 1.
TEST(OnnxNarrowTypesTest, OrdersLargeUnsignedNumbers) {
  const std::string graph =
      "initializer { name: 'a' data_type: 13 dims: 3 uint64_data: 9223372036854775808 "
      "uint64_data: 1 uint64_data: 9223372036854775808 } "
      "initializer { name: 'b' data_type: 13 dims: 3 uint64_data: 1 uint64_data: "
      "9223372036854775808 "
      "uint64_data: 18446744073709551615 } node { op_type: 'Greater' input: 'a' input: 'b' output: "
      "'g' } "
      "node { op_type: 'Cast' input: 'g' output: 'y' attribute { name: 'to' type: INT i: 1 } } " +
      OnnxValue("output", "y", {"3"});
  EXPECT_EQ(FloatsOf(RunOnnxBytes(OnnxBytes(graph, 21), {}, "y")), (std::vector<float>{1, 0, 0}));
}

// e^x / sum: 1/5 and 4/5.
TEST(OnnxNarrowTypesTest, SoftmaxOfDoublesIsComputedInDouble) {
  const std::string graph =
      "initializer { name: 'x' data_type: 11 dims: 1 dims: 2 double_data: 1 "
      "double_data: 2.386294361119890618834464 } "
      "node { op_type: 'Softmax' input: 'x' output: 'y' } " +
      OnnxValue("output", "y", {"1", "2"}, Proto::DOUBLE);
  const Tensor y = RunOnnxBytes(OnnxBytes(graph, 21), {}, "y");
  ASSERT_TRUE(y.IsType<double>());
  EXPECT_NEAR(y.data<double>()[0], 0.2, 1e-15);
  EXPECT_NEAR(y.data<double>()[1], 0.8, 1e-15);
}

}  // namespace
}  // namespace caffe2rt::test::narrow_types_test
