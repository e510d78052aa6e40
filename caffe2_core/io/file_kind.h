#pragma once
// Detects the kind of a file from its content, never from its name.
//
//   FileKindResult found = DetectFileKind("predict_net.pb");
//   if (found.kind != FileKind::kNetDef) {
//     CAFFE_THROW("want a NetDef, this is ", FileKindDescription(found.kind));
//   }
//
// The protobuf messages overlap on the wire (a PlanDef parses as a NetDef whose operators have no
// type). They are told apart by their descriptors: no unknown fields, printable strings, and the
// content that each kind requires. Reads at most the first MiB of a file, and the record headers of
// a minidb. Thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class FileKind {
  kUnknown,
  kNetDef,
  kPlanDef,
  kMetaNetDef,
  kTensorProto,
  kTensorProtos,  // also the content of a protodb file
  kBlobProto,
  kPackedModel,  // of `caffe2 pack`
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
  bool text = false;   // a proto in text format
  std::string reason;  // one line: why it is this kind, or why no kind matches
  bool weak = false;   // other kinds match as well: the message has little more than a name
  // Of kUnknown: what the file is instead, with its article and a remedy (foreign_format.h); or "".
  std::string foreign = {};
};

// Detects the kind of a file or a database folder. A path that cannot be read is kUnknown, with the
// system's error message as the reason.
FileKindResult DetectFileKind(const std::string& path);

// Detects the kind of a file of `size` bytes from its first bytes.
FileKindResult DetectContentKind(std::string_view beginning, int64_t size);

// "NetDef", "minidb", ...; the names that --as accepts.
const char* FileKindName(FileKind kind);
// The kind with this name, ignoring case; kUnknown for any other name. "DB" is not a name: each
// type of database has its own.
FileKind FileKindFromName(const std::string& name);
std::vector<std::string> FileKindNames();

// A description with its article, for errors: "an ONNX model".
std::string FileKindDescription(FileKind kind);

// The kind of files that contain messages of this type ("NetDef"); kUnknown for other types.
FileKind FileKindOfMessage(std::string_view message_name);

// The database type to pass to CreateDB: "minidb", "leveldb", "lmdb" or "protodb"; empty if the
// kind is not a database.
std::string DBTypeOfKind(FileKind kind);

}  // namespace caffe2rt
#pragma GCC visibility pop
