#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/npy.h"
#include "tests/caffe2_core/io/inflate_counter.h"
#include "tests/caffe2_core/io/zip_bytes.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::npz_test {
namespace {

using namespace std::string_literals;
using namespace test;

class NpzTest : public ::testing::Test {
 protected:
  NamedTensors Read(const std::string& bytes) { return ReadNpz(dir_.Write("a.npz", bytes)); }
  void ExpectRejected(const std::string& bytes, const std::string& reason) {
    SCOPED_TRACE(reason);
    ExpectThrows([&] { Read(bytes); },
                 "cannot read \"" + dir_.path("a.npz") + "\" as .npz: " + reason);
  }
  const TempDir dir_;
};

using Entries = std::vector<ZipEntry>;

std::string Bytes(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data<uint8_t>()),
          static_cast<size_t>(tensor.numel())};
}

TEST_F(NpzTest, ReadsStoredAndDeflatedEntriesInTheirOrder) {
  const NamedTensors arrays = Read(Zip(Entries{ZipEntry::Of("b.npy", NpyOf("stored")),
                                               ZipEntry::Of("a.npy", NpyOf("deflated"), true)}));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].first, "b");
  EXPECT_EQ(Bytes(arrays[0].second), "stored");
  EXPECT_EQ(arrays[1].first, "a");
  EXPECT_EQ(Bytes(arrays[1].second), "deflated");
  EXPECT_TRUE(Read(Zip(Entries{})).empty());
}

TEST_F(NpzTest, ReadsNamesOfAnyBytes) {
  const struct {
    std::string in_file, want;
  } cases[] = {{"gpu_0/conv1", "gpu_0/conv1"},
               {"../up", "../up"},
               {"gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f"},
               {"\xff\xfe\x80", "\xff\xfe\x80"},
               {"\n\x1b", "\n\x1b"},
               {"a\0b"s, "a b"},
               {"", ""}};
  for (const auto& c : cases) {
    const NamedTensors arrays = Read(Zip(Entries{ZipEntry::Of(c.in_file + ".npy", NpyOf("x"))}));
    ASSERT_EQ(arrays.size(), 1u);
    EXPECT_EQ(arrays[0].first, c.want);
  }
}

TEST_F(NpzTest, ReadsPipes) {
  const std::string fifo = dir_.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::jthread writer([&] {
    std::ofstream(fifo, std::ios::binary) << Zip(Entries{ZipEntry::Of("x.npy", NpyOf("piped"))});
  });
  const NamedTensors arrays = ReadNpz(fifo);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(Bytes(arrays[0].second), "piped");
}

// Every field that may be moved to the Zip64 records is there.
std::string Zip64(uint64_t offset, const ZipEntry& entry) {
  ZipEntry moved = entry;
  moved.directory_extra =
      U16(1) + U16(24) + U64(entry.unpacked_bytes) + U64(entry.packed_bytes) + U64(offset);
  moved.unpacked_bytes = moved.packed_bytes = 0xffffffff;
  const std::string local = entry.Local(), directory = moved.Directory(0xffffffff);
  const uint64_t at = offset + local.size();
  return local + directory + Zip64End(1, directory.size(), at, at + directory.size());
}

TEST_F(NpzTest, ReadsZip64) {
  for (const bool deflated : {false, true}) {
    const NamedTensors arrays = Read(Zip64(0, ZipEntry::Of("x.npy", NpyOf("abc"), deflated)));
    ASSERT_EQ(arrays.size(), 1u);
    EXPECT_EQ(Bytes(arrays[0].second), "abc");
  }
}

TEST_F(NpzTest, ReadsEntriesBeyondFourGigabytes) {
  const std::string path = dir_.Write("big.npz", "");
  constexpr uint64_t kOffset = (uint64_t{5} << 30) + 7;
  std::filesystem::resize_file(path, kOffset);  // a hole, which takes no space on the disk
  std::ofstream(path, std::ios::binary | std::ios::app)
      << Zip64(kOffset, ZipEntry::Of("x.npy", NpyOf("far"), true));
  const NamedTensors arrays = ReadNpz(path);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(Bytes(arrays[0].second), "far");
}

