// ReadNpz of npy.h. A zip archive ends with a directory of its entries, and an end record with the
// offset of the directory. The layout, with byte offsets and little-endian fields (name, extra and
// comment with type u16 are sizes):
//
//   end:   "PK\5\6", 10 number of entries u16, 12 directory size u32, 16 directory offset u32,
//          20 comment size u16
//   entry: "PK\1\2", 8 flags u16, 10 method u16, 16 crc u32, 20 packed size u32,
//          24 unpacked size u32, 28 name u16, 30 extra u16, 32 comment u16,
//          42 offset of the local header u32, 46 name bytes, extra bytes, comment bytes
//   local: "PK\3\4", 26 name u16, 28 extra u16, 30 name bytes, extra bytes, packed data
//
// If a packed size, unpacked size or offset is 0xffffffff, its value is in the extra field with id
// 1 (zip64), in the order unpacked, packed, offset; the other values are omitted there.
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"

namespace caffe2rt {
namespace {

constexpr size_t kEndBytes = 22;
constexpr size_t kEntryBytes = 46;
constexpr size_t kLocalBytes = 30;
constexpr uint32_t kInZip64 = 0xffffffff;
// Limits on the unpacked size: bytes for a small file, ratio to the file size for a large one.
// Zeros deflate by 1030 to 1, so a bomb of a few megabytes would unpack to gigabytes. Tensors of
// nets rarely deflate by more than 10 to 1.
constexpr uint64_t kFreeBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxRatio = 100;

struct Entry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0;
  uint64_t unpacked = 0;
  uint64_t offset = 0;
  uint64_t data = 0;  // offset of the packed bytes
};

class ZipReader {
 public:
  explicit ZipReader(const std::string& path) : path_(path), bytes_(ReadWholeFile(path)) {}

  std::vector<Entry> Entries() const {
    const size_t end = FindEnd();
    const size_t count = Get<uint16_t>(end + 10);
    size_t at = Get<uint32_t>(end + 16);
    if (at == kInZip64 || count == 0xffff) Fail("it has more entries or bytes than are supported");
    std::vector<Entry> entries;
    for (size_t i = 0; i < count; ++i) {
      Need(at, kEntryBytes);
      if (std::string_view(bytes_).substr(at, 4) != "PK\1\2") Fail("its directory is damaged");
      entries.push_back(EntryAt(at));
      at += kEntryBytes + Get<uint16_t>(at + 28) + Get<uint16_t>(at + 30) + Get<uint16_t>(at + 32);
    }
    CheckSizes(entries);
    CheckOverlap(entries);
    return entries;
  }

  std::string Unpack(const Entry& entry) const {
    if ((entry.flags & 1) != 0) Fail("entry \"" + entry.name + "\" is encrypted");
    if (entry.unpacked > INT_MAX) Fail("entry \"" + entry.name + "\" has 2 GB or more");
    CheckCPUBytes(entry.unpacked);
    const std::string_view packed = std::string_view(bytes_).substr(entry.data, entry.packed);
    std::string unpacked = entry.method == 0   ? std::string(packed)
                           : entry.method == 8 ? Inflate(packed, entry)
                                               : std::string();
    if (entry.method != 0 && entry.method != 8) {
      Fail(MakeString("entry \"", entry.name, "\" is packed with method ", entry.method,
                      ", want 0 (stored) or 8 (deflated)"));
    }
    const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(unpacked.data()),
                            static_cast<uInt>(unpacked.size()));
    if (unpacked.size() != entry.unpacked || crc != entry.crc) {
      Fail("entry \"" + entry.name + "\" is damaged");
    }
    return unpacked;
  }

  [[noreturn]] void Fail(const std::string& reason) const {
    CAFFE_THROW("cannot read \"", path_, "\" as .npz: ", reason);
  }

