#include "tests/support/file_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "caffe2_core/io/atomic_file.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::file_calls_test {
namespace {

// open, write, fsync, rename.
bool WriteAndRename(const std::string& path) {
  const std::string other = path + ".other";
  const FileDescriptor file(open(other.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return file && write(file.get(), "12345", 5) == 5 && fsync(file.get()) == 0 &&
         rename(other.c_str(), path.c_str()) == 0;
}

TEST(FileCallsTest, RecordsCallsWithTheirPaths) {
  const TempDir dir;
  const std::string path = dir.path("a");
  const FileCalls calls;
  ASSERT_TRUE(WriteAndRename(path));
  std::string all;
  for (const FileCall& call : calls.all()) {
    all += call.name + " " + call.path.substr(dir.path().size()) + " " +
           std::to_string(call.bytes) + "; ";
  }
  EXPECT_EQ(all, "open /a.other 0; write /a.other 5; fsync /a.other 0; rename /a 0; ");
}

TEST(FileCallsTest, FailsACallOrAllThatFollow) {
  const TempDir dir;
  for (size_t i = 0; i < 4; ++i) {
    const FileCalls calls({.call = i, .error = EIO});
    EXPECT_FALSE(WriteAndRename(dir.path("a")));
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(calls.all().size(), i + 1);
  }
  const FileCalls calls({.call = 1, .bytes = 2, .error = ENOSPC, .goes_on = true});
  const FileDescriptor file(open(dir.path("b").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(write(file.get(), "12345", 5), 2);
  EXPECT_EQ(write(file.get(), "345", 3), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(unlink(dir.path("b").c_str()), 0);
}

TEST(FileCallsTest, KillsTheProcessAtACall) {
  const TempDir dir;
  const auto act = [&] { WriteAndRename(dir.path("a")); };
  EXPECT_FALSE(RunAndKill({.call = 1, .bytes = 3}, act));
  EXPECT_EQ(ReadWholeFile(dir.path("a.other")), "123");
  EXPECT_FALSE(RunAndKill({.call = 3}, act));
  EXPECT_EQ(ReadWholeFile(dir.path("a.other")), "12345");
  EXPECT_TRUE(RunAndKill({.call = 4}, act));
  EXPECT_EQ(ReadWholeFile(dir.path("a")), "12345");
}

}  // namespace
}  // namespace caffe2rt::test::file_calls_test
