#include "operators/common/copy_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/operator_test.h"

namespace caffe2rt::copy_rows_test {
namespace {

TEST(CopyRowsTest, GivesTheBytesOfPlainItemsAlone) {
  EXPECT_EQ(PlainItemBytes(TypeMeta::Make<double>()), 8);
  EXPECT_EQ(PlainItemBytes(TypeMeta::Make<bool>()), 1);
  test::ExpectThrows([] { (void)PlainItemBytes(TypeMeta::Make<std::string>()); },
                     "have constructors and cannot be on CUDA");
}

}  // namespace
}  // namespace caffe2rt::copy_rows_test
