#include "caffe2_core/io/file_kind.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind_proto.h"
#include "caffe2_core/io/foreign_format.h"
#include "caffe2_core/io/pack_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/wire_format.h"

namespace caffe2rt {
namespace {

constexpr size_t kPrefixBytes = 1 << 20;
constexpr size_t kMagicBytes = 4096;  // enough for DetectByMagic
constexpr int32_t kMaxMiniDBKey = 1 << 16;

struct KindRow {
  FileKind kind;
  const char* name;
  const char* description;
  const char* db_type;
};

constexpr KindRow kKinds[] = {
    {FileKind::kUnknown, "unknown", "a file of an unknown kind", ""},
    {FileKind::kNetDef, "NetDef", "a NetDef", ""},
    {FileKind::kPlanDef, "PlanDef", "a PlanDef", ""},
    {FileKind::kMetaNetDef, "MetaNetDef", "a MetaNetDef", ""},
    {FileKind::kTensorProto, "TensorProto", "a TensorProto", ""},
    {FileKind::kTensorProtos, "TensorProtos", "a TensorProtos", "protodb"},
    {FileKind::kBlobProto, "BlobProto", "a BlobProto", ""},
    {FileKind::kPackedModel, "c2pack", "a packed model", ""},
    {FileKind::kMiniDB, "minidb", "a minidb database", "minidb"},
    {FileKind::kLevelDB, "leveldb", "a LevelDB database", "leveldb"},
    {FileKind::kLMDB, "lmdb", "an LMDB database", "lmdb"},
    {FileKind::kOnnxModel, "onnx", "an ONNX model", ""},
    {FileKind::kOnnxTensor, "onnx-tensor", "an ONNX tensor", ""},
    {FileKind::kCaffeText, "prototxt", "a Caffe prototxt", ""},
    {FileKind::kCaffeModel, "caffemodel", "a Caffe caffemodel", ""},
    {FileKind::kCaffeBlob, "binaryproto", "a Caffe blob (binaryproto)", ""},
    {FileKind::kHdf5, "hdf5", "an HDF5 file", ""},
    {FileKind::kNpy, "npy", "a NumPy array (.npy)", ""},
    {FileKind::kNpz, "npz", "a NumPy archive (.npz)", ""},
    {FileKind::kZip, "zip", "a zip archive", ""},
    {FileKind::kJpeg, "jpeg", "a JPEG image", ""},
    {FileKind::kPng, "png", "a PNG image", ""},
};

const KindRow& RowOf(FileKind kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return row;
  }
  return kKinds[0];
}

FileKindResult Found(FileKind kind, std::string reason, bool text = false) {
  return {.kind = kind, .text = text, .reason = std::move(reason)};
}

FileKindResult DetectByMagic(std::string_view begin) {
  using namespace std::string_view_literals;
  const auto starts = [&](std::string_view magic) {
    return begin.substr(0, magic.size()) == magic;
  };
  if (starts(kPackSignature)) {
    return Found(FileKind::kPackedModel, "begins with the signature of a packed model");
  }
  if (starts("\x93NUMPY"sv)) return Found(FileKind::kNpy, "begins with the signature of .npy");
  if (starts("\xff\xd8\xff"sv)) return Found(FileKind::kJpeg, "begins with the signature of JPEG");
  if (starts("\x89PNG\r\n\x1a\n"sv))
    return Found(FileKind::kPng, "begins with the signature of PNG");
  if (starts("\x89HDF\r\n\x1a\n"sv))
    return Found(FileKind::kHdf5, "begins with the signature of HDF5");
  if (starts("PK\x03\x04"sv) || starts("PK\x05\x06"sv)) {
    const auto name_at = begin.substr(0, 64 + 1024);
    const bool npy = name_at.find(".npy") != std::string_view::npos;
    return npy ? Found(FileKind::kNpz, "a zip archive whose first entry is a .npy file")
               : Found(FileKind::kZip, "begins with the signature of zip");
  }
  if (begin.size() >= 20 && begin.substr(16, 4) == "\xde\xc0\xef\xbe"sv) {
    return Found(FileKind::kLMDB, "has the signature of LMDB in its first page");
  }
  return {};
}

// The size of the record {int32 key size, int32 value size, key, value} that starts with `header`,
// or 0 if it is not a record.
int64_t MiniDBRecordSize(std::string_view header) {
  int32_t sizes[2];
  if (header.size() < sizeof(sizes)) return 0;
  std::memcpy(sizes, header.data(), sizeof(sizes));
  if (sizes[0] <= 0 || sizes[0] > kMaxMiniDBKey || sizes[1] <= 0) return 0;
  return int64_t{8} + sizes[0] + sizes[1];
}

// Walks the records from header to header. `read_header` returns the 8 bytes of the header at an
// offset.
FileKindResult DetectMiniDB(std::string_view begin, int64_t size,
                            const std::function<std::string(int64_t)>& read_header) {
  const int64_t first = MiniDBRecordSize(begin);
  if (first == 0 || first > size) return {};
  int32_t key_size;
  std::memcpy(&key_size, begin.data(), sizeof(key_size));
  if (!IsPrintable(begin.substr(8, static_cast<size_t>(key_size)))) return {};
  int64_t at = first;
  int64_t records = 1;
  while (at < size) {
    if (at + 8 > static_cast<int64_t>(begin.size()) && !read_header) {
      return Found(FileKind::kMiniDB, MakeString("at least ", CountText(records, "record")));
    }
    const std::string header = at + 8 <= static_cast<int64_t>(begin.size())
                                   ? std::string(begin.substr(static_cast<size_t>(at), 8))
                                   : read_header(at);
    const int64_t record = MiniDBRecordSize(header);
    if (record == 0 || record > size - at) {
      return Found(FileKind::kMiniDB,
                   MakeString("records, but truncated or damaged after ", records));
    }
    at += record;
    ++records;
  }
  return Found(FileKind::kMiniDB,
               CountText(records, "record that fills", "records that fill") + " the file");
}

FileKindResult DetectContent(std::string_view begin, int64_t size,
                             const std::function<std::string(int64_t)>& read_header) {
  if (size == 0) return Found(FileKind::kUnknown, "it is empty");
  if (auto found = DetectByMagic(begin); found.kind != FileKind::kUnknown) return found;
  if (auto found = DetectMiniDB(begin, size, read_header); found.kind != FileKind::kUnknown) {
    return found;
  }
  if (std::string foreign = ForeignFormat(begin); !foreign.empty()) {
    FileKindResult result = Found(FileKind::kUnknown, "it is " + foreign);
    result.foreign = std::move(foreign);
    return result;
  }
  if (LooksLikeText(begin)) {
    if (auto found = DetectTextKind(begin); found.kind != FileKind::kUnknown) return found;
  }
  if (auto found = DetectBinaryKind({begin, size}); found.kind != FileKind::kUnknown) return found;
  return Found(FileKind::kUnknown,
               LooksLikeText(begin)
                   ? "it is text, but its first fields belong to no known message"
                   : "its bytes match no known message and have no known signature");
}

FileKindResult DetectFolder(const std::string& path) {
  const auto has = [&](const char* name) { return access((path + "/" + name).c_str(), F_OK) == 0; };
  if (has("data.mdb")) return Found(FileKind::kLMDB, "a folder with data.mdb");
  if (has("CURRENT")) return Found(FileKind::kLevelDB, "a folder with CURRENT");
  return Found(FileKind::kUnknown, "it is a folder that contains no database");
}

}  // namespace