TEST_F(NpzTest, RejectsEntriesItCannotRead) {
  const ZipEntry good = ZipEntry::Of("x.npy", NpyOf("abc"));
  const auto with = [&](auto change) {
    ZipEntry entry = good;
    change(entry);
    return Zip(Entries{entry});
  };
  ExpectRejected(with([](ZipEntry& e) { e.name = "x.txt"; }), "entry \"x.txt\" is not a .npy file");
  ExpectRejected(with([](ZipEntry& e) { e.name = "folder/"; }), "entry \"folder/\" is not a .npy");
  ExpectRejected(with([](ZipEntry& e) { e.flags = 1; }), "entry \"x.npy\" is encrypted");
  ExpectRejected(with([](ZipEntry& e) { e.flags = 0x41; }), "entry \"x.npy\" is encrypted");
  ExpectRejected(with([](ZipEntry& e) { e.method = 12; }),
                 "entry \"x.npy\" is packed with method 12, want 0 (stored) or 8 (deflated)");
  ExpectRejected(with([](ZipEntry& e) { e.crc ^= 1; }), "entry \"x.npy\" is damaged");
  ExpectRejected(with([](ZipEntry& e) { e.packed[e.packed.size() - 1] = 'z'; }),
                 "entry \"x.npy\" is damaged");
  ExpectRejected(with([](ZipEntry& e) { ++e.unpacked_bytes; }), "entry \"x.npy\" is damaged");
  ExpectRejected(with([](ZipEntry& e) { --e.unpacked_bytes; }), "entry \"x.npy\" is damaged");
  ExpectRejected(with([](ZipEntry& e) { e.method = 8; }), "entry \"x.npy\" is damaged");
  ExpectRejected(with([](ZipEntry& e) { e.packed_bytes = 1000000; }),
                 "entry \"x.npy\" is truncated");
  ExpectRejected(with([](ZipEntry& e) { e.unpacked_bytes = 0x7fffffff; }),
                 "its entries unpack to 2.0 GiB, want at most 64 MiB for a file of ");
  ExpectRejected(Zip(Entries{good, good}), "entry \"x.npy\" exists twice");
  const std::string cut = "the data ends";  // in the middle of the deflated data
  ZipEntry deflated = ZipEntry::Of("x.npy", NpyOf(cut), true);
  deflated.packed.resize(deflated.packed.size() / 2);
  deflated.packed_bytes = deflated.packed.size();
  ExpectRejected(Zip(Entries{deflated}), "entry \"x.npy\" is damaged");
}

TEST_F(NpzTest, RejectsDamagedDirectories) {
  const ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"));
  const std::string local = entry.Local(), directory = entry.Directory(0),
                    zip = Zip(Entries{entry});
  ExpectRejected("", "it is not a zip archive");
  ExpectRejected("PK", "it is not a zip archive");
  ExpectRejected(std::string(100000, 'x'), "it is not a zip archive, or is truncated");
  ExpectRejected(zip.substr(0, zip.size() - 23), "it is not a zip archive, or is truncated");
  const auto ends = [&](uint64_t entries, uint64_t bytes, uint64_t offset) {
    return local + directory + ZipEnd(entries, bytes, offset);
  };
  ExpectRejected(ends(1, directory.size(), 1), "its directory is damaged");
  ExpectRejected(ends(1, directory.size() - 1, local.size()), "its directory is damaged");
  ExpectRejected(ends(1, directory.size() + 1, local.size()), "its directory is damaged");
  ExpectRejected(ends(1, 0xfffffff0, local.size()), "it is truncated");
  ExpectRejected(ends(1, directory.size(), 0xfffffff0), "it is truncated");
  ExpectRejected(ends(2, directory.size(), local.size()), "");
  ExpectRejected(ends(0xffff, directory.size(), local.size()), "");
  ExpectRejected(local + entry.Directory(local.size() + directory.size() + 20) +
                     ZipEnd(1, directory.size(), local.size()),
                 "entry \"x.npy\"");
}

