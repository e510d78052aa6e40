#include "caffe2_core/io/record_checksum.h"

#include <gtest/gtest.h>

#include "caffe2rt/caffe2.pb.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::record_checksum_test {
namespace {

// The examples of RFC 3720, section B.4, and the usual one.
TEST(RecordChecksumTest, IsCrc32c) {
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  for (int i = 31; i >= 0; --i) falling += static_cast<char>(i);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(RecordChecksumTest, FollowsTheRecord) {
  const std::string marked = WithChecksum("123456789");
  EXPECT_EQ(marked, std::string("123456789\xc2\x3e\x08"
                                "crcc\x83\x92\x06\xe3"));
  EXPECT_EQ(CheckedRecord(marked), "123456789");
  EXPECT_EQ(CheckedRecord("123456789"), "123456789");
  EXPECT_EQ(CheckedRecord(""), "");
  EXPECT_EQ(CheckedRecord(WithChecksum("")), "");
}

TEST(RecordChecksumTest, IsAFieldThatOtherReadersLeaveOut) {
  TensorProtos record;
  record.add_protos()->add_int32_data(7);
  TensorProtos read;
  ASSERT_TRUE(read.ParseFromString(WithChecksum(record.SerializeAsString())));
  ASSERT_EQ(read.protos_size(), 1);
  EXPECT_EQ(read.protos(0).int32_data(0), 7);
}

TEST(RecordChecksumTest, FindsEveryWrongBitOfTheRecord) {
  const std::string record = "a record of some bytes", marked = WithChecksum(record);
  for (size_t i = 0; i < 8 * record.size(); ++i) {
    std::string damaged = marked;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    ExpectThrows(
        [&] { (void)CheckedRecord(damaged); },
        "the record's bytes do not match its checksum: it was damaged after it was written");
  }
  std::string wrong = marked;
  wrong.back() ^= 1;
  ExpectThrows([&] { (void)CheckedRecord(wrong); }, "do not match its checksum");
}

}  // namespace
}  // namespace caffe2rt::test::record_checksum_test
