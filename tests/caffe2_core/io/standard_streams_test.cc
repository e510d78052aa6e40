#include "caffe2_core/io/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>

#include "caffe2_core/io/atomic_file.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::standard_streams_test {
namespace {

// Whether both processes end with status 0. Each may wait in open() for the other one: if one fails, both are killed.
bool BothSucceed(pid_t a, pid_t b) {
  bool succeed = true;
  for (int ended = 0; ended < 2; ++ended) {
    int status = 0;
    const pid_t first = waitpid(-1, &status, 0);
    if (first == a || first == b) (first == a ? a : b) = 0;
    if (first > 0 && status == 0) continue;
    succeed = false;
    if (a > 0) kill(a, SIGKILL);
    if (b > 0) kill(b, SIGKILL);
  }
  return succeed;
}

// Whether OpenKeptPipe throws an error that contains `part` for a named pipe of `bytes` bytes, or none if `part` is
// empty. In another process, because UseStandardStreams is for the rest of a process.
bool KeepsPipe(size_t bytes, int64_t limit_bytes, const std::string& part) {
  const TempDir dir;
  const std::string path = dir.path("pipe");
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    const int pipe = open(path.c_str(), O_WRONLY | O_CLOEXEC);  // waits for the reader
    const std::string content(bytes, 'x');
    _exit(write(pipe, content.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
  }
  const pid_t reader = fork();
  if (reader == 0) {
    UseStandardStreams();
    std::string error;
    try {
      (void)internal::OpenKeptPipe(path, limit_bytes);
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    const bool wanted = part.empty() ? error.empty() : error.find(part) != std::string::npos;
    _exit(wanted ? 0 : 1);
  }
  EXPECT_TRUE(writer > 0 && reader > 0);
  return BothSucceed(writer, reader);
}

// A caller's limit counts for pipes as for standard input.
TEST(StandardStreamsTest, APipeIsReadUpToTheLimitOfItsReader) {
  EXPECT_TRUE(KeepsPipe(8, 8, ""));
  EXPECT_TRUE(KeepsPipe(9, 8, "got more than 8"));
}

TEST(StandardStreamsTest, AFolderAsStandardInputIsRejected) {
  const TempDir dir;
  const pid_t reader = fork();
  if (reader == 0) {
    const int folder = open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || dup2(folder, STDIN_FILENO) < 0) _exit(2);
    UseStandardStreams();
    std::string error;
    try {
      (void)internal::OpenKeptPipe("-", 8);
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    _exit(error.find("standard input is a directory") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
}

// What a process reads from "-" if its standard input is a file with "abcdef" of which `before` bytes have been read.
std::string ReadsBehind(off_t before) {
  const TempDir dir;
  const std::string path = dir.Write("in", "abcdef"), out = dir.path("out");
  const pid_t reader = fork();
  if (reader == 0) {
    const int in = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (in < 0 || lseek(in, before, SEEK_SET) != before || dup2(in, STDIN_FILENO) < 0) _exit(2);
    UseStandardStreams();
    char bytes[16];
    const FileDescriptor file = internal::OpenKeptPipe("-", 100);
    const ssize_t got = read(file.get(), bytes, sizeof(bytes));
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    _exit(got >= 0 && write(to, bytes, static_cast<size_t>(got)) == got ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
  return ReadWholeFile(out);
}

TEST(StandardStreamsTest, AFileAsStandardInputIsReadFromWhereItStands) {
  EXPECT_EQ(ReadsBehind(0), "abcdef");
  EXPECT_EQ(ReadsBehind(3), "def");
  EXPECT_EQ(ReadsBehind(6), "");
}

// What `act` returns in a process that uses standard streams.
std::string InProcess(const std::function<std::string()>& act) {
  const TempDir dir;
  const std::string out = dir.path("out");
  const pid_t child = fork();
  if (child == 0) {
    UseStandardStreams();
    const std::string text = act();
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    _exit(write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return ReadWholeFile(out);
}

// Makes the bytes the content of a pipe that is standard input.
void PipeIn(const std::string& bytes) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], bytes.data(), bytes.size()) < 0) _exit(3);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  close(ends[1]);
}

TEST(StandardStreamsTest, NamesWhatCannotBeRead) {
  const TempDir dir;
  const struct {
    std::function<void()> prepare;
    std::string path, message;
  } rows[] = {
      {[] { close(STDIN_FILENO); }, "-", "cannot read \"-\", standard input: Bad file descriptor"},
      {[&] { dup2(open(dir.path().c_str(), O_RDONLY | O_DIRECTORY), STDIN_FILENO); }, "-",
       "cannot read \"-\": standard input is a directory"},
      {[] { dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDIN_FILENO); }, "-",
       "cannot read \"-\": Bad file descriptor: got -1, want at least 0"},
      {[] { PipeIn("12345"); }, "-", "bytes of file \"-\": got more than 4 bytes"},
      {[] { PipeIn("1234"); }, "-", "(nothing was thrown)"},
      {[] {}, "/dev/null", "(nothing was thrown)"},
      {[] {}, "/dev/zero",
       "cannot read \"/dev/zero\": it is a device without an end, want a file or a pipe"},
      {[] {}, "/dev/full",
       "cannot read \"/dev/full\": it is a device without an end, want a file or a pipe"},
      {[] {}, "/dev/random",
       "cannot read \"/dev/random\": it is a device without an end, want a file or a pipe"},
      {[] {}, "/dev/urandom",
       "cannot read \"/dev/urandom\": it is a device without an end, want a file or a pipe"},
      {[] {}, dir.path("none"),
       "cannot open \"" + dir.path("none") + "\": No such file or directory"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(InProcess([&row] {
                row.prepare();
                return MessageOf([&row] { (void)ReadWholeFile(row.path, 4); });
              }),
              row.message);
  }
}

TEST(StandardStreamsTest, StandardInputIsReadAgainAndAgain) {
  EXPECT_EQ(InProcess([] {
              PipeIn("abc");
              std::string all = ReadWholeFile("-") + ReadWholeFile("-", 3);
              const FileDescriptor file = OpenForReading("-");
              char last = 0;
              ReadAt(file, "-", 2, &last, 1);
              all += last;
              all += MakeString(IsStandardStream("-"), IsStandardStream("x"), PathExists("-"),
                                CanReadAgain("-"), CanReadAgain("/dev/null"), CanReadAgain("/"));
              return all;
            }),
            "abcabcc101110");
}

// Also where the bytes are overwritten before they are complete.
TEST(StandardStreamsTest, StandardOutputIsWritten) {
  const TempDir dir;
  const std::string path = dir.Write("out", "");
  EXPECT_EQ(InProcess([&] {
              dup2(open(path.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
              WriteFileAtomically("-", "one ");
              AtomicFile file("-", AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere);
              file.Write("two");
              const bool before = file.committed();
              file.Overwrite(0, "T");
              file.Commit();
              return MakeString(before, file.committed(), file.size());
            }),
            "013");
  EXPECT_EQ(ReadWholeFile(path), "one Two");
}

// Lengths around those of the pieces of 1 MiB in which the content is copied.
TEST(StandardStreamsTest, LongOutputIsWrittenWhole) {
  constexpr size_t kPiece = 1 << 20;
  for (const size_t size : {kPiece - 1, kPiece, kPiece + 1, 3 * kPiece + 5}) {
    const TempDir dir;
    const std::string path = dir.Write("out", "");
    std::string want(size, '\0');
    for (size_t i = 0; i < size; ++i) want[i] = static_cast<char>('a' + i % 23);
    want.replace(0, 5, "BEGIN");
    want.replace(size - 3, 3, "END");
    EXPECT_EQ(InProcess([&] {
                dup2(open(path.c_str(), O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
                AtomicFile file("-", AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere);
                file.Write(std::string(5, '?') + want.substr(5, size - 8) + "???");
                file.Overwrite(static_cast<int64_t>(size) - 3, "END");
                file.Overwrite(0, "BEGIN");
                file.Commit();
                return MakeString(file.size());
              }),
              MakeString(size));
    EXPECT_TRUE(ReadWholeFile(path) == want) << size;
  }
}

}  // namespace
}  // namespace caffe2rt::test::standard_streams_test
