// The place of damage in a log of LevelDB, in databases that LevelDB wrote.
#include "caffe2_core/io/leveldb_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::leveldb_log_test {
namespace {

constexpr size_t kBlock = 32768;

// Writes 20 records "key00" ... of `bytes` bytes each, each in a batch of its own or all in one.
// Returns the path of the log with the last of them.
std::string WriteRecords(const std::string& path, size_t bytes, bool one_batch) {
  const std::unique_ptr<db::DB> database = db::CreateDB("leveldb", path, db::NEW);
  std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
  for (int i = 0; i < 20; ++i) {
    transaction->Put(MakeString("key", i / 10, i % 10),
                     std::string(bytes, static_cast<char>('a' + i)));
    if (!one_batch) transaction->Commit();
  }
  transaction.reset();  // before its database
  database->Close();
  std::string log;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".log") log = entry.path().string();
  }
  return log;
}

std::string NameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void FlipByte(const std::string& file, size_t at) {
  std::string bytes = ReadWholeFile(file);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  WriteFileAtomically(file, bytes);
}

TEST(LevelDBLogTest, NamesTheBatchThatIsDamaged) {
  const TempDir dir;
  const std::string path = dir.path("db"), log = WriteRecords(path, 100, false);
  EXPECT_EQ(db::internal::LevelDBLogDamage(path), "");
  const size_t value = ReadWholeFile(log).find(std::string(100, 'a' + 7));
  ASSERT_NE(value, std::string::npos);
  FlipByte(log, value + 50);
  // Before the value: the fragment's header, the batch's, a byte, the length and the key, a length.
  const size_t fragment = value - 7 - 12 - 1 - 1 - 5 - 1;
  ExpectThrows(
      [&] { db::OpenDB("leveldb", path, db::READ); },
      MakeString("cannot open leveldb \"", path, "\": Corruption: checksum mismatch; log \"",
                 NameOf(log), "\" is damaged at byte ", fragment,
                 ", at or after the record \"key06\""));
}

TEST(LevelDBLogTest, NamesTheLastKeyBeforeADamagedBlockOfABatch) {
  const TempDir dir;
  const std::string path = dir.path("db"), log = WriteRecords(path, 10000, true);
  EXPECT_EQ(db::internal::LevelDBLogDamage(path), "");
  // The fourth block, of which records 9 to 13 have parts.
  FlipByte(log, 3 * kBlock + 5000);
  const size_t key09 = ReadWholeFile(log).find("key09"), key10 = ReadWholeFile(log).find("key10");
  ASSERT_LT(key09, 3 * kBlock);
  ASSERT_GT(key10, 3 * kBlock);
  EXPECT_EQ(db::internal::LevelDBLogDamage(path),
            MakeString("; log \"", NameOf(log), "\" is damaged at byte ", 3 * kBlock,
                       ", at or after the record \"key09\""));
}

TEST(LevelDBLogTest, NamesNoKeyBeforeTheFirst) {
  const TempDir dir;
  const std::string path = dir.path("db"), log = WriteRecords(path, 100, false);
  FlipByte(log, 5);  // a length
  EXPECT_EQ(db::internal::LevelDBLogDamage(path),
            "; log \"" + NameOf(log) + "\" is damaged at byte 0");
}

}  // namespace
}  // namespace caffe2rt::test::leveldb_log_test
