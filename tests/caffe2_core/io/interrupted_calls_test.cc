// System calls that write or read less than they were asked for, or are interrupted by a signal:
// the files and what is read from them are the same as without.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/standard_streams.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/file_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::interrupted_calls_test {

// How calls of this thread that read are hindered: each second one is interrupted, and the others
// get at most so many bytes. 0: not at all.
thread_local size_t t_most_read = 0;
thread_local int t_reads = 0;
// The error of the calls behind so many others. 0: none.
thread_local int t_read_error = 0, t_good_reads = 0;

// Returns the number of bytes to read, or 0 if the call fails with the errno that is set.
size_t AllowedRead(size_t bytes) {
  if (t_read_error != 0 && t_good_reads-- <= 0) {
    errno = t_read_error;
    return 0;
  }
  errno = EINTR;
  if (t_most_read == 0) return bytes;
  if (++t_reads % 2 == 0) return 0;
  return std::min(bytes, t_most_read);
}

namespace {

namespace fs = std::filesystem;
using test::ExpectThrows;
using test::FileCall;
using test::FileCalls;
using test::Interruption;
using test::TempDir;

class HinderedReads {
 public:
  explicit HinderedReads(size_t most) { t_most_read = most; }
  ~HinderedReads() { t_most_read = 0; }
  HinderedReads(const HinderedReads&) = delete;
  HinderedReads& operator=(const HinderedReads&) = delete;
};

class FailingReads {
 public:
  FailingReads(int good_reads, int error) {
    t_good_reads = good_reads;
    t_read_error = error;
  }
  ~FailingReads() { t_read_error = 0; }
  FailingReads(const FailingReads&) = delete;
  FailingReads& operator=(const FailingReads&) = delete;
};

std::string PatternOf(size_t size, int step) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(i * static_cast<size_t>(step) >> 3);
  return bytes;
}

Tensor FilledTensor(int64_t count, float first) {
  Tensor tensor(std::vector<int64_t>{count}, CPU);
  for (int64_t i = 0; i < count; ++i)
    tensor.mutable_data<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

TensorProto FilledProto() {
  TensorProto proto;
  proto.set_name("x");
  proto.set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 1000; ++i) proto.add_float_data(static_cast<float>(i));
  return proto;
}

constexpr size_t kBuffer = 1 << 20;  // of an AtomicFile

// More than its buffer holds at once, and changes of what is written and of what is not written
// yet.
void WriteInParts(const std::string& path) {
  AtomicFile file(path);
  file.Write("begin");
  file.Write(PatternOf(kBuffer + 1, 5));
  file.Write("end");
  file.Overwrite(1, "EGIN");
  file.Overwrite(static_cast<int64_t>(kBuffer) + 6, "END");
  file.Write(PatternOf(kBuffer - 3, 3));
  file.Write("!");
  file.Overwrite(0, "B");
  file.Commit();
}

struct WriterRow {
  const char* name;
  std::function<void(const std::string&)> write;
};

std::vector<WriterRow> Writers() {
  return {
      {"atomic file", WriteInParts},
      {"bytes", [](const std::string& path) { WriteFileAtomically(path, PatternOf(9, 7)); }},
      {"npy", [](const std::string& path) { WriteNpy(path, FilledTensor(700, 2)); }},
      {"npz",
       [](const std::string& path) {
         WriteNpz(path, {{"a", FilledTensor(300, 1)}, {"b", FilledTensor(1, 2)}});
       }},
      // More than the buffer: libzip's own calls write, and fail.
      {"large npz",
       [](const std::string& path) {
         WriteNpz(path, {{"a", FilledTensor(300000, 1)}, {"b", FilledTensor(1, 2)}});
       }},
      {"proto", [](const std::string& path) { WriteProtoToBinaryFile(FilledProto(), path); }},
      {"text proto", [](const std::string& path) { WriteProtoToTextFile(FilledProto(), path); }},
      {"png",
       [](const std::string& path) {
         SavePng(path, {.width = 2, .height = 1, .rgb = {1, 2, 3, 4, 5, 6}});
       }},
      {"minidb", [](const std::string& path) {
         test::Put("minidb", path, db::NEW, {{"a", "1"}, {"b", PatternOf(5000, 3)}});
       }}};
}

bool WritesBytes(const FileCall& call) {
  return call.name == "write" || call.name == "pwrite" || call.name == "writev";
}

