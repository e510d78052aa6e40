#include "caffe2_core/tensor/data_type.h"

#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::data_type_test {
namespace {

TEST(DataTypeTest, EveryNumberedTypeGoesBothWays) {
  for (int number = 1; number <= 13; ++number) {
    if (number == TensorProto_DataType_BYTE || number == 11) continue;
    const auto type = static_cast<TensorProto_DataType>(number);
    EXPECT_EQ(TypeMetaToDataType(DataTypeToTypeMeta(type)), type) << number;
    EXPECT_NE(DataTypeName(type), "");
  }
  EXPECT_EQ(TypeMetaToDataType(TypeMeta::Make<int*>()), TensorProto_DataType_UNDEFINED);
}

TEST(DataTypeTest, NumbersWithoutElementTypeThrow) {
  EXPECT_THROW(DataTypeToTypeMeta(TensorProto_DataType_UNDEFINED), EnforceNotMet);
  EXPECT_THROW(DataTypeToTypeMeta(int64_t{99}), EnforceNotMet);
  EXPECT_TRUE(DataTypeToTypeMeta(TensorProto_DataType_BYTE).Match<uint8_t>());
}

TEST(DataTypeTest, NamesAreShort) {
  EXPECT_EQ(DataTypeName(TensorProto_DataType_FLOAT), "float");
  EXPECT_EQ(DataTypeName(TypeMeta::Make<int64_t>()), "int64");
  EXPECT_EQ(DataTypeName(TensorProto_DataType_UNDEFINED), "UNDEFINED");
}

}  // namespace
}  // namespace caffe2rt::data_type_test
