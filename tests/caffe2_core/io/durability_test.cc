// The state on disk after a process or the machine stops in the middle of a write.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/atomic_folder.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/file_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::durability_test {
namespace {

using test::FileCall;
using test::FileCalls;
using test::GetAll;
using test::Put;
using test::Records;
using test::RunAndKill;
using test::TempDir;

// Returns writes, syncs and renames. The temporary's path in `folder` is shown as "TMP".
std::vector<std::string> Steps(const FileCalls& calls, const std::string& folder) {
  std::vector<std::string> steps;
  for (const FileCall& call : calls.all()) {
    if (call.name == "open" || call.name == "mkdir" || call.name == "flock") continue;
    std::string path = call.path.substr(std::min(folder.size(), call.path.size()));
    const size_t mark = path.find(".caffe2rt-tmp-");
    if (mark != std::string::npos) {
      const size_t slash = path.find('/', mark);
      path = "TMP" + (slash == std::string::npos ? "" : path.substr(slash));
    }
    steps.push_back(call.name + " " + path);
  }
  return steps;
}

TEST(DurabilityTest, AFileIsSyncedBeforeItIsRenamedAndItsFolderAfterwards) {
  const TempDir dir;
  const FileCalls calls;
  WriteFileAtomically(dir.path("a"), "x");
  EXPECT_EQ(Steps(calls, dir.path()),
            (std::vector<std::string>{"write TMP", "fsync TMP", "rename /a", "fsync "}));
}

TEST(DurabilityTest, AFolderIsSyncedWithItsFilesBeforeItIsRenamed) {
  const TempDir dir;
  AtomicFolder folder(dir.path("db"), 0755);
  WriteFileAtomically(folder.path() + "/CURRENT", "x");
  const FileCalls calls;
  folder.Commit();
  EXPECT_EQ(Steps(calls, dir.path()),
            (std::vector<std::string>{"fsync TMP/CURRENT", "fsync TMP", "rename /db", "fsync "}));
}

// Some file systems have no fsync. Only what the device reports is an error.
TEST(DurabilityTest, AFileSystemMayLackSync) {
  const TempDir dir;
  std::vector<size_t> syncs;
  {
    const FileCalls calls;
    WriteFileAtomically(dir.path("first"), "x");
    for (size_t i = 0; i < calls.all().size(); ++i) {
      if (calls.all()[i].name == "fsync") syncs.push_back(i);
    }
  }
  ASSERT_EQ(syncs.size(), 2u);  // of the file and of its folder
  for (const size_t sync : syncs) {
    for (const int error : {EINVAL, ENOSYS, EOPNOTSUPP, EIO, ENOSPC, EROFS}) {
      const std::string path = dir.path(MakeString("file", sync, "_", error));
      const bool is_lacking = error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
      const FileCalls calls({.call = sync, .error = error});
      if (is_lacking) {
        EXPECT_NO_THROW(WriteFileAtomically(path, "x")) << error;
      } else {
        test::ExpectThrows([&] { WriteFileAtomically(path, "x"); }, "cannot sync ");
      }
      EXPECT_EQ(std::filesystem::exists(path), is_lacking || sync == syncs[1]) << error;
    }
  }
}

TEST(DurabilityTest, ACommitToALevelDBInItsPlaceIsSynced) {
  const TempDir dir;
  Put("leveldb", dir.path("db"), db::NEW, {{"a", "1"}});
  const auto database = db::CreateDB("leveldb", dir.path("db"), db::WRITE);
  const auto transaction = database->NewTransaction();
  transaction->Put("b", "2");
  const FileCalls calls;
  transaction->Commit();
  const std::vector<FileCall> all = calls.all();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(all.back().name == "fsync" || all.back().name == "fdatasync") << all.back().name;
  EXPECT_TRUE(all.back().path.ends_with(".log")) << all.back().path;
}

class DatabaseDurabilityTest : public testing::TestWithParam<const char*> {
 protected:
  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
  const Records records_{{"a", "1"}, {"b", std::string(30000, '2')}, {"c", "3"}};
};

TEST_P(DatabaseDurabilityTest, AKilledProcessMakesAllOrNothingWithWrite) {
  bool finished = false;
  size_t absent = 0;
  for (size_t call = 0; !finished; ++call) {
    finished = RunAndKill({.call = call}, [&] { Put(type_, path_, db::WRITE, records_); });
    const bool exists = std::filesystem::exists(path_);
    EXPECT_EQ(db::DBExists(type_, path_), exists) << call;
    absent += !exists;
    // The next write removes what was left behind and continues with what exists.
    Put(type_, path_, db::WRITE, exists ? Records() : records_);
    EXPECT_EQ(GetAll(type_, path_), records_) << call;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1) << call;
    std::filesystem::remove_all(path_);
  }
  EXPECT_GE(absent, 4u);
}

INSTANTIATE_TEST_SUITE_P(Types, DatabaseDurabilityTest,
                         testing::Values("minidb", "leveldb", "lmdb"));

// minidb is excluded because it appends without a journal.
class CommitInPlaceTest : public DatabaseDurabilityTest {};

TEST_P(CommitInPlaceTest, AKilledProcessMakesAllOrNothingOfIt) {
  const Records first{{"0", "0"}};
  Records all = records_;
  all.merge(Records(first));
  bool finished = false;
  for (size_t call = 0; !finished; ++call) {
    Put(type_, path_, db::NEW, first);
    finished = RunAndKill({.call = call}, [&] { Put(type_, path_, db::WRITE, records_); });
    const Records got = GetAll(type_, path_);
    EXPECT_TRUE(got == first || got == all) << call;
    Put(type_, path_, db::WRITE, records_);
    EXPECT_EQ(GetAll(type_, path_), all) << call;
    std::filesystem::remove_all(path_);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CommitInPlaceTest, testing::Values("leveldb", "lmdb"));

}  // namespace
}  // namespace caffe2rt::durability_test
