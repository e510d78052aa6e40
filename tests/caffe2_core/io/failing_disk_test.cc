// Full or broken disks cause a descriptive error and leave no partially written file.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/file_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::failing_disk_test {
namespace {

using test::ExpectThrows;
using test::FileCall;
using test::FileCalls;
using test::GetAll;
using test::Interruption;
using test::Put;
using test::Records;
using test::TempDir;
using testing::AnyOf;
using testing::HasSubstr;

// During its lifetime, no file of this process can grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_;
  void (*const handler_)(int);
};

class FailingDiskTest : public testing::TestWithParam<const char*> {
 protected:
  bool Replaces() const { return type_ == "minidb"; }
  // Restores the state before a save.
  void Prepare() {
    std::filesystem::remove_all(path_);
    if (Replaces()) Put(type_, path_, db::NEW, old_);
  }
  // The calls of a save that succeeds.
  std::vector<FileCall> CallsOfSave() {
    Prepare();
    const FileCalls recorded;
    Put(type_, path_, db::NEW, records_);
    return recorded.all();
  }
  void ExpectUntouched(const std::string& which) {
    EXPECT_EQ(db::DBExists(type_, path_), Replaces()) << which;
    if (Replaces()) {
      EXPECT_EQ(GetAll(type_, path_), old_) << which;
    }
    const auto entries = std::distance(std::filesystem::directory_iterator(dir_.path()), {});
    EXPECT_EQ(entries, Replaces() ? 1 : 0) << which;
  }
  void ExpectSaved(const std::string& which) {
    EXPECT_EQ(GetAll(type_, path_), records_) << which;
    const auto entries = std::distance(std::filesystem::directory_iterator(dir_.path()), {});
    EXPECT_EQ(entries, 1) << which;
  }
  // Saves while one call fails. Returns whether the save reported an error.
  bool SaveFails(const Interruption& interruption, const std::string& which) {
    const FileCalls calls(interruption);
    try {
      Put(type_, path_, db::NEW, records_);
      return false;
    } catch (const EnforceNotMet& error) {
      EXPECT_THAT(error.message(), HasSubstr(dir_.path())) << which;
      EXPECT_THAT(error.message(), HasSubstr(std::strerror(interruption.error))) << which;
      return true;
    }
  }

  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
  const Records old_{{"a", "old"}};
  const Records records_{{"a", "1"}, {"b", std::string(30000, '2')}, {"c", "3"}};
};

TEST_P(FailingDiskTest, EveryFailingCallLeavesAllOrNothing) {
  const std::vector<FileCall> calls = CallsOfSave();
  size_t errors = 0;
  bool in_place = false;  // whether the target exists before call i
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string& name = calls[i].name;
    const bool counts = name != "flock" && name.rfind("unlink", 0) != 0;
    for (const Interruption& failure : {Interruption{.call = i, .error = EIO},
                                        Interruption{.call = i, .error = ENOSPC, .goes_on = true},
                                        Interruption{.call = i, .error = EDQUOT}}) {
      if (!counts) continue;
      const std::string which = MakeString("call ", i, ", ", name, " of ", calls[i].path, ": ",
                                           std::strerror(failure.error));
      Prepare();
      const bool failed = SaveFails(failure, which);
      errors += failed;
      if (failed && !in_place) {
        ExpectUntouched(which);
        Prepare();
        Put(type_, path_, db::NEW, records_);
      }
      ExpectSaved(which);
    }
    if (name == "rename" && calls[i].path == path_) in_place = true;
  }
  EXPECT_TRUE(in_place);
  EXPECT_GE(errors, 12u);  // open or mkdir, write, fsync and rename, with three errors each
}

TEST_P(FailingDiskTest, AShortWriteOnAFullDiskIsAnError) {
  const std::vector<FileCall> calls = CallsOfSave();
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].bytes < 2) continue;
    Prepare();
    const FileCalls cut({.call = i, .bytes = calls[i].bytes / 2, .error = ENOSPC, .goes_on = true});
    ExpectThrows([&] { Put(type_, path_, db::NEW, records_); }, "o space left on");
    ExpectUntouched(MakeString("call ", i));
  }
}

