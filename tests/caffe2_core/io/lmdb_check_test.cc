#include <gtest/gtest.h>

#include <cstring>

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

}  // namespace
}  // namespace caffe2rt::lmdb_check_test
