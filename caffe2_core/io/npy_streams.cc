#include "caffe2_core/io/npy_streams.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/npy_elements.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

constexpr uint64_t kMost32 = UINT32_MAX;
constexpr uint64_t kMost16 = UINT16_MAX;
constexpr uint16_t kZip20Version = 20, kZip64Version = 45;
constexpr uint16_t kZipUtf8Flag = 1 << 11;
// 1980-01-01, the first date of the format, so that the bytes do not depend on the clock.
constexpr uint16_t kStreamDate = 1 << 5 | 1;
constexpr uint16_t kZip64Tag = 1;
constexpr size_t kNpyHeadBytes = 10;

// The CRC-32 of zip archives (polynomial 0xedb88320), by tables for eight bytes at once.
class Crc32 {
 public:
  constexpr Crc32() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
      tables_[0][i] = value;
    }
    for (size_t t = 1; t < 8; ++t) {
      for (size_t i = 0; i < 256; ++i) {
        const uint32_t before = tables_[t - 1][i];
        tables_[t][i] = before >> 8 ^ tables_[0][before & 255];
      }
    }
  }
  uint32_t Update(uint32_t crc, std::string_view bytes) const {
    const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
    size_t left = bytes.size();
    crc = ~crc;
    for (; left >= 8; left -= 8, at += 8) {
      const uint32_t low = crc ^ (at[0] | at[1] << 8 | at[2] << 16 | uint32_t{at[3]} << 24);
      crc = tables_[7][low & 255] ^ tables_[6][low >> 8 & 255] ^ tables_[5][low >> 16 & 255] ^
            tables_[4][low >> 24] ^ tables_[3][at[4]] ^ tables_[2][at[5]] ^ tables_[1][at[6]] ^
            tables_[0][at[7]];
    }
    for (; left > 0; --left, ++at) crc = crc >> 8 ^ tables_[0][(crc ^ *at) & 255];
    return ~crc;
  }

 private:
  std::array<std::array<uint32_t, 256>, 8> tables_ = {};
};

// Appends numbers with the least byte first.
class LittleEndian {
 public:
  LittleEndian& Add16(uint64_t value) { return Add(value, 2); }
  LittleEndian& Add32(uint64_t value) { return Add(value, 4); }
  LittleEndian& Add64(uint64_t value) { return Add(value, 8); }
  LittleEndian& AddText(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  LittleEndian& Add(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 255);
    return *this;
  }
  std::string bytes_;
};

