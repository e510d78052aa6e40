#include "caffe2_core/base/byte_size.h"

#include <gtest/gtest.h>

namespace caffe2rt::byte_size_test {
namespace {

TEST(ByteSizeTest, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(ByteSizeText(0), "0 bytes");
  EXPECT_EQ(ByteSizeText(1), "1 byte");
  EXPECT_EQ(ByteSizeText(1023), "1023 bytes");
  EXPECT_EQ(ByteSizeText(1024), "1 KiB");
  EXPECT_EQ(ByteSizeText(1536), "1.5 KiB");
  EXPECT_EQ(ByteSizeText(uint64_t{40} << 30), "40 GiB");
  EXPECT_EQ(ByteSizeText((uint64_t{40} << 30) + 1), "40.0 GiB");
  EXPECT_EQ(ByteSizeText((uint64_t{1} << 20) - 1), "1.0 MiB");  // not 1024.0 KiB
  EXPECT_EQ(ByteSizeText(uint64_t{4} << 50), "4 PiB");
  EXPECT_EQ(ByteSizeText(UINT64_MAX), "16.0 EiB");
}

}  // namespace
}  // namespace caffe2rt::byte_size_test