FileKindResult DetectContentKind(std::string_view beginning, int64_t size) try {
  return DetectContent(beginning.substr(0, kPrefixBytes), size, nullptr);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

FileKindResult DetectFileKind(const std::string& path) try {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return DetectFolder(path);
  try {
    const FileDescriptor file = OpenForReading(path);
    const int64_t size = FileSize(file, path);
    const auto read_begin = [&](size_t bytes) {
      std::string begin(std::min(bytes, static_cast<size_t>(size)), '\0');
      ReadAt(file, path, 0, begin.data(), begin.size());
      return begin;
    };
    // A packed model starts sooner without the rest.
    if (auto found = DetectByMagic(read_begin(kMagicBytes)); found.kind != FileKind::kUnknown)
      return found;
    const std::string begin = read_begin(kPrefixBytes);
    return DetectContent(begin, size, [&](int64_t offset) {
      std::string header(static_cast<size_t>(std::min<int64_t>(8, size - offset)), '\0');
      ReadAt(file, path, offset, header.data(), header.size());
      return header;
    });
  } catch (const EnforceNotMet& error) {
    return Found(FileKind::kUnknown, error.message());
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

const char* FileKindName(FileKind kind) { return RowOf(kind).name; }

FileKind FileKindFromName(const std::string& name) {
  for (const KindRow& row : kKinds) {
    if (strcasecmp(row.name, name.c_str()) == 0) return row.kind;
  }
  return FileKind::kUnknown;
}

std::vector<std::string> FileKindNames() {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) {
    if (row.kind != FileKind::kUnknown) names.emplace_back(row.name);
  }
  return names;
}

std::string FileKindDescription(FileKind kind) { return RowOf(kind).description; }

FileKind FileKindOfMessage(std::string_view message_name) {
  for (const FileKind kind :
       {FileKind::kNetDef, FileKind::kPlanDef, FileKind::kMetaNetDef, FileKind::kTensorProto,
        FileKind::kTensorProtos, FileKind::kBlobProto}) {
    if (message_name == RowOf(kind).name) return kind;
  }
  return FileKind::kUnknown;
}

std::string DBTypeOfKind(FileKind kind) { return RowOf(kind).db_type; }

}  // namespace caffe2rt
