// Where files and their parts end: bytes behind an image, rows whose number gets more digits, entries
// that overlap by little, buffers that are written around.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image_stream.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npy_streams.h"
#include "tests/caffe2_core/io/zip_bytes.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::rare_ends_test {
namespace {

using namespace std::string_literals;

// Returns `pieces` one by one, then fails with `error`, or ends if it is 0.
ImageStream PiecesThenError(const std::vector<std::string>& pieces, int error) {
  return ImageStream("the stream", [pieces, error, at = size_t{0}](char* to, size_t) mutable {
    if (at == pieces.size()) {
      errno = error;
      return error == 0 ? ssize_t{0} : ssize_t{-1};
    }
    std::memcpy(to, pieces[at].data(), pieces[at].size());
    return static_cast<ssize_t>(pieces[at++].size());
  });
}

const std::string kShortPng = "\x89PNG\r\n\x1a\n\0\0\0\0IENDcrc_"s;
const std::string kShortJpeg = "\xff\xd8\xff\xd9"s;

TEST(ImageStreamEndsTest, EveryByteBehindAnImageCounts) {
  std::string image;
  for (const std::string& first : {kShortPng, kShortJpeg}) {
    for (const std::string& rest : {"\0"s, "\0\0\0"s, "\n"s, " "s, "\xff"s, "\xff\xd8"s}) {
      ImageStream stream = PiecesThenError({first + rest}, 0);
      ASSERT_TRUE(stream.Next(&image));
      EXPECT_EQ(image, first);
      ExpectThrows([&] { stream.Next(&image); },
                   MakeString("the ", rest.size(),
                              " or more bytes after image 1 of the stream are "
                              "neither JPEG nor PNG"));
      EXPECT_FALSE(stream.Next(&image));
    }
    // A zero byte is no part of the image behind it.
    ImageStream stream = PiecesThenError({first + "\0"s + first}, 0);
    ASSERT_TRUE(stream.Next(&image));
    EXPECT_THROW(stream.Next(&image), EnforceNotMet);
  }
}

// A failed read is not the end of the stream, whether it is the first or a later one.
TEST(ImageStreamEndsTest, AFailedReadIsReportedBehindAnyImage) {
  std::string image;
  for (size_t images = 0; images <= 3; ++images) {
    ImageStream stream = PiecesThenError(std::vector<std::string>(images, kShortPng), EIO);
    for (size_t i = 0; i < images; ++i) ASSERT_TRUE(stream.Next(&image));
    ExpectThrows([&] { stream.Next(&image); }, "cannot read the stream: Input/output error");
  }
  // Within an image.
  ImageStream cut = PiecesThenError({kShortPng + kShortPng.substr(0, 10)}, EIO);
  ASSERT_TRUE(cut.Next(&image));
  ExpectThrows([&] { cut.Next(&image); }, "cannot read the stream: Input/output error");
}

// The header is written before the number of rows is known, with room for any number.
TEST(NpyRowsEndsTest, TheHeaderHasTheNumberOfAllRows) {
  const TempDir dir;
  for (const int64_t count : {1, 9, 10, 11, 99, 100}) {
    for (const int64_t step : {int64_t{1}, count}) {
      Tensor part(std::vector<int64_t>{step, 2}, CPU);
      std::fill_n(part.mutable_data<uint8_t>(), part.numel(), uint8_t{7});
      NpyRows rows(dir.path("a.npy"));
      for (int64_t i = 0; i < count; i += step) rows.Add(part);
      rows.Finish();
      const std::string bytes = ReadWholeFile(dir.path("a.npy"));
      EXPECT_NE(bytes.find(MakeString("'shape': (", count, ", 2), }")), std::string::npos) << count;
      EXPECT_EQ((bytes.size() - static_cast<size_t>(2 * count)) % 64, 0u);
      const Tensor read = ReadNpy(dir.path("a.npy"));
      EXPECT_EQ(read.dims(), (std::vector<int64_t>{count, 2}));
    }
  }
}

// Small entries that share their bytes would fit into the file together with its directory.
TEST(NpzEndsTest, SmallEntriesMayNotOverlapEither) {
  const TempDir dir;
  const ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"));
  ZipEntry second = entry;
  second.name = "y.npy";
  const std::string local = entry.Local(), directory = entry.Directory(0) + second.Directory(0);
  const std::string bytes = local + directory + ZipEnd(2, directory.size(), local.size());
  ASSERT_GT(2 * local.size(), bytes.size() - directory.size());
  ASSERT_LT(2 * local.size(), bytes.size());
  ExpectThrows([&] { ReadNpz(dir.Write("a.npz", bytes)); }, "its entries overlap");
  EXPECT_EQ(ReadNpz(dir.Write("a.npz", Zip(std::vector<ZipEntry>{entry, second}))).size(), 2u);
}

// Entries overlap if they need more bytes than lie before the directory and the end record.
TEST(NpzEndsTest, EntriesMayOverlapByNoByte) {
  const TempDir dir;
  for (size_t shared : {size_t{0}, size_t{1}, size_t{21}, size_t{22}, size_t{23}, size_t{40}}) {
    // The second entry begins within the last bytes of the first, which are the same there.
    const ZipEntry second = ZipEntry::Of("y.npy", NpyOf("abc"));
    const std::string begin = second.Local().substr(0, shared);
    const ZipEntry first = ZipEntry::Of("x.npy", NpyOf("data" + begin));
    const std::string locals = first.Local() + second.Local().substr(shared);
    const std::string directory =
        first.Directory(0) + second.Directory(first.Local().size() - shared);
    const std::string bytes = locals + directory + ZipEnd(2, directory.size(), locals.size());
    if (shared == 0) {
      EXPECT_EQ(ReadNpz(dir.Write("a.npz", bytes)).size(), 2u) << shared;
    } else {
      ExpectThrows([&] { ReadNpz(dir.Write("a.npz", bytes)); }, "its entries overlap");
    }
  }
}

// Data with the signature of an end record count as one if the numbers behind it may be those of one.
TEST(NpzEndsTest, DataAreAnEndRecordIfTheirNumbersAgree) {
  const TempDir dir;
  const auto read = [&](const std::string& numbers) {
    const std::string data = "PK\5\6" + numbers + std::string(10, '\1');
    return ReadNpz(
        dir.Write("a.npz", Zip(std::vector<ZipEntry>{ZipEntry::Of("x.npy", NpyOf(data))})));
  };
  // Two numbers of disks, which are 0, and two of entries, which are equal.
  ExpectThrows([&] { read(U16(0) + U16(0) + U16(7) + U16(7)); }, "it has two end records");
  EXPECT_EQ(read(U16(1) + U16(0) + U16(7) + U16(7)).size(), 1u);
  EXPECT_EQ(read(U16(0) + U16(1) + U16(7) + U16(7)).size(), 1u);
  EXPECT_EQ(read(U16(0) + U16(0) + U16(7) + U16(8)).size(), 1u);
  EXPECT_EQ(read(U16(0) + U16(0) + U16(7) + U16(7 + 256)).size(), 1u);
}

// What a pipe receives from a file that `write` writes to it.
std::string Piped(const std::function<void(const std::string& path)>& write) {
  const TempDir dir;
  const std::string pipe = dir.path("pipe");
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = ReadWholeFile(pipe); });
  write(pipe);
  reader.join();
  return received;
}