TEST(InterruptedCallsTest, TheBytesOfAFileInPartsAreThoseOfItsCalls) {
  const TempDir dir;
  WriteInParts(dir.path("a"));
  std::string want = "BEGIN" + PatternOf(kBuffer + 1, 5) + "END" + PatternOf(kBuffer - 3, 3) + "!";
  EXPECT_TRUE(ReadWholeFile(dir.path("a")) == want);
}

TEST(InterruptedCallsTest, WritesThatAreShortOrInterruptedGoOn) {
  const TempDir dir;
  for (const WriterRow& writer : Writers()) {
    const std::string path = dir.path("file");
    std::vector<FileCall> calls;
    {
      const FileCalls recorded;
      writer.write(path);
      calls = recorded.all();
    }
    const std::string want = ReadWholeFile(path);
    size_t tried = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!WritesBytes(calls[i])) continue;
      ++tried;
      for (const Interruption& how :
           {Interruption{.call = i, .bytes = 1, .error = EIO},
            Interruption{.call = i, .error = EINTR},
            Interruption{
                .call = i, .bytes = std::max<size_t>(calls[i].bytes / 2, 1), .error = EIO}}) {
        fs::remove(path);
        {
          const FileCalls hindered(how);
          writer.write(path);
        }
        EXPECT_TRUE(ReadWholeFile(path) == want)
            << writer.name << ", call " << i << " of " << calls.size() << ", error " << how.error
            << ", bytes " << how.bytes;
      }
    }
    EXPECT_GT(tried, 0u) << writer.name;
  }
}

TEST(InterruptedCallsTest, WritesThatFailLeaveTheOldFileAlone) {
  const TempDir dir;
  for (const WriterRow& writer : Writers()) {
    const std::string path = dir.path("file");
    std::vector<FileCall> calls;
    {
      const FileCalls recorded;
      writer.write(path);
      calls = recorded.all();
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      if (!WritesBytes(calls[i])) continue;
      dir.Write("file", "old");
      std::string error;
      try {
        const FileCalls hindered({.call = i, .error = ENOSPC});
        writer.write(path);
      } catch (const EnforceNotMet& e) {
        error = e.message();
      }
      EXPECT_NE(error.find(path), std::string::npos) << writer.name << ": " << error;
      EXPECT_NE(error.find(std::strerror(ENOSPC)), std::string::npos)
          << writer.name << ": " << error;
      EXPECT_EQ(ReadWholeFile(path), "old") << writer.name << ", call " << i;
      EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1) << writer.name;
    }
  }
}

