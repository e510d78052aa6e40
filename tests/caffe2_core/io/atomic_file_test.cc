#include "caffe2_core/io/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt {
namespace {

using test::ExpectThrows;
using test::TempDir;

size_t FilesIn(const TempDir& dir) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path()))
    ++count;
  return count;
}

TEST(AtomicFileTest, LeavesTheOldFileUntilCommit) {
  const TempDir dir;
  const std::string path = dir.Write("a", "old");
  AtomicFile file(path);
  file.Write("new");
  EXPECT_EQ(ReadWholeFile(path), "old");
  file.Commit();
  EXPECT_EQ(ReadWholeFile(path), "new");
  EXPECT_EQ(FilesIn(dir), 1u);
}

TEST(AtomicFileTest, RemovesItsTemporaryFileWithoutCommit) {
  const TempDir dir;
  { AtomicFile(dir.path("a")).Write("x"); }
  EXPECT_EQ(FilesIn(dir), 0u);
}

TEST(AtomicFileTest, GoesOnAtTheEndAfterCommit) {
  const TempDir dir;
  AtomicFile file(dir.path("a"));
  file.Write("one ");
  file.Commit();
  file.Write(std::string(3 << 20, 'x'));
  file.Commit();
  EXPECT_EQ(ReadWholeFile(dir.path("a")).size(), 4u + (3 << 20));
}

TEST(AtomicFileTest, KeepsModeAndLinkOfTheFileItReplaces) {
  const TempDir dir;
  const std::string target = dir.Write("target", "old");
  chmod(target.c_str(), 0640);
  std::filesystem::create_symlink("target", dir.path("link"));
  WriteFileAtomically(dir.path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path("link")));
  EXPECT_EQ(ReadWholeFile(target), "new");
  struct stat info;
  ASSERT_EQ(stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(AtomicFileTest, WritesDevicesDirectly) { WriteFileAtomically("/dev/null", "x"); }

TEST(AtomicFileTest, SaysWhatCannotBeWritten) {
  const TempDir dir;
  ExpectThrows([&] { WriteFileAtomically(dir.path("no/a"), "x"); }, "No such file or directory");
  ExpectThrows([&] { WriteFileAtomically(dir.path(), "x"); }, "it is a directory");
  ExpectThrows([&] { WriteFileAtomically("/dev/full", "x"); }, "No space left");
}

TEST(ReadWholeFileTest, SaysWhatCannotBeRead) {
  const TempDir dir;
  ExpectThrows([&] { ReadWholeFile(dir.path("no")); }, "No such file or directory");
  ExpectThrows([&] { ReadWholeFile(dir.path()); }, "it is a directory");
  ExpectThrows([&] { ReadWholeFile(dir.Write("a", "12345"), 4); }, "bytes of file");
  EXPECT_EQ(ReadWholeFile("/dev/null"), "");
}

}  // namespace
}  // namespace caffe2rt