TEST(AtomicFileEndsTest, APipeReceivesEveryMegabyteOfWhatIsOverwritten) {
  std::string want;
  for (int i = 0; i < 3 << 19; ++i) want += static_cast<char>('a' + i % 23);  // 1.5 MiB
  const std::string received = Piped([&](const std::string& pipe) {
    AtomicFile file(pipe, AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere);
    file.Write(want.substr(0, 700000));
    file.Write(want.substr(700000));
    file.Overwrite(1, "XY");
    EXPECT_FALSE(file.committed());
    file.Commit();
    EXPECT_TRUE(file.committed());
    file.Commit();  // of nothing
  });
  want.replace(1, 2, "XY");
  EXPECT_TRUE(received == want) << received.size();
}

// A database of a user's whose files cannot be opened for the reason that its name states.
class FailingDB final : public db::DB {
 public:
  FailingDB(const std::string& source, db::Mode mode) : DB(source, mode) {
    if (source == "memory") throw OutOfMemory(__FILE__, __LINE__, "", "no memory");
    if (source == "host memory") throw std::bad_alloc();
    if (source == "damage") CAFFE_THROW("damaged");
  }
  void Close() override {}
  std::unique_ptr<db::Cursor> NewCursor() override { return nullptr; }
  std::unique_ptr<db::Transaction> NewTransaction() override { return nullptr; }
};
REGISTER_CAFFE2_DB(rare_ends_failing, FailingDB);

