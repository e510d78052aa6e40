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

TEST(ByteSizeTest, GoesToTheNextUnitWhereTheTextWouldHaveFourDigits) {
  const struct {
    uint64_t bytes;
    const char* text;
  } rows[] = {
      {1048524, "1023.9 KiB"},  // 1023.949 of the unit
      {1048525, "1.0 MiB"},     // 1023.950
      {uint64_t{1} << 20, "1 MiB"},
      {(uint64_t{1} << 30) - 1, "1.0 GiB"},
      {(uint64_t{3} << 29) + (uint64_t{1} << 20), "1.5 GiB"},
      {uint64_t{7} << 40, "7 TiB"},
      {(uint64_t{1} << 60) - 1, "1.0 EiB"},
      {uint64_t{1} << 60, "1 EiB"},
      {uint64_t{1023} << 50, "1023 PiB"},
  };
  for (const auto& row : rows) EXPECT_EQ(ByteSizeText(row.bytes), row.text) << row.bytes;
}

}  // namespace
}  // namespace caffe2rt::byte_size_test