// Files of the kernel state a size of whole pages, and have fewer bytes.
TEST_F(NpzTest, RejectsFilesShorterThanTheirSize) {
  const std::string path = "/sys/devices/system/cpu/online";
  if (!std::filesystem::exists(path)) return;
  ExpectThrows([&] { ReadNpz(path); },
               "cannot read \"" + path + "\" as .npz: it is shorter than its size states");
}

TEST_F(NpzTest, RejectsDamagedZip64Records) {
  const ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"));
  const std::string local = entry.Local(), directory = entry.Directory(0);
  const uint64_t at = local.size() + directory.size();
  constexpr uint64_t kMost = UINT64_MAX;
  const auto ends = [&](uint64_t entries, uint64_t bytes, uint64_t offset, uint64_t record) {
    return local + directory + Zip64End(entries, bytes, offset, record);
  };
  EXPECT_EQ(Read(ends(1, directory.size(), local.size(), at)).size(), 1u);
  for (const uint64_t record : {uint64_t{1} << 40, kMost, kMost - 55}) {
    ExpectRejected(ends(1, directory.size(), local.size(), record), "it is truncated");
  }
  ExpectRejected(ends(1, directory.size(), local.size(), at + 1), "");
  for (const uint64_t count : {uint64_t{2}, uint64_t{1} << 32, kMost, kMost / 32}) {
    ExpectRejected(ends(count, directory.size(), local.size(), at), "");
  }
  ExpectRejected(ends(1, kMost, local.size(), at), "it is truncated");
  ExpectRejected(ends(1, directory.size(), kMost, at), "it is truncated");
  ExpectRejected(ends(1, kMost - local.size() + 1, local.size(), at), "it is truncated");
  ZipEntry huge = entry;  // sizes that overflow when they are added
  huge.directory_extra = U16(1) + U16(16) + U64(kMost) + U64(3);
  huge.unpacked_bytes = huge.packed_bytes = 0xffffffff;
  ZipEntry second = huge;
  second.name = "y.npy";
  ExpectRejected(Zip(Entries{huge, second}), "its entries unpack to 16.0 EiB, ");
  // Without the check for overflow, these would add up to 0.
  huge.directory_extra = second.directory_extra =
      U16(1) + U16(16) + U64(uint64_t{1} << 63) + U64(3);
  ExpectRejected(Zip(Entries{huge, second}), "its entries unpack to 16.0 EiB, ");
}

TEST_F(NpzTest, SurvivesAnyDamagedByte) {
  const std::string zip =
      Zip(Entries{ZipEntry::Of("x.npy", NpyOf("abc"), true), ZipEntry::Of("y.npy", NpyOf("d"))});
  const std::string zip64 = Zip64(0, ZipEntry::Of("x.npy", NpyOf("abc")));
  for (const std::string& whole : {zip, zip64}) {
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
      try {
        Read(damaged);
      } catch (const EnforceNotMet&) {
      }
      EXPECT_THROW(Read(whole.substr(0, i)), EnforceNotMet);
    }
  }
}

// libzip would read the directory once for each end record.
TEST_F(NpzTest, RejectsSeveralEndRecords) {
  const ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"));
  std::string zip = Zip(Entries{entry});
  const std::string end = zip.substr(zip.size() - 22);
  ExpectRejected(zip + end, "it has two end records, want one");
  const std::string zip64 = Zip64(0, entry);
  ExpectRejected(zip64 + zip64.substr(zip64.size() - 42), "it has two end records, want one");
  // The signature alone, in the data, is not an end record.
  const std::string data = "PK\5\6 is the signature";
  EXPECT_EQ(Bytes(Read(Zip(Entries{ZipEntry::Of("x.npy", NpyOf(data))}))[0].second), data);
}