 private:
  void Need(uint64_t at, uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) Fail("it is truncated");
  }
  template <class T>
  T Get(uint64_t at) const {
    Need(at, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(value));
    return value;
  }

  // Rejects decompression bombs before anything is unpacked.
  void CheckSizes(const std::vector<Entry>& entries) const {
    const uint64_t most = std::max<uint64_t>(kFreeBytes, kMaxRatio * bytes_.size());
    uint64_t total = 0;
    for (const Entry& entry : entries) {
      total = entry.unpacked > UINT64_MAX - total ? UINT64_MAX : total + entry.unpacked;
    }
    if (total > most) {
      Fail(MakeString("its entries unpack to ", total, " bytes, want at most ", most,
                      " for a file of ", bytes_.size(), " bytes; save it without compression"));
    }
  }

  // Entries that share packed bytes would make a small file unpack the same bytes many times.
  void CheckOverlap(const std::vector<Entry>& entries) const {
    std::vector<const Entry*> by_offset;
    for (const Entry& entry : entries) by_offset.push_back(&entry);
    std::sort(by_offset.begin(), by_offset.end(),
              [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
    for (size_t i = 1; i < by_offset.size(); ++i) {
      const Entry &before = *by_offset[i - 1], &entry = *by_offset[i];
      if (entry.offset < before.data + before.packed) {
        Fail(MakeString("entries \"", before.name, "\" and \"", entry.name, "\" overlap"));
      }
    }
  }

  size_t FindEnd() const {
    if (bytes_.size() < kEndBytes) Fail("it is not a zip archive");
    const size_t last = bytes_.size() - kEndBytes;
    const size_t first = last - std::min<size_t>(last, 65535);
    const size_t end = bytes_.rfind("PK\5\6", last);
    if (end == std::string::npos || end < first) Fail("it is not a zip archive, or is truncated");
    return end;
  }

  Entry EntryAt(size_t at) const {
    Entry entry;
    entry.flags = Get<uint16_t>(at + 8);
    entry.method = Get<uint16_t>(at + 10);
    entry.crc = Get<uint32_t>(at + 16);
    entry.packed = Get<uint32_t>(at + 20);
    entry.unpacked = Get<uint32_t>(at + 24);
    entry.offset = Get<uint32_t>(at + 42);
    const size_t name_size = Get<uint16_t>(at + 28);
    Need(at + kEntryBytes, name_size);
    entry.name = bytes_.substr(at + kEntryBytes, name_size);
    ReadZip64(at + kEntryBytes + name_size, Get<uint16_t>(at + 30), &entry);
    Need(entry.offset, kLocalBytes);
    entry.data = entry.offset + kLocalBytes + Get<uint16_t>(entry.offset + 26) +
                 Get<uint16_t>(entry.offset + 28);
    Need(entry.data, entry.packed);
    return entry;
  }

  void ReadZip64(size_t at, size_t size, Entry* entry) const {
    Need(at, size);
    const size_t end = at + size;
    while (at + 4 <= end) {
      const size_t field_end = at + 4 + Get<uint16_t>(at + 2);
      if (Get<uint16_t>(at) == 1 && field_end <= end) {
        at += 4;
        for (uint64_t* value : {&entry->unpacked, &entry->packed, &entry->offset}) {
          if (*value == kInZip64 && at + 8 <= field_end) {
            *value = Get<uint64_t>(at);
            at += 8;
          }
        }
        return;
      }
      at = field_end;
    }
  }

  std::string Inflate(std::string_view packed, const Entry& entry) const {
    if (entry.packed > INT_MAX) Fail("entry \"" + entry.name + "\" is packed in 2 GB or more");
    std::string unpacked(entry.unpacked, '\0');
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) Fail("zlib cannot start");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
    stream.avail_out = static_cast<uInt>(unpacked.size());
    const int result = inflate(&stream, Z_FINISH);
    const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!whole) Fail("entry \"" + entry.name + "\" is damaged");
    return unpacked;
  }

  const std::string path_;
  const std::string bytes_;
};

}  // namespace

std::vector<std::pair<std::string, Tensor>> ReadNpz(const std::string& path) try {
  const ZipReader zip(path);
  std::vector<std::pair<std::string, Tensor>> arrays;
  std::set<std::string> names;
  for (const Entry& entry : zip.Entries()) {
    if (!entry.name.ends_with(".npy")) zip.Fail("entry \"" + entry.name + "\" is not a .npy file");
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    if (!names.insert(name).second) zip.Fail("entry \"" + entry.name + "\" exists twice");
    arrays.emplace_back(name, ParseNpy(zip.Unpack(entry), path + ":" + entry.name));
  }
  return arrays;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