// A system call may write less than it was asked to, and the next one the rest.
TEST_P(FailingDiskTest, AShortWriteIsContinuedOrAnError) {
  const std::vector<FileCall> calls = CallsOfSave();
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].bytes < 2) continue;
    Prepare();
    const std::string which = MakeString("call ", i);
    bool failed = false;
    try {
      const FileCalls cut({.call = i, .bytes = calls[i].bytes / 2, .error = ENOSPC});
      Put(type_, path_, db::NEW, records_);
    } catch (const EnforceNotMet&) {
      failed = true;
    }
    if (failed) {
      ExpectUntouched(which);
    } else {
      ExpectSaved(which);
    }
  }
}

TEST_P(FailingDiskTest, AFileLargerThanItsLimitIsAnError) {
  Prepare();
  {
    const FileSizeLimit limit(20000);
    ExpectThrows([&] { Put(type_, path_, db::NEW, records_); }, path_);
  }
  ExpectUntouched("limit");
  Prepare();
  Put(type_, path_, db::NEW, records_);
  ExpectSaved("retry");
}

TEST_P(FailingDiskTest, ALaterTransactionIsKeptWholeOrNotAtAll) {
  Put(type_, path_, db::NEW, old_);
  {
    const FileSizeLimit limit(20000);
    const Records more{{"b", "2"}, {"c", std::string(30000, '3')}, {"d", "4"}};
    ExpectThrows([&] { Put(type_, path_, db::WRITE, more); }, path_);
  }
  EXPECT_EQ(GetAll(type_, path_), old_);
  Put(type_, path_, db::WRITE, {{"b", "2"}});
  EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "old"}, {"b", "2"}}));
}

INSTANTIATE_TEST_SUITE_P(Types, FailingDiskTest, testing::Values("minidb", "leveldb", "lmdb"));

TEST(FailingDiskTest, MiniDBRemovesAPartialTransaction) {
  const TempDir dir;
  Put("minidb", dir.path("m"), db::NEW, {{"a", "1"}});
  const std::string before = ReadWholeFile(dir.path("m"));
  const auto database = db::CreateDB("minidb", dir.path("m"), db::WRITE);
  {
    const FileSizeLimit limit(before.size() + 100);
    const auto transaction = database->NewTransaction();
    transaction->Put("b", "2");
    transaction->Put("c", std::string(1000, '3'));
    ExpectThrows([&] { transaction->Commit(); },
                 "cannot write \"" + dir.path("m") + "\": File too large");
    EXPECT_EQ(ReadWholeFile(dir.path("m")), before);
    ExpectThrows([&] { transaction->Commit(); }, "failed, nothing is committed");
  }
  EXPECT_EQ(ReadWholeFile(dir.path("m")), before);
}

TEST(FailingDiskTest, AFileThatFailedIsNotCommitted) {
  const TempDir dir;
  const std::string path = dir.Write("a", "old");
  {
    AtomicFile file(path);
    {
      const FileSizeLimit limit(100);
      ExpectThrows([&] { file.Write(std::string(3 << 20, 'x')); },
                   "cannot write \"" + path + "\": File too large");
    }
    ExpectThrows([&] { file.Commit(); }, "failed, the file is not complete");
  }
  EXPECT_EQ(ReadWholeFile(path), "old");
}

// Print empties the file of an earlier net, unless the lock shows that another operator has it
// open.
TEST(FailingDiskTest, PrintEmptiesItsFileWhereFilesHaveNoLocks) {
  const std::string line = "Tensor x of type float. Dims: (1,): 2\n";
  for (const auto& [error, want] :
       {std::pair(ENOLCK, line), {EOPNOTSUPP, line}, {EWOULDBLOCK, "old\n" + line}}) {
    const TempDir dir;
    const std::string path = dir.Write("x.log", "old\n");
    Workspace ws(dir.path());
    test::Feed<float>(&ws, "x", {1}, {2});
    const FileCalls calls({.call = 1, .error = error});  // after open
    (void)ws.RunOperatorOnce(
        test::ParseOp("type: 'Print' input: 'x' arg { name: 'to_file' i: 1 }"));
    ASSERT_GE(calls.all().size(), 2u);
    EXPECT_EQ(calls.all()[1].name, "flock");
    EXPECT_EQ(ReadWholeFile(path), want) << std::strerror(error);
  }
}

}  // namespace
}  // namespace caffe2rt::failing_disk_test