// libzip compares names that collide in its hash table, here all of them.
TEST_F(NpzTest, RejectsMoreEntriesThanTheLimit) {
  std::string directory, local;
  const auto zip = [&](uint64_t count) {
    local = ZipEntry::Of("", "").Local();
    directory.clear();
    for (uint64_t i = 0; i < count; ++i) {
      std::string name;
      for (int bit = 0; bit < 15; ++bit) name += (i >> bit & 1) != 0 ? "Ez" : "FY";
      directory += ZipEntry::Of(name + ".npy", "").Directory(0);
    }
    return local + directory + ZipEnd(count, directory.size(), local.size());
  };
  ExpectRejected(zip(16385), "it has 16385 entries, want at most 16384");
  ExpectRejected(zip(16384), "its entries overlap");
}

TEST_F(NpzTest, CountsTheMemoryOfTheDirectory) {
  ZipEntry entry = ZipEntry::Of("x.npy", NpyOf("abc"));
  entry.directory_extra = std::string(65532, '\0');  // 16,383 empty fields
  const std::string zip = Zip(Entries{entry});
  EXPECT_EQ(Read(zip).size(), 1u);
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  const size_t before = options.limit_bytes;
  options.limit_bytes = GetCPUMemoryUsage().in_use_bytes + 512 * 1024;
  EXPECT_THROW(Read(zip), OutOfMemory);
  options.limit_bytes = before;
}

TEST_F(NpzTest, RejectsEntriesThatShareBytesBeforeInflatingThem) {
  const std::string npy = NpyOf(std::string(100000, 'a'));
  const std::string local = ZipEntry::Of("0.npy", npy, true).Local();
  std::string directory;
  for (int i = 0; i < 9; ++i) {  // all entries are at offset 0
    directory += ZipEntry::Of(std::to_string(i) + ".npy", npy, true).Directory(0);
  }
  const uint64_t before = InflatedBytes();
  ExpectRejected(local + directory + ZipEnd(9, directory.size(), local.size()),
                 "its entries overlap");
  EXPECT_EQ(InflatedBytes(), before);
}

TEST_F(NpzTest, RejectsBombsBeforeInflatingThem) {
  // Three entries of 30 MB: 90 MB, compressed to about 90 kB.
  const ZipEntry entry = ZipEntry::Of("0.npy", NpyOf(std::string(30000000, '\0')), true);
  Entries entries(3, entry);
  entries[1].name = "1.npy";
  entries[2].name = "2.npy";
  const uint64_t before = InflatedBytes();
  ExpectRejected(Zip(entries), "its entries unpack to 85.8 MiB, ");
  EXPECT_EQ(InflatedBytes(), before);
  EXPECT_EQ(Read(Zip(Entries{entry}))[0].second.numel(), 30000000);  // below 64 MiB
  EXPECT_GE(InflatedBytes() - before, 30000000u);
}

// An entry that declares fewer bytes than it unpacks to is not unpacked further.
TEST_F(NpzTest, InflatesNoMoreThanDeclared) {
  ZipEntry entry = ZipEntry::Of("0.npy", NpyOf(std::string(30000000, '\0')), true);
  entry.unpacked_bytes = 1000;
  const uint64_t before = InflatedBytes();
  ExpectRejected(Zip(Entries{entry}), "entry \"0.npy\" is damaged");
  EXPECT_LT(InflatedBytes() - before, 100000u);
}

TEST_F(NpzTest, ReadsTheSharedArchive) {
  SKIP_WITHOUT_SHARED("models/onnx_mnist_cntk/test_data_0.npz");
  EXPECT_FALSE(ReadNpz(SharedPath("models/onnx_mnist_cntk/test_data_0.npz")).empty());
}

}  // namespace
}  // namespace caffe2rt::npz_test
