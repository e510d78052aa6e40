#pragma once
// Tells what a file is by its content, never by its name.
//
//   FileKindResult found = DetectFileKind("predict_net.pb");
//   if (found.kind != FileKind::kNetDef) CAFFE_THROW("want a NetDef, this is ",
//   FileKindDescription(found.kind));
//
// The protobuf kinds overlap on the wire (a PlanDef parses as a NetDef of operators without type).
// They are judged by the descriptors: no unknown field, printable strings, and the content each
// kind must have. Reads at most the first MiB of a file and the record headers of a minidb. Thread
// safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

enum class FileKind {
  kUnknown,
  kNetDef,
  kPlanDef,
  kMetaNetDef,
  kTensorProto,
  kTensorProtos,  // what a protodb file holds as well
  kBlobProto,
  kMiniDB,
  kLevelDB,
  kLMDB,
  kOnnxModel,
  kOnnxTensor,
  kCaffeText,   // prototxt: net or solver
  kCaffeModel,  // caffemodel, binary
  kCaffeBlob,   // mean.binaryproto
  kHdf5,
  kNpy,
  kNpz,
  kZip,
  kJpeg,
  kPng,
};

struct FileKindResult {
  FileKind kind = FileKind::kUnknown;
  bool text = false;   // the text form of a proto
  std::string reason;  // one line: what speaks for it, or why nothing fits
  bool weak = false;   // other kinds would fit as well: a message of little more than a name
};

// A file or a database folder. A path that cannot be read is kUnknown with the system's reason.
FileKindResult DetectFileKind(const std::string& path);

// The beginning of a file of `size` bytes.
FileKindResult DetectContentKind(std::string_view beginning, int64_t size);

// "NetDef", "minidb", ...; the names that --as takes.
const char* FileKindName(FileKind kind);
// The kind of that name, case ignored ("DB" is no kind: databases go by their type); kUnknown for
// others.
FileKind FileKindFromName(const std::string& name);
std::vector<std::string> FileKindNames();

// With its article, for errors: "an ONNX model".
std::string FileKindDescription(FileKind kind);

// The kind whose files hold messages of this name ("NetDef"); kUnknown for others.
FileKind FileKindOfMessage(const std::string& message_name);

// The type to open it with (`CreateDB`): "minidb", "leveldb", "lmdb", "protodb"; empty for what is
// no database.
std::string DBTypeOfKind(FileKind kind);

}  // namespace caffe2rt