// What a file kept open for later writes does after an error.
TEST(InterruptedCallsTest, AFileWithAFailedWriteIsNotCommitted) {
  const TempDir dir;
  const std::string path = dir.Write("file", "old");
  {
    AtomicFile file(path);
    file.Write("12345");
    {
      const FileCalls hindered({.call = 0, .error = EIO});
      ExpectThrows([&] { file.Commit(); }, "cannot write \"" + path + "\": Input/output error");
    }
    ExpectThrows([&] { file.Commit(); },
                 "an earlier write to \"" + path + "\" failed, the file is not complete");
  }
  EXPECT_EQ(ReadWholeFile(path), "old");
  {
    AtomicFile file(path);
    file.Write(PatternOf(kBuffer + 2, 1));  // is written at once
    {
      const FileCalls hindered({.call = 0, .error = EIO});
      ExpectThrows([&] { file.Overwrite(3, "x"); },
                   "cannot write \"" + path + "\": Input/output error");
    }
    ExpectThrows([&] { file.Commit(); }, "an earlier write to \"" + path + "\" failed");
  }
  EXPECT_EQ(ReadWholeFile(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
}

TEST(InterruptedCallsTest, BytesBeyondTheFileAreNotOverwritten) {
  const TempDir dir;
  const std::string path = dir.path("file");
  AtomicFile file(path);
  file.Write("123");
  const std::string message = "of \"" + path + "\": it has 3";
  ExpectThrows([&] { file.Overwrite(1, "abc"); }, "cannot overwrite bytes 1 to 4 " + message);
  ExpectThrows([&] { file.Overwrite(-1, "a"); }, "cannot overwrite bytes -1 to 0 " + message);
  file.Overwrite(3, "");
  file.Overwrite(1, "bc");
  file.Overwrite(0, "a");
  file.Commit();
  EXPECT_EQ(ReadWholeFile(path), "abc");
}

// Appends to a minidb are all or nothing.
TEST(InterruptedCallsTest, AppendedRecordsGoOnOrAreTakenBack) {
  const TempDir dir;
  const std::string path = dir.path("m");
  const auto append = [&](const Interruption& how) {
    const auto database = db::CreateDB("minidb", path, db::WRITE);
    const auto transaction = database->NewTransaction();
    transaction->Put("b", PatternOf(100, 2));
    transaction->Put("c", "3");
    const FileCalls hindered(how);
    transaction->Commit();
  };
  const test::Records all = {{"a", "1"}, {"b", PatternOf(100, 2)}, {"c", "3"}};
  for (const Interruption& how : {Interruption{}, Interruption{.call = 0, .bytes = 1, .error = EIO},
                                  Interruption{.call = 0, .bytes = 60, .error = EIO},
                                  Interruption{.call = 0, .error = EINTR}}) {
    test::Put("minidb", path, db::NEW, {{"a", "1"}});
    append(how);
    EXPECT_EQ(test::GetAll("minidb", path), all) << how.bytes << " " << how.error;
  }
  test::Put("minidb", path, db::NEW, {{"a", "1"}});
  ExpectThrows([&] { append({.call = 0, .error = ENOSPC}); },
               "cannot write \"" + path + "\": No space left on device");
  EXPECT_EQ(test::GetAll("minidb", path), (test::Records{{"a", "1"}}));
}

// What ReadWholeFile reads from a pipe with these bytes, while the calls that keep them are
// hindered.
std::string KeptPipe(const std::string& bytes, const Interruption& how) {
  int ends[2];
  CAFFE_ENFORCE_EQ(pipe(ends), 0);
  const FileDescriptor from(ends[0]);
  {
    const FileDescriptor to(ends[1]);
    CAFFE_ENFORCE_EQ(write(to.get(), bytes.data(), bytes.size()),
                     static_cast<ssize_t>(bytes.size()));
  }
  const FileCalls hindered(how);
  return ReadWholeFile(MakeString("/proc/self/fd/", from.get()));
}

// In a child process, because a process that keeps pipes does so until its end.
TEST(InterruptedCallsTest, PipesAreKeptWholeOrNotAtAll) {
  const pid_t child = fork();
  if (child == 0) {
    UseStandardStreams();
    const std::string bytes = PatternOf(3000, 4);
    bool fine = true;
    for (const Interruption& how : {Interruption{}, Interruption{.call = 0, .error = EINTR},
                                    Interruption{.call = 0, .bytes = 1, .error = EIO}}) {
      EXPECT_NO_THROW(fine &= KeptPipe(bytes, how) == bytes);
    }
    ExpectThrows([&] { KeptPipe(bytes, {.call = 0, .error = ENOSPC}); },
                 "cannot keep the content of \"/proc/self/fd/");
    ExpectThrows([&] { KeptPipe(bytes, {.call = 0, .error = ENOSPC}); },
                 "\": No space left on device");
    _exit(fine && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(InterruptedCallsTest, ReadsThatAreShortOrInterruptedGoOn) {
  const TempDir dir;
  const std::string bytes = PatternOf(10000, 9);
  const std::string path = dir.Write("file", bytes);
  for (const size_t most : {1u, 7u, 4096u, 100000u}) {
    const HinderedReads hindered(most);
    EXPECT_TRUE(ReadWholeFile(path) == bytes) << most;
    EXPECT_TRUE(ReadWholeFile(path, 10000) == bytes) << most;
    const FileDescriptor file = OpenForReading(path);
    std::string part(5000, '\0');
    ReadAt(file, path, 2500, part.data(), part.size());
    EXPECT_TRUE(part == bytes.substr(2500, 5000)) << most;
    ExpectThrows([&] { ReadAt(file, path, 9000, part.data(), part.size()); },
                 "file \"" + path + "\" is truncated: it ends before byte 14000");
  }
}

// A read that fails is an error with its reason, whoever reads, and the next one is not.
TEST(InterruptedCallsTest, ReadsThatFailAreErrors) {
  const TempDir dir;
  const std::string bytes = PatternOf(3000, 9), path = dir.Write("file", bytes);
  const auto error_of = [&](const std::string& name) {
    return "cannot read \"" + name + "\": Input/output error";
  };
  for (const int good : {0, 1, 2}) {
    const HinderedReads hindered(1000);  // several calls
    ExpectThrows(
        [&] {
          const FailingReads failing(good, EIO);
          ReadWholeFile(path);
        },
        error_of(path));
    std::string part(2500, '\0');
    const FileDescriptor file = OpenForReading(path);
    ExpectThrows(
        [&] {
          const FailingReads failing(good, EIO);
          ReadAt(file, path, 100, part.data(), part.size());
        },
        error_of(path));
    ReadAt(file, path, 100, part.data(), part.size());
    EXPECT_TRUE(part == bytes.substr(100, 2500));
  }
  for (const int good : {0, 1}) {  // the first byte, and the rest of a file of unknown size
    ExpectThrows(
        [&] {
          const FailingReads failing(good, EIO);
          ReadWholeFile("/proc/self/cmdline");
        },
        error_of("/proc/self/cmdline"));
  }
  const test::Records records = {{"a", "1"}, {"b", PatternOf(3000, 3)}};
  WriteNpy(dir.path("x.npy"), FilledTensor(7, 2));
  WriteProtoToBinaryFile(FilledProto(), dir.path("x.pb"));
  SavePng(dir.path("x.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  test::Put("minidb", dir.path("m"), db::NEW, records);
  test::Put("lmdb", dir.path("l"), db::NEW, records);
  TensorProto proto;
  const std::vector<std::pair<std::string, std::function<void(const std::string&)>>> readers = {
      {"x.npy", [](const std::string& name) { ReadNpy(name); }},
      {"x.png", [](const std::string& name) { LoadImage(name); }},
      {"x.pb", [&](const std::string& name) { LoadProto(name, &proto); }},
      {"m", [](const std::string& name) { test::GetAll("minidb", name); }},
      {"l", [](const std::string& name) { test::GetAll("lmdb", name); }}};
  for (const auto& [name, read] : readers) {
    SCOPED_TRACE(name);
    const std::string file = dir.path(name);
    std::string message;
    try {
      const FailingReads failing(0, EIO);
      read(file);
    } catch (const EnforceNotMet& error) {
      message = error.message();
    }
    EXPECT_NE(message.find(error_of(name == "l" ? file + "/data.mdb" : file)), std::string::npos)
        << message;
    read(file);
  }
  EXPECT_EQ(proto.float_data_size(), 1000);
}

// A pipe states no size: what is read is kept in a buffer that grows.
TEST(InterruptedCallsTest, FilesOfUnknownSizeAreReadToTheirEnd) {
  const std::string want = [] {
    const HinderedReads unhindered(0);
    return ReadWholeFile("/proc/self/cmdline");  // has a size of 0
  }();
  ASSERT_FALSE(want.empty());
  for (const size_t most : {1u, 3u}) {
    const HinderedReads hindered(most);
    EXPECT_EQ(ReadWholeFile("/proc/self/cmdline"), want);
  }
  ExpectThrows([&] { ReadWholeFile("/proc/self/cmdline", 2); },
               "bytes of file \"/proc/self/cmdline\": got more than 2 bytes");
  const int64_t size = static_cast<int64_t>(want.size());
  EXPECT_EQ(ReadWholeFile("/proc/self/cmdline", size), want);
  ExpectThrows([&] { ReadWholeFile("/proc/self/cmdline", size - 1); }, "got more than ");
  // Several buffers' worth: the list of the process's mappings.
  const std::string maps = ReadWholeFile("/proc/self/maps");
  EXPECT_GT(maps.size(), 4096u);
  EXPECT_EQ(maps.back(), '\n');
  EXPECT_EQ(maps.find('\0'), std::string::npos);
}

TEST(InterruptedCallsTest, DatabasesAndArraysAreReadWhole) {
  const TempDir dir;
  const test::Records records = {{"a", "1"}, {"b", PatternOf(3000, 3)}, {"c", "33"}};
  test::Put("minidb", dir.path("m"), db::NEW, records);
  test::Put("lmdb", dir.path("l"), db::NEW, records);
  WriteNpy(dir.path("x.npy"), FilledTensor(700, 2));
  for (const size_t most : {5u, 1000u}) {
    const HinderedReads hindered(most);
    EXPECT_EQ(test::GetAll("minidb", dir.path("m")), records);
    EXPECT_EQ(test::GetAll("lmdb", dir.path("l")), records);
    EXPECT_EQ(ReadNpy(dir.path("x.npy")).data<float>()[699], 701);
  }
}

}  // namespace
}  // namespace caffe2rt::interrupted_calls_test

// Replacements for functions of the C library, as in file_calls.cc.
extern "C" {

ssize_t read(int fd, void* data, size_t bytes) {
  const size_t allowed = caffe2rt::interrupted_calls_test::AllowedRead(bytes);
  if (allowed == 0 && bytes > 0) return -1;
  return syscall(SYS_read, fd, data, allowed);
}
ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
  const size_t allowed = caffe2rt::interrupted_calls_test::AllowedRead(bytes);
  if (allowed == 0 && bytes > 0) return -1;
  return syscall(SYS_pread64, fd, data, allowed, offset);
}

}  // extern "C"
