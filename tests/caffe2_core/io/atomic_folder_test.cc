#include "caffe2_core/io/atomic_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::atomic_folder_test {
namespace {

namespace fs = std::filesystem;
using test::ExpectThrows;
using test::TempDir;

int64_t EntriesIn(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFolderTest, AppearsWithItsFilesAtCommit) {
  const TempDir dir;
  AtomicFolder folder(dir.path("db/"), 0755);
  EXPECT_FALSE(fs::exists(dir.path("db")));
  EXPECT_EQ(fs::path(folder.path()).parent_path(), dir.path());
  WriteFileAtomically(folder.path() + "/CURRENT", "x");
  folder.Commit();
  EXPECT_EQ(folder.path(), dir.path("db"));
  EXPECT_EQ(ReadWholeFile(dir.path("db/CURRENT")), "x");
  EXPECT_EQ(EntriesIn(dir.path()), 1);
}

TEST(AtomicFolderTest, GoesWithoutCommit) {
  const TempDir dir;
  {
    const AtomicFolder folder(dir.path("db"), 0755);
    WriteFileAtomically(folder.path() + "/CURRENT", "x");
  }
  EXPECT_EQ(EntriesIn(dir.path()), 0);
}

TEST(AtomicFolderTest, KeepsWhatWasMadeInTheMeantime) {
  const TempDir dir;
  {
    AtomicFolder first(dir.path("db"), 0755), second(dir.path("db"), 0755), third(dir.path("f"), 0);
    WriteFileAtomically(first.path() + "/CURRENT", "1");
    WriteFileAtomically(second.path() + "/CURRENT", "2");
    first.Commit();
    ExpectThrows([&] { second.Commit(); },
                 "cannot put \"" + dir.path("db") +
                     "\" in place: something else was created there in the meantime");
    dir.Write("f", "file");
    ExpectThrows([&] { third.Commit(); }, "something else was created there in the meantime");
  }
  EXPECT_EQ(ReadWholeFile(dir.path("db/CURRENT")), "1");
  EXPECT_EQ(ReadWholeFile(dir.path("f")), "file");
  EXPECT_EQ(EntriesIn(dir.path()), 2);
}

TEST(AtomicFolderTest, ReplacesAnEmptyFolder) {
  const TempDir dir;
  fs::create_directory(dir.path("db"));
  fs::permissions(dir.path("db"), fs::perms(0750));
  fs::create_directory_symlink("db", dir.path("link"));
  EXPECT_TRUE(AtomicFolder::IsFree(dir.path("link")));
  AtomicFolder folder(dir.path("link"), 0777);
  WriteFileAtomically(folder.path() + "/CURRENT", "x");
  folder.Commit();
  EXPECT_TRUE(fs::is_symlink(dir.path("link")));
  EXPECT_EQ(ReadWholeFile(dir.path("db/CURRENT")), "x");
  EXPECT_EQ(fs::status(dir.path("db")).permissions(), fs::perms(0750));
}

TEST(AtomicFolderTest, ReportsWhichTargetsAreFree) {
  const TempDir dir;
  EXPECT_TRUE(AtomicFolder::IsFree(dir.path("none")));
  EXPECT_FALSE(AtomicFolder::IsFree(dir.Write("file", "")));
  dir.Write("full/x", "");
  EXPECT_FALSE(AtomicFolder::IsFree(dir.path("full")));
  fs::create_symlink("none", dir.path("dangling"));
  EXPECT_FALSE(AtomicFolder::IsFree(dir.path("dangling")));
  ExpectThrows([&] { AtomicFolder(dir.path("no/db"), 0755); },
               "cannot create a folder in \"" + dir.path("no") + "\" to write \"" +
                   dir.path("no/db") + "\": No such file or directory");
}

}  // namespace
}  // namespace caffe2rt::atomic_folder_test
