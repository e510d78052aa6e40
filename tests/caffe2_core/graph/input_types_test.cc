#include "caffe2_core/graph/input_types.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test::input_types_test {
namespace {

class InputTypesTest : public ::testing::Test {
 protected:
  void SetUp() override { EnsureBuiltinOperators(); }
  static std::string Wrong(const char* type, const std::vector<TensorProto_DataType>& types) {
    OperatorDef op;
    op.set_type(type);
    std::vector<TensorShape> shapes;
    for (const TensorProto_DataType each : types)
      shapes.push_back(CreateTensorShape(std::vector<int64_t>{2}, each));
    return WrongInputType(op, shapes);
  }
};

TEST_F(InputTypesTest, NamesTheInputAndTheTypesThatAreAccepted) {
  EXPECT_EQ(Wrong("MaxPool", {TensorProto::UINT8}),
            "input 0 (X) has elements of type uint8, want float");
  EXPECT_EQ(Wrong("Add", {TensorProto::BOOL, TensorProto::BOOL}),
            "input 0 (A) has elements of type bool, want float, double, int32, int64");
  EXPECT_EQ(Wrong("Add", {TensorProto::INT32, TensorProto::INT64}),
            "input 1 (B) has elements of type int64, want int32 as input 0 (A)");
}

// Every input has its declaration, the last one too.
TEST_F(InputTypesTest, ChecksEachInput) {
  const std::map<std::string, size_t> floats = {
      {"Conv", 3},   {"ConvTranspose", 3}, {"FC", 3},           {"FCTransposed", 3},
      {"MatMul", 2}, {"PRelu", 2},         {"InstanceNorm", 3}, {"SpatialBN", 3},
      {"LRN", 1},    {"Softmax", 1},       {"AveragePool", 1}};
  for (const auto& [type, count] : floats) {
    EXPECT_EQ(Wrong(type.c_str(), std::vector(count, TensorProto::FLOAT)), "") << type;
    for (size_t i = 0; i < count; ++i) {
      std::vector<TensorProto_DataType> types(count, TensorProto::FLOAT);
      types[i] = TensorProto::INT32;
      const std::string wrong = Wrong(type.c_str(), types);
      EXPECT_TRUE(wrong.starts_with(MakeString("input ", i, " ("))) << type << " " << wrong;
      EXPECT_TRUE(wrong.ends_with("has elements of type int32, want float")) << type << wrong;
    }
  }
}

TEST_F(InputTypesTest, AcceptsTypesThatAreDeclaredOrNotKnown) {
  EXPECT_EQ(Wrong("Conv", {TensorProto::FLOAT, TensorProto::FLOAT}), "");
  EXPECT_EQ(Wrong("Add", {TensorProto::UNDEFINED, TensorProto::INT64}), "");
  EXPECT_EQ(Wrong("Copy", {TensorProto::STRING}), "");
  EXPECT_EQ(Wrong("NoSuchOperator", {TensorProto::STRING}), "");
}

}  // namespace
}  // namespace caffe2rt::test::input_types_test
