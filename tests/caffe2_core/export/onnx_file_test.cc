#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "caffe2_core/export/onnx_export.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::onnx_file_test {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ExportedNet TwoWeights() {
  return {
      "op { type: 'Mul' input: 'x' input: 'a' output: 'z' }"
      "op { type: 'Add' input: 'z' input: 'b' output: 'y' }",
      {{"x", {{2}}}},
      {{"a", FloatWeight({2})}, {"b", FloatWeight({2})}}};
}

std::string BytesOf(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(OnnxFileTest, HoldsTheWeights) {
  TempDir dir;
  const std::string path = dir.path("m.onnx");
  const ExportedNet net = TwoWeights();  // owns the weights
  EXPECT_THAT(WriteOnnx(Export(net), path), ::testing::ElementsAre(path));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ReadAll(path)));
  ASSERT_EQ(model.graph().initializer_size(), 2);
  EXPECT_EQ(model.graph().initializer(0).raw_data(), BytesOf({0, 1}));
}

TEST(OnnxFileTest, WritesLargeWeightsBesideIt) {
  TempDir dir;
  const std::string path = dir.path("m.onnx");
  const ExportedNet net = TwoWeights();
  EXPECT_THAT(WriteOnnx(Export(net), path, 15), ::testing::ElementsAre(path + ".data", path));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ReadAll(path)));
  const onnx::TensorProto& second = model.graph().initializer(1);
  EXPECT_FALSE(second.has_raw_data());
  EXPECT_EQ(second.data_location(), onnx::TensorProto::EXTERNAL);
  ASSERT_EQ(second.external_data_size(), 3);
  EXPECT_EQ(second.external_data(0).key(), "location");
  EXPECT_EQ(second.external_data(1).key(), "offset");
  EXPECT_EQ(second.external_data(2).key(), "length");
  EXPECT_EQ(second.external_data(0).value(), "m.onnx.data");
  EXPECT_EQ(second.external_data(1).value(), "4096");
  EXPECT_EQ(second.external_data(2).value(), "8");
  EXPECT_EQ(ReadAll(path + ".data").substr(4096), BytesOf({0, 1}));
}

TEST(OnnxFileTest, PlacesEachLargeWeightAtAMultipleOfAPage) {
  TempDir dir;
  const std::string path = dir.path("m.onnx");
  const ExportedNet net = {
      "op { type: 'Mul' input: 'x' input: 'a' output: 'z' }"
      "op { type: 'Add' input: 'z' input: 'b' output: 'w' }"
      "op { type: 'Sub' input: 'w' input: 'c' output: 'y' }",
      {{"x", {{2}}}},
      {{"a", FloatWeight({2})}, {"b", FloatWeight({1})}, {"c", FloatWeight({2})}}};
  (void)WriteOnnx(Export(net), path, 0);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(ReadAll(path)));
  const char* const offsets[] = {"0", "4096", "8192"};
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(model.graph().initializer(i).external_data(1).value(), offsets[i]);
  const std::string data = ReadAll(path + ".data");
  EXPECT_EQ(data.size(), 8192 + sizeof(float) * 2);
  EXPECT_EQ(data.substr(8192), BytesOf({0, 1}));
}

TEST(OnnxFileTest, LeavesFilesAloneIfItFails) {
  TempDir dir;
  const ExportedNet net = TwoWeights();
  ExpectThrows([&] { WriteOnnx(Export(net), dir.path("absent/m.onnx")); }, "absent");
}

}  // namespace
}  // namespace caffe2rt::test::onnx_file_test