// Without memory it is not known whether a database exists.
TEST(DatabaseExistsTest, OnlyOtherErrorsMeanThatADatabaseDoesNotExist) {
  const char* const type = "rare_ends_failing";
  EXPECT_TRUE(db::DBExists(type, "fine"));
  EXPECT_FALSE(db::DBExists(type, "damage"));
  EXPECT_FALSE(db::DBExists("no such type", "fine"));
  for (const char* const source : {"memory", "host memory"}) {
    EXPECT_THROW(db::DBExists(type, source), OutOfMemory) << source;
    for (const db::Mode mode : {db::READ, db::WRITE, db::NEW}) {
      EXPECT_THROW(db::CreateDB(type, source, mode), OutOfMemory) << source;
      EXPECT_THROW(db::OpenDB(type, source, mode), OutOfMemory) << source;
    }
  }
  for (const db::Mode mode : {db::READ, db::WRITE, db::NEW})
    ExpectThrows([&] { db::OpenDB(type, "damage", mode); }, "damaged");
}

// A pipe that is written in order is written directly, also what is not committed. One that may be
// overwritten receives nothing before it is complete.
TEST(AtomicFileEndsTest, OnlyFilesInOrderReachAPipeWithoutCommit) {
  const auto in_order = [](const std::string& pipe) {
    AtomicFile file(pipe);
    EXPECT_TRUE(file.committed());
    file.Write("a");
    file.Write("bc");
  };
  EXPECT_EQ(Piped(in_order), "abc");
  const auto anywhere = [](const std::string& pipe) {
    AtomicFile file(pipe, AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere);
    file.Write("abc");
  };
  EXPECT_EQ(Piped(anywhere), "");
  const auto later = [](const std::string& pipe) {
    AtomicFile file(pipe);
    file.Write("a");
    file.Commit();
    file.Write("b");
    file.Commit();
    EXPECT_EQ(file.size(), 2);
  };
  EXPECT_EQ(Piped(later), "ab");
}

// What is larger than the buffer is written at once, behind what the buffer holds.
TEST(AtomicFileEndsTest, PiecesOfAnySizeStayInOrder) {
  const TempDir dir;
  constexpr size_t kBuffer = 1 << 20;
  const std::vector<std::vector<size_t>> rows = {{1, kBuffer + 1, 1},
                                                 {kBuffer, kBuffer, 1},
                                                 {kBuffer - 1, 1, 1},
                                                 {3, kBuffer, 3},
                                                 {kBuffer + 5, 2, kBuffer + 5}};
  for (const std::vector<size_t>& sizes : rows) {
    std::string want;
    AtomicFile file(dir.path("a"));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string piece(sizes[i], static_cast<char>('a' + i));
      file.Write(piece);
      want += piece;
      EXPECT_EQ(file.size(), static_cast<int64_t>(want.size()));
    }
    file.Commit();
    EXPECT_TRUE(ReadWholeFile(dir.path("a")) == want) << sizes[0] << " " << sizes[1];
  }
}

}  // namespace
}  // namespace caffe2rt::test::rare_ends_test
