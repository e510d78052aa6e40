// ReadNpz of npy.h. libzip reads the archive, but it trusts three things that a hostile file can
// abuse, which are therefore checked first:
//
//   - It parses a directory for every end record in the last 64 KiB, so a file of many of them takes
//     quadratic time. The file must have one.
//   - It keeps the names in a hash table with a known hash function, so names that collide take
//     quadratic time. The number of entries is limited.
//   - It allocates memory for the directory by malloc. A reservation counts it.
//
// The layout of a zip archive, with byte offsets and little-endian fields (name, extra and comment
// of type u16 are sizes):
//
//   entry:   "PK\1\2", 28 name u16, 30 extra u16, 32 comment u16, 46 name, extra and comment bytes
//   end64:   "PK\6\6", 40 directory size u64, 48 directory offset u64 (Zip64 only)
//   locator: "PK\6\7", 8 offset of end64 u64, 20 bytes in all (Zip64 only)
//   end:     "PK\5\6", 4 disks u32, 8 and 10 number of entries u16, 12 directory size u32,
//            16 directory offset u32, 20 comment u16, 22 comment bytes
#include <sys/stat.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/npz_zip.h"

namespace caffe2rt {
namespace {

using internal::kMaxNpzEntries;
using internal::Zip;
using internal::ZipError;
using internal::ZipErrorText;

constexpr size_t kEntryBytes = 46;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kEndBytes = 22;
constexpr size_t kLocalBytes = 30;  // of the header before an entry's data, without the name
// The end record is in the last bytes of the file, before a comment of at most 65,535 bytes.
constexpr size_t kTailBytes = 65535 + kEndBytes + kLocatorBytes;
// libzip's memory for the directory, in multiples of its size: at most 13 for many short extra
// fields, and 7 for short names.
constexpr uint64_t kMemoryRatio = 16;
// Limits on the unpacked size: bytes for a small file, ratio to the file size for a large one.
// Zeros deflate by 1030 to 1, so a bomb of a few megabytes would unpack to gigabytes. Tensors of
// nets rarely deflate by more than 10 to 1.
constexpr uint64_t kFreeBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxRatio = 100;

struct FreeSource {
  void operator()(zip_source_t* source) const { Zip().source_free(source); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { Zip().fclose(entry); }
};

uint64_t SaturatedAdd(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

struct Entry {
  std::string name;
  uint64_t packed = 0;
  uint64_t unpacked = 0;
};

class NpzReader {
 public:
  // Opens the archive and checks its directory.
  explicit NpzReader(const std::string& path) : path_(path) {
    OpenSource();
    zip_stat_t stat;
    Zip().stat_init(&stat);
    if (Zip().source_stat(source_.get(), &stat) < 0) FailWith(Zip().source_error(source_.get()));
    size_ = stat.size;
    if (size_ < kEndBytes) Fail("it is not a zip archive");
    CheckDirectory();
    ZipError error;
    archive_.reset(Zip().open_from_source(source_.get(), ZIP_RDONLY, error.get()));
    if (archive_ == nullptr) FailWith(error.get());
    (void)source_.release();  // the archive owns it
  }

  NamedTensors Read() {
    const std::vector<Entry> entries = Entries();
    CheckSizes(entries);
    NamedTensors tensors;
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string& name = entries[i].name;
      tensors.emplace_back(name.substr(0, name.size() - 4),
                           ParseNpy(Unpack(i, entries[i]), path_ + ":" + name));
    }
    return tensors;
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const {
    CAFFE_THROW("cannot read \"", path_, "\" as .npz: ", reason);
  }
  [[noreturn]] void FailWith(zip_error_t* error) const { Fail(ZipErrorText(error)); }

  void OpenSource() {
    ZipError error;
    struct stat info;
    if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
      bytes_ = ReadWholeFile(path_);  // libzip seeks, which a pipe cannot
      source_.reset(Zip().source_buffer_create(bytes_.data(), bytes_.size(), 0, error.get()));
    } else {
      FileDescriptor file = OpenForReading(path_);
      std::FILE* const stream = fdopen(file.get(), "rb");
      if (stream == nullptr) throw std::bad_alloc();
      (void)file.Release();
      source_.reset(Zip().source_filep_create(stream, 0, -1, error.get()));
      if (source_ == nullptr) std::fclose(stream);
    }
    if (source_ == nullptr) FailWith(error.get());
  }

  std::string BytesAt(uint64_t offset, uint64_t size) const {
    if (offset > size_ || size > size_ - offset) Fail("it is truncated");
    std::string bytes(size, '\0');
    zip_source_t* const source = source_.get();
    const zip_int64_t read =
        Zip().source_seek(source, static_cast<zip_int64_t>(offset), SEEK_SET) < 0
            ? -1
            : Zip().source_read(source, bytes.data(), size);
    if (read < 0) FailWith(Zip().source_error(source));
    if (read != static_cast<zip_int64_t>(size)) Fail("it is shorter than its size states");
    return bytes;
  }

  template <class T>
  static T Get(std::string_view bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
  }

  // Whether libzip would read a directory for the signature of an end record at `at`.
  static bool IsEndRecord(std::string_view tail, size_t at) {
    if (tail.size() - at < kEndBytes) return false;
    if (HasLocator(tail, at)) return true;
    return Get<uint32_t>(tail, at + 4) == 0 &&
           Get<uint16_t>(tail, at + 8) == Get<uint16_t>(tail, at + 10);
  }
  static bool HasLocator(std::string_view tail, size_t end) {
    return end >= kLocatorBytes && tail.substr(end - kLocatorBytes, 4) == "PK\6\7";
  }

  void CheckDirectory() {
    if (Zip().source_open(source_.get()) < 0) FailWith(Zip().source_error(source_.get()));
    const uint64_t tail_bytes = std::min<uint64_t>(size_, kTailBytes);
    const std::string tail = BytesAt(size_ - tail_bytes, tail_bytes);
    std::optional<size_t> end;
    for (size_t at = 0; (at = tail.find("PK\5\6", at)) != std::string::npos; ++at) {
      if (!IsEndRecord(tail, at)) continue;
      if (end) Fail("it has two end records, want one");
      end = at;
    }
    if (!end) Fail("it is not a zip archive, or is truncated");
    uint64_t bytes = Get<uint32_t>(tail, *end + 12), offset = Get<uint32_t>(tail, *end + 16);
    if (HasLocator(tail, *end)) {
      const std::string end64 = BytesAt(Get<uint64_t>(tail, *end - kLocatorBytes + 8), kEnd64Bytes);
      bytes = Get<uint64_t>(end64, 40);
      offset = Get<uint64_t>(end64, 48);
    }
    if (offset > size_ || bytes > size_ - offset) Fail("it is truncated");
    directory_bytes_ = bytes;
    directory_memory_.emplace(kMemoryRatio * bytes);
    CheckEntries(BytesAt(offset, bytes));
    Zip().source_close(source_.get());
  }

  // Counts the entries as libzip will read them.
  void CheckEntries(std::string_view directory) const {
    size_t entries = 0, at = 0;
    for (; at < directory.size(); ++entries) {
      if (directory.size() - at < kEntryBytes || directory.substr(at, 4) != "PK\1\2") break;
      at += kEntryBytes + Get<uint16_t>(directory, at + 28) + Get<uint16_t>(directory, at + 30) +
            Get<uint16_t>(directory, at + 32);
    }
    if (at != directory.size()) Fail("its directory is damaged");
    if (entries > kMaxNpzEntries) {
      Fail(MakeString("it has ", entries, " entries, want at most ", kMaxNpzEntries));
    }
  }

  std::vector<Entry> Entries() const {
    const zip_int64_t count = Zip().get_num_entries(archive_.get(), 0);
    std::vector<Entry> entries;
    std::set<std::string_view> names;
    entries.reserve(static_cast<size_t>(count));
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t stat;
      Zip().stat_init(&stat);
      if (Zip().stat_index(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &stat) < 0)
        FailWith(Zip().get_error(archive_.get()));
      entries.push_back({stat.name, stat.comp_size, stat.size});
      const std::string& name = entries.back().name;
      if (!name.ends_with(".npy")) Fail("entry \"" + name + "\" is not a .npy file");
      if (!names.insert(name).second) Fail("entry \"" + name + "\" exists twice");
      if (stat.encryption_method != ZIP_EM_NONE) Fail("entry \"" + name + "\" is encrypted");
      if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
        Fail(MakeString("entry \"", name, "\" is packed with method ", stat.comp_method,
                        ", want 0 (stored) or 8 (deflated)"));
      }
    }
    return entries;
  }

