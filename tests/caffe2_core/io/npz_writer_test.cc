#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/caffe2_core/io/zip_bytes.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::npz_writer_test {
namespace {

using namespace std::string_literals;
using namespace test;

template <class T>
Tensor TensorOf(const std::vector<T>& values) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(values.size())}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

size_t FilesIn(const TempDir& dir) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(dir.path()), {}));
}

TEST(WriteNpzTest, WritesArraysThatReadBackTheSame) {
  const TempDir dir;
  const std::string path = dir.path("a.npz");
  const NamedTensors tensors = {{"floats", TensorOf<float>({1.5f, -2})},
                                {"bytes", TensorOf<uint8_t>({1, 2, 3})},
                                {"empty", TensorOf<int64_t>({})},
                                {"large", TensorOf(std::vector<double>(400000, 0.25))},
                                {"after", TensorOf<int32_t>({7})}};
  WriteNpz(path, tensors);
  const NamedTensors read = ReadNpz(path);
  ASSERT_EQ(read.size(), tensors.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].first, tensors[i].first);
    EXPECT_EQ(NpyBytes(read[i].second), NpyBytes(tensors[i].second)) << read[i].first;
  }
  EXPECT_EQ(FilesIn(dir), 1u);
}

TEST(WriteNpzTest, KeepsNamesOfAnyBytes) {
  const TempDir dir;
  const Tensor x = TensorOf<uint8_t>({1});
  NamedTensors tensors;
  for (const std::string& name :
       {"gpu_0/conv1"s, "/root"s, "../up"s, "gr\xc3\xb6\xc3\x9f"s, "\xff\xfe\x80"s, "a b\n\x1b"s,
        "x.npy"s, ""s, std::string(65531, 'n')}) {
    tensors.emplace_back(name, x);
  }
  WriteNpz(dir.path("a.npz"), tensors);
  const NamedTensors read = ReadNpz(dir.path("a.npz"));
  ASSERT_EQ(read.size(), tensors.size());
  for (size_t i = 0; i < read.size(); ++i) EXPECT_EQ(read[i].first, tensors[i].first);
}

// The local header and the directory entry differ in the version of the writer, which libzip sets
// to 6.3 on Unix, and in the file mode, rw-rw-rw- of a regular file.
TEST(WriteNpzTest, WritesTheSameBytesAtAnyTime) {
  const TempDir dir;
  const std::string path = dir.path("a.npz");
  const Tensor tensor = TensorOf<float>({1, 2, 3});
  const std::string npy = NpyBytes(tensor), name = "gr\xc3\xb6\xc3\x9f.npy";
  // Version 1.0, the flag for UTF-8, stored, 0 o'clock on 1980-01-01.
  const std::string common = U16(10) + U16(1 << 11) + U16(0) + U16(0) + U16(1 << 5 | 1) +
                             U32(Crc32(npy)) + U32(npy.size()) + U32(npy.size()) +
                             U16(name.size()) + U16(0);
  const std::string local = "PK\3\4" + common + name + npy;
  const std::string directory = "PK\1\2" + U16(3 << 8 | 63) + common + U16(0) + U16(0) + U16(0) +
                                U32(uint64_t{0100666} << 16) + U32(0) + name;
  const std::string want = local + directory + ZipEnd(1, directory.size(), local.size());
  for (const char* zone : {"UTC", "Asia/Tokyo", "America/New_York"}) {
    setenv("TZ", zone, 1);
    tzset();
    WriteNpz(path, {{"gr\xc3\xb6\xc3\x9f", tensor}});
    EXPECT_TRUE(ReadWholeFile(path) == want) << zone;
  }
  unsetenv("TZ");
  tzset();
}

TEST(WriteNpzTest, WritesAnEmptyArchive) {
  const TempDir dir;
  WriteNpz(dir.path("a.npz"), {});
  EXPECT_EQ(ReadWholeFile(dir.path("a.npz")), ZipEnd(0, 0, 0));
}

TEST(WriteNpzTest, LeavesTheOldFileIfItCannotWrite) {
  const TempDir dir;
  const std::string path = dir.Write("a.npz", "old");
  const Tensor x = TensorOf<uint8_t>({1});
  Tensor unsupported(std::vector<int64_t>{1}, CPU);
  unsupported.mutable_data<std::string*>();
  const struct {
    NamedTensors tensors;
    std::string error;
  } cases[] = {
      {{{"x", x}, {"a\0b"s, x}}, "a\0b\" contains a zero byte, which a zip archive cannot hold"s},
      {{{"x", x}, {std::string(65532, 'n'), x}}, "a name has 65532 bytes, want at most 65531"},
      {{{"x", x}, {"y", x}, {"x", x}}, "the name \"x\" exists twice"},
      {{{"x", x}, {"y", unsupported}}, "want bool, integers, floating point or strings"},
      {{{"x", x}, {"y", Tensor(CPU)}}, "cannot write a tensor without shape or type"},
      {NamedTensors(16385, {"x", x}), "got 16385, want at most 16384"},
  };
  for (const auto& c : cases) {
    ExpectThrows([&] { WriteNpz(path, c.tensors); }, c.error);
    EXPECT_EQ(ReadWholeFile(path), "old") << c.error;
    EXPECT_EQ(FilesIn(dir), 1u) << c.error;
  }
  ExpectThrows([&] { WriteNpz(dir.path("no/a.npz"), {{"x", x}}); }, "No such file or directory");
}

TEST(WriteNpzTest, ReportsWhatTheDiskReports) {
  const Tensor large = TensorOf(std::vector<uint8_t>(3 << 20, 1));
  ExpectThrows(
      [&] {
        WriteNpz("/dev/full", {{"x", large}});
      },
      "cannot write \"/dev/full\": No space left on device");
}

}  // namespace
}  // namespace caffe2rt::npz_writer_test
