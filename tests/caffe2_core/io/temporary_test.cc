#include "caffe2_core/io/temporary.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "caffe2_core/io/atomic_folder.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::temporary_test {
namespace {

using test::TempDir;

const std::string kFile = ".a.caffe2rt-tmp-12-0123456789abcdef";
const std::string kFolder = ".b.minidb.caffe2rt-tmp-3-fedcba9876543210";

std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

FileDescriptor Lock(const std::string& path) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(flock(file.get(), LOCK_EX | LOCK_NB), 0) << path;
  return file;
}

TEST(TemporaryTest, TheNextSaveRemovesWhatAKilledProcessLeft) {
  const TempDir dir;
  dir.Write(kFile, "half");
  for (const char* name : {"CURRENT", "LOCK", "LOG", "LOG.old", "MANIFEST-000002", "000003.log",
                           "000004.ldb", "000005.sst", "000001.dbtmp", "data.mdb", "lock.mdb"}) {
    dir.Write(kFolder + "/" + name, "x");
  }
  WriteFileAtomically(dir.path("c"), "x");
  EXPECT_EQ(NamesIn(dir.path()), std::set<std::string>{"c"});
  dir.Write(kFile, "half");
  { AtomicFolder(dir.path("d"), 0755).Commit(); }
  EXPECT_EQ(NamesIn(dir.path()), (std::set<std::string>{"c", "d"}));
}

TEST(TemporaryTest, WhatIsLockedStays) {
  const TempDir dir;
  dir.Write(kFile, "half");
  dir.Write(kFolder + "/CURRENT", "x");
  {
    const FileDescriptor file = Lock(dir.path(kFile));
    const FileDescriptor folder = Lock(dir.path(kFolder));
    WriteFileAtomically(dir.path("c"), "x");
    EXPECT_EQ(NamesIn(dir.path()), (std::set<std::string>{kFile, kFolder, "c"}));
    EXPECT_TRUE(std::filesystem::exists(dir.path(kFolder + "/CURRENT")));
  }
  WriteFileAtomically(dir.path("c"), "x");
  EXPECT_EQ(NamesIn(dir.path()), std::set<std::string>{"c"});
}

TEST(TemporaryTest, WritersInOneFolderLeaveEachOtherAlone) {
  const TempDir dir;
  AtomicFile file(dir.path("a"));
  file.Write("1");
  AtomicFolder folder(dir.path("b"), 0755);
  dir.Write(std::filesystem::path(folder.path()).filename().string() + "/CURRENT", "2");
  WriteFileAtomically(dir.path("c"), "3");
  AtomicFile same(dir.path("a"));
  same.Write("4");
  file.Commit();
  folder.Commit();
  EXPECT_EQ(ReadWholeFile(dir.path("a")), "1");
  EXPECT_EQ(ReadWholeFile(dir.path("b/CURRENT")), "2");
  same.Commit();
  EXPECT_EQ(ReadWholeFile(dir.path("a")), "4");
  EXPECT_EQ(NamesIn(dir.path()), (std::set<std::string>{"a", "b", "c"}));
}

TEST(TemporaryTest, OtherFilesStay) {
  const TempDir dir;
  const std::string digits = "0123456789abcdef";
  for (const std::string& name : std::vector<std::string>{
           "a.tmp.12.0", "a.caffe2rt-tmp-12-" + digits, ".caffe2rt-tmp-12-" + digits,
           ".a.caffe2rt-tmp--" + digits, ".a.caffe2rt-tmp-1x-" + digits,
           ".a.caffe2rt-tmp-12-0123456789abcde", ".a.caffe2rt-tmp-12-" + digits + "0",
           ".a.caffe2rt-tmp-12-0123456789ABCDEF", ".a.caffe2rt-tmp-12" + digits,
           ".a.caffe2rt-tmp-12-" + digits + ".bak", "target"}) {
    dir.Write(name, "x");
  }
  dir.Write(".f.caffe2rt-tmp-1-" + digits + "/notes.txt", "x");
  dir.Write(".f.caffe2rt-tmp-1-" + digits + "/CURRENT", "x");
  dir.Write(".f.caffe2rt-tmp-2-" + digits + "/LOG/x", "x");
  dir.Write(".f.caffe2rt-tmp-3-" + digits + "/MANIFEST-", "x");
  dir.Write(".f.caffe2rt-tmp-4-" + digits + "/1.log.gz", "x");
  std::filesystem::create_symlink("target", dir.path(".l.caffe2rt-tmp-1-" + digits));
  std::filesystem::create_directory_symlink(".", dir.path(".l.caffe2rt-tmp-2-" + digits));
  std::filesystem::create_hard_link(dir.path("target"), dir.path(".h.caffe2rt-tmp-1-" + digits));
  ASSERT_EQ(mkfifo(dir.path(".p.caffe2rt-tmp-1-" + digits).c_str(), 0600), 0);
  const std::set<std::string> before = NamesIn(dir.path());
  WriteFileAtomically(dir.path("target"), "x");
  EXPECT_EQ(NamesIn(dir.path()), before);
  for (const char* file : {"1-0123456789abcdef/notes.txt", "1-0123456789abcdef/CURRENT",
                           "2-0123456789abcdef/LOG/x", "3-0123456789abcdef/MANIFEST-"}) {
    EXPECT_TRUE(std::filesystem::exists(dir.path(std::string(".f.caffe2rt-tmp-") + file))) << file;
  }
}

// Only the administrator can give a file to another user, and may then write as anybody.
TEST(TemporaryTest, WhatAnotherUserLeftStays) {
  const TempDir dir;
  const std::string path = dir.Write(kFile, "half");
  dir.Write(kFolder + "/CURRENT", "x");
  const std::string folder = dir.path(kFolder);
  const uid_t other = geteuid() + 1;
  const bool given =
      chown(path.c_str(), other, gid_t(-1)) == 0 && chown(folder.c_str(), other, gid_t(-1)) == 0;
  WriteFileAtomically(dir.path("c"), "x");
  EXPECT_EQ(NamesIn(dir.path()),
            given ? (std::set<std::string>{kFile, kFolder, "c"}) : (std::set<std::string>{"c"}));
}

TEST(TemporaryTest, NamesMayBeAsLongAsTheSystemAllows) {
  const TempDir dir;
  const std::string name(255, 'n');
  WriteFileAtomically(dir.path(name), "x");
  EXPECT_EQ(ReadWholeFile(dir.path(name)), "x");
}

}  // namespace
}  // namespace caffe2rt::temporary_test