  // Rejects decompression bombs before anything is unpacked: entries that unpack to too much, and
  // entries that share packed bytes.
  void CheckSizes(const std::vector<Entry>& entries) const {
    const uint64_t most = std::max(kFreeBytes, kMaxRatio * size_);
    uint64_t packed = 0, unpacked = 0;
    for (const Entry& entry : entries) {
      if (entry.packed > size_) Fail("entry \"" + entry.name + "\" is truncated");
      packed += kLocalBytes + entry.name.size() + entry.packed;
      if (packed + directory_bytes_ + kEndBytes > size_) Fail("its entries overlap");
      unpacked = SaturatedAdd(unpacked, entry.unpacked);
    }
    if (unpacked > most) {
      Fail(MakeString("its entries unpack to ", ByteSizeText(unpacked), ", want at most ",
                      ByteSizeText(most), " for a file of ", ByteSizeText(size_),
                      "; save it without compression"));
    }
  }

  std::string Unpack(size_t index, const Entry& entry) const {
    CheckCPUBytes(entry.unpacked);
    const std::unique_ptr<zip_file_t, CloseEntry> file(Zip().fopen_index(archive_.get(), index, 0));
    if (file == nullptr) {
      Fail("entry \"" + entry.name + "\": " + ZipErrorText(Zip().get_error(archive_.get())));
    }
    std::string unpacked(entry.unpacked, '\0');
    char more;
    // libzip compares the checksum at the end of the data, where nothing more can be read.
    if (Zip().fread(file.get(), unpacked.data(), unpacked.size()) !=
            static_cast<zip_int64_t>(unpacked.size()) ||
        Zip().fread(file.get(), &more, 1) != 0) {
      (void)ZipErrorText(Zip().file_get_error(file.get()));
      Fail("entry \"" + entry.name + "\" is damaged");
    }
    return unpacked;
  }

  const std::string path_;
  std::string bytes_;  // of a pipe
  std::optional<CPUMemoryReservation> directory_memory_;
  std::unique_ptr<zip_source_t, FreeSource> source_;
  internal::ZipArchive archive_;
  uint64_t size_ = 0;  // of the file
  uint64_t directory_bytes_ = 0;
};

}  // namespace

NamedTensors ReadNpz(const std::string& path) try {
  return NpzReader(path).Read();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
