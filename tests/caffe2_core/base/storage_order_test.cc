#include "caffe2_core/base/storage_order.h"

#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::storage_order_test {
namespace {

TEST(StorageOrderTest, AcceptsBothCasesAndNothingElse) {
  for (const char* text : {"NCHW", "nchw"}) {
    EXPECT_EQ(ParseStorageOrder(text), NCHW);
    EXPECT_EQ(StringToStorageOrder(text), NCHW);
  }
  for (const char* text : {"NHWC", "nhwc"}) {
    EXPECT_EQ(ParseStorageOrder(text), NHWC);
    EXPECT_EQ(StringToStorageOrder(text), NHWC);
  }
  for (const char* text : {"CHWN", "Nchw", ""}) {
    EXPECT_EQ(ParseStorageOrder(text), UNKNOWN);
    EXPECT_THROW(StringToStorageOrder(text), EnforceNotMet);
  }
}

}  // namespace
}  // namespace caffe2rt::storage_order_test