bool IsUtf8(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = Utf8CharacterSize(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

// What the local header of an entry and its record in the directory have in common.
struct StreamedEntry {
  std::string name;
  uint32_t crc;
  uint64_t size, offset;
  bool is_large() const { return size >= kMost32 || offset >= kMost32; }
};

void AddCommon(const StreamedEntry& entry, bool zip64, LittleEndian* to) {
  const bool utf8 = !IsAscii(entry.name) && IsUtf8(entry.name);
  to->Add16(zip64 ? kZip64Version : kZip20Version)
      .Add16(utf8 ? kZipUtf8Flag : 0)
      .Add16(0);  // stored
  to->Add16(0).Add16(kStreamDate).Add32(entry.crc);
  const uint64_t size = zip64 ? kMost32 : entry.size;
  to->Add32(size).Add32(size).Add16(entry.name.size());
}

std::string LocalHeader(const StreamedEntry& entry) {
  const bool zip64 = entry.size >= kMost32;
  LittleEndian header;
  header.AddText("PK\3\4");
  AddCommon(entry, zip64, &header);
  header.Add16(zip64 ? 20 : 0).AddText(entry.name);
  if (zip64) header.Add16(kZip64Tag).Add16(16).Add64(entry.size).Add64(entry.size);
  return header.bytes();
}

std::string DirectoryRecord(const StreamedEntry& entry) {
  const bool zip64 = entry.is_large();
  LittleEndian record;
  record.AddText("PK\1\2").Add16(zip64 ? kZip64Version : kZip20Version);
  AddCommon(entry, zip64, &record);
  record.Add16(zip64 ? 28 : 0).Add16(0).Add16(0).Add16(0).Add32(0);  // comment, disk, attributes
  record.Add32(zip64 ? kMost32 : entry.offset).AddText(entry.name);
  if (zip64) {
    record.Add16(kZip64Tag).Add16(24).Add64(entry.size).Add64(entry.size).Add64(entry.offset);
  }
  return record.bytes();
}

// The element type as NumPy's header has it: "<f4".
std::string TypeText(const Tensor& tensor) {
  constexpr std::string_view kKey = "'descr': '";
  const std::string head = internal::NpyPartsOf(tensor).head;
  const size_t begin = head.find(kKey) + kKey.size();
  return head.substr(begin, head.find('\'', begin) - begin);
}

std::vector<int64_t> RowOf(const Tensor& tensor) {
  const std::vector<int64_t> dims = tensor.dims();
  return dims.empty() ? dims : std::vector<int64_t>(dims.begin() + 1, dims.end());
}

}  // namespace

NpzStream::NpzStream(const std::string& path) : path_(path), file_(path) {}

void NpzStream::Add(const std::string& name, const Tensor& tensor) try {
  static constexpr Crc32 crc;
  const auto check = [&](bool fine, const char* reason) {
    CAFFE_ENFORCE(fine, "cannot write \"", path_, "\" as .npz: the name \"", Shortened(name), "\" ",
                  reason);
  };
  check(name.find('\0') == std::string::npos,
        "contains a zero byte, which a zip archive cannot hold");
  check(name.size() + 4 <= kMost16, "is longer than 65531 bytes");
  check(!names_.contains(name), "exists twice");
  const internal::NpyParts parts = internal::NpyPartsOf(tensor);
  const StreamedEntry entry = {.name = name + ".npy",
                               .crc = crc.Update(crc.Update(0, parts.head), parts.data),
                               .size = parts.head.size() + parts.data.size(),
                               .offset = static_cast<uint64_t>(file_.size())};
  const std::string header = LocalHeader(entry), record = DirectoryRecord(entry);
  const auto added = names_.insert(name).first;
  absl::Cleanup forget = [&] { names_.erase(added); };
  directory_ += record;
  std::move(forget).Cancel();
  ++entries_;
  file_.Write(header);
  file_.Write(parts.head);
  file_.Write(parts.data);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

// The directory, and the records behind it that locate it.
void NpzStream::AddDirectory() {
  const auto offset = static_cast<uint64_t>(file_.size());
  const auto entries = static_cast<uint64_t>(entries_);
  const uint64_t size = directory_.size();
  LittleEndian end;
  if (entries >= kMost16 || offset >= kMost32 || size >= kMost32) {
    end.AddText("PK\6\6").Add64(44).Add16(kZip64Version).Add16(kZip64Version).Add32(0).Add32(0);
    end.Add64(entries).Add64(entries).Add64(size).Add64(offset);
    end.AddText("PK\6\7").Add32(0).Add64(offset + size).Add32(1);
  }
  const uint64_t shown = std::min(entries, kMost16);
  end.AddText("PK\5\6").Add16(0).Add16(0).Add16(shown).Add16(shown);
  end.Add32(std::min(size, kMost32)).Add32(std::min(offset, kMost32)).Add16(0);
  file_.Write(directory_);
  file_.Write(end.bytes());
  has_directory_ = true;
}

void NpzStream::Finish() try {
  if (!has_directory_) AddDirectory();
  file_.Commit();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NpyRows::NpyRows(const std::string& path)
    : path_(path), file_(path, AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere) {}

// NumPy's header of version 1.0: the dictionary is padded with spaces, so that the data begin at a
// multiple of 64 bytes. There is room for any number of rows.
std::string NpyRows::Header(const std::string& type) const {
  const auto text = [&](int64_t rows) {
    std::vector<int64_t> dims = {rows};
    dims.insert(dims.end(), row_.begin(), row_.end());
    return MakeString("{'descr': '", type, "', 'fortran_order': False, 'shape': (",
                      absl::StrJoin(dims, ", "), dims.size() == 1 ? ",), }" : "), }");
  };
  const size_t most = kNpyHeadBytes + text(INT64_MAX).size() + 1;
  const size_t size = (most + 63) / 64 * 64 - kNpyHeadBytes;
  std::string dictionary = text(rows_);
  dictionary.append(size - 1 - dictionary.size(), ' ') += '\n';
  LittleEndian header;
  header.AddText(std::string_view("\x93NUMPY\1\0", 8)).Add16(size).AddText(dictionary);
  return header.bytes();
}

void NpyRows::CheckFits(const Tensor& tensor) const {
  CAFFE_ENFORCE(!tensor.IsType<std::string>(), "cannot write \"", path_,
                "\": strings cannot be joined; an archive (.npz) has an array for each file");
  const std::string type = TypeText(tensor);
  CAFFE_ENFORCE(type_.empty() || (type == type_ && RowOf(tensor) == row_), "cannot add ",
                DataTypeName(tensor.meta()), " [", absl::StrJoin(tensor.dims(), ", "), "] to \"",
                path_, "\", whose rows are [", absl::StrJoin(row_, ", "), "] of type ", type_,
                "; --resize and --crop make images equal in size, and an archive (.npz) has an "
                "array for each file");
}

void NpyRows::Add(const Tensor& tensor) try {
  CheckFits(tensor);
  const internal::NpyParts parts = internal::NpyPartsOf(tensor);
  if (type_.empty()) {
    std::string type = TypeText(tensor);
    row_ = RowOf(tensor);
    file_.Write(Header(type));
    type_ = std::move(type);
  }
  file_.Write(parts.data);
  rows_ += tensor.dim() == 0 ? 1 : tensor.dim(0);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void NpyRows::Finish() try {
  CAFFE_ENFORCE(!type_.empty(), "cannot write \"", path_, "\": no rows were added");
  file_.Overwrite(0, Header(type_));
  file_.Commit();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
