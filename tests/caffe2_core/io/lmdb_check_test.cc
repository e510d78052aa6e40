#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/lmdb_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::lmdb_check_test {
namespace {

using test::ExpectThrows;
using test::TempDir;

void PutMany(const std::string& path, db::Mode mode, char letter) {
  const auto database = db::CreateDB("lmdb", path, mode);
  const auto transaction = database->NewTransaction();
  for (int i = 0; i < 20; ++i) {
    transaction->Put(MakeString("key", 100 + i), std::string(20000, letter));
  }
  transaction->Commit();
}

uint64_t NumberAt(const std::string& list, size_t index) {
  uint64_t number;
  std::memcpy(&number, list.data() + index * sizeof(number), sizeof(number));
  return number;
}

// Returns a list of at least two free pages: their count, followed by their numbers.
std::string FreePages(const std::string& path) {
  const db::internal::LmdbFile file(path);
  db::internal::LmdbPosition entry(file, file.free_tree());
  for (entry.Seek({}); entry.Valid(); entry.Next()) {
    const std::string list = entry.value();
    if (list.size() > 3 * sizeof(uint64_t) && NumberAt(list, 0) >= 2) return list;
  }
  return {};
}

// The first of the pages that hold a large value.
uint64_t PageOfAValue(const std::string& path) {
  const db::internal::LmdbFile file(path);
  db::internal::LmdbPosition entry(file, file.main_tree());
  entry.Seek({});
  return entry.OverflowPages().first;
}

// liblmdb would overwrite the value.
TEST(LmdbCheckTest, RejectsFreePagesThatAValueUses) {
  const TempDir dir;
  PutMany(dir.path("db"), db::NEW, 'a');
  PutMany(dir.path("db"), db::WRITE, 'b');
  const std::string list = FreePages(dir.path("db"));
  ASSERT_FALSE(list.empty());
  const uint64_t used = PageOfAValue(dir.path("db"));
  ASSERT_GT(used, NumberAt(list, 2));  // so that the list stays in order
  std::string wrong = list;
  std::memcpy(wrong.data() + 8, &used, 8);
  std::string bytes = ReadWholeFile(dir.path("db/data.mdb"));
  bytes.replace(bytes.find(list), list.size(), wrong);
  WriteFileAtomically(dir.path("db/data.mdb"), bytes);
  ExpectThrows([&] { db::CreateDB("lmdb", dir.path("db"), db::WRITE); }, "a page is used twice");
}

// liblmdb allocates pages from the end of the list and relies on its order.
TEST(LmdbCheckTest, RejectsFreePagesThatAreOutOfOrder) {
  const TempDir dir;
  PutMany(dir.path("db"), db::NEW, 'a');
  PutMany(dir.path("db"), db::WRITE, 'b');
  const std::string list = FreePages(dir.path("db"));
  ASSERT_FALSE(list.empty());
  ASSERT_GT(NumberAt(list, 1), NumberAt(list, 2));
  std::string swapped = list;
  std::memcpy(swapped.data() + 8, list.data() + 16, 8);
  std::memcpy(swapped.data() + 16, list.data() + 8, 8);
  std::string bytes = ReadWholeFile(dir.path("db/data.mdb"));
  const size_t at = bytes.find(list);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(list, at + 1), std::string::npos);
  bytes.replace(at, list.size(), swapped);
  WriteFileAtomically(dir.path("db/data.mdb"), bytes);
  ExpectThrows([&] { db::CreateDB("lmdb", dir.path("db"), db::WRITE); },
               "its list of free pages is wrong");
  bytes.replace(at, list.size(), list);
  WriteFileAtomically(dir.path("db/data.mdb"), bytes);
  PutMany(dir.path("db"), db::WRITE, 'c');
}

// Leaves one key on each branch page of a database, of which liblmdb writes at least two.
void CutBranchPages(const std::string& path) {
  std::string bytes = ReadWholeFile(path + "/data.mdb");
  constexpr size_t kPageBytes = 4096, kFlags = 10, kLower = 12, kHeaderBytes = 16;
  int pages = 0;
  for (size_t page = 0; page + kPageBytes <= bytes.size(); page += kPageBytes) {
    constexpr char kBranch = 1;
    if (bytes[page + kFlags] != kBranch || bytes[page + kFlags + 1] != 0) continue;
    bytes[page + kLower] = kHeaderBytes + 2;
    bytes[page + kLower + 1] = 0;
    ++pages;
  }
  ASSERT_GT(pages, 0);
  std::fstream(path + "/data.mdb", std::ios::in | std::ios::out | std::ios::binary) << bytes;
}

// Another program damages the database while it is open. In a process of its own, because the
// environment can't be closed then.
TEST(LmdbCheckDeathTest, AFailedAssertionOfLiblmdbIsAnError) {
  const TempDir dir;
  const auto put_in_damaged = [&dir] {
    const std::string path = dir.path("db");
    {
      const auto database = db::CreateDB("lmdb", path, db::NEW);
      const auto transaction = database->NewTransaction();
      for (int i = 0; i < 20; ++i)
        transaction->Put(MakeString("key", 100 + i), std::string(1000, 'a'));
      transaction->Commit();
    }
    const auto database = db::CreateDB("lmdb", path, db::WRITE);
    CutBranchPages(path);
    const auto transaction = database->NewTransaction();
    ExpectThrows([&] { transaction->Put("key", "value"); }, "liblmdb reports a damaged database: ");
    ExpectThrows([&] { transaction->Commit(); }, "failed, nothing is committed");
    _exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(put_in_damaged(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace caffe2rt::lmdb_check_test
