#include "caffe2_core/io/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::atomic_file_test {
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

TEST(AtomicFileTest, OverwritesBytesWhereverTheyAre) {
  const TempDir dir;
  std::string want(3 << 20, 'x');
  AtomicFile file(dir.path("a"));
  const auto overwrite = [&](size_t offset, const std::string& bytes) {
    file.Overwrite(static_cast<int64_t>(offset), bytes);
    want.replace(offset, bytes.size(), bytes);
  };
  file.Write("buffered");
  file.Overwrite(2, "FF");
  want.insert(0, "buFFered");
  for (int i = 0; i < 3; ++i) file.Write(std::string(1 << 20, 'x'));
  overwrite(0, "on the disk");
  overwrite(want.size() - 3, "end");
  overwrite((2 << 20) - 4, std::string(100, 'y'));
  file.Write("after");
  want += "after";
  overwrite(want.size() - 10, "in between");
  ExpectThrows([&] { file.Overwrite(static_cast<int64_t>(want.size()) - 1, "ab"); },
               "cannot overwrite bytes");
  file.Commit();
  EXPECT_TRUE(ReadWholeFile(dir.path("a")) == want);
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

TEST(AtomicFileTest, ReportsPathsThatCannotBeWritten) {
  const TempDir dir;
  ExpectThrows([&] { WriteFileAtomically(dir.path("no/a"), "x"); }, "No such file or directory");
  ExpectThrows([&] { WriteFileAtomically(dir.path(), "x"); }, "it is a directory");
  ExpectThrows([&] { WriteFileAtomically("/dev/full", "x"); }, "No space left");
}

TEST(ReadWholeFileTest, ReportsFilesThatCannotBeRead) {
  const TempDir dir;
  ExpectThrows([&] { ReadWholeFile(dir.path("no")); }, "No such file or directory");
  ExpectThrows([&] { ReadWholeFile(dir.path()); }, "it is a directory");
  ExpectThrows([&] { ReadWholeFile(dir.Write("a", "12345"), 4); }, "bytes of file");
  EXPECT_EQ(ReadWholeFile("/dev/null"), "");
}

// Writes to a pipe on another thread while ReadWholeFile reads from it.
std::string ReadPipeOf(size_t bytes, int64_t limit_bytes) {
  const TempDir dir;
  CAFFE_ENFORCE_EQ(mkfifo(dir.path("pipe").c_str(), 0600), 0, "cannot make a pipe");
  std::jthread writer([&] {
    const FileDescriptor file(open(dir.path("pipe").c_str(), O_WRONLY | O_CLOEXEC));
    // A second reader keeps the pipe open if the first one closes it early. The pipe holds the
    // whole text.
    const FileDescriptor reader(open(dir.path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const std::string text(bytes, 'x');
    CAFFE_ENFORCE_EQ(write(file.get(), text.data(), bytes), static_cast<ssize_t>(bytes), "pipe");
  });
  return ReadWholeFile(dir.path("pipe"), limit_bytes);
}

TEST(ReadWholeFileTest, LimitsWhatAPipeGives) {
  EXPECT_EQ(ReadPipeOf(100, 100).size(), 100u);
  EXPECT_EQ(ReadPipeOf(20000, 20000).size(), 20000u);
  for (const size_t bytes : {size_t{101}, size_t{5000}, size_t{20001}}) {
    ExpectThrows([&] { ReadPipeOf(bytes, bytes > 20000 ? 20000 : 100); }, "bytes of file \"");
  }
}

}  // namespace
}  // namespace caffe2rt::atomic_file_test
