#pragma once
// Reads and writes proto messages in files and strings. Whether the format is binary or text is
// detected from the content.
//
//   NetDef net;
//   LoadProto("predict_net.pb", &net);          // throws; names the file, line and column
//   if (!ReadProtoFromFile("net.pbtxt", &net))  // Caffe2's function: only returns false
//
// Binary files may have up to 2 GB. Nesting is bounded by kMaxProtoNesting, and by the stack of the
// thread if it is smaller than 256 KiB, so that a hostile file cannot overflow the stack. Text files
// may use cuda_gpu_id, the former name of DeviceOption.device_id. Files are written atomically. All
// functions are thread safe.

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

class BlobProto;

// Maximum depth of nested messages, binary and text.
inline constexpr int kMaxProtoNesting = 100;

// --- Functions that throw EnforceNotMet. The error states what is wrong and, if it can be
// detected, what the file contains instead.

// What to do if a message parses but is evidently of another kind. Wire formats overlap: a small
// PlanDef may parse as a NetDef.
enum class ProtoKindCheck {
  kByContent,  // content that is evidently of another kind is an error
  kAsTold,     // whatever parses is accepted
};

// Reads `path`, binary or text, into `proto`. THROWS if the file cannot be read or parsed, is
// empty, or (with kByContent) is evidently of another kind.
void LoadProto(const std::string& path, google::protobuf::Message* proto,
               ProtoKindCheck check = ProtoKindCheck::kByContent);

// Reads the blobs of a file. A file contains one blob, except a text file with comment lines `#
// key: NAME` (a database printed as text), which contains one blob per such line.
std::vector<BlobProto> LoadBlobProtos(const std::string& path);

// Like LoadProto, for bytes in memory; errors use `subject` as the name of the file.
void ParseProto(std::string_view bytes, const std::string& subject,
                google::protobuf::Message* proto);

// Text format only. THROWS errors such as `cannot read "net.pbtxt" as NetDef: line 3, column 7:
// ...`.
void ParseTextProto(std::string_view text, const std::string& subject,
                    google::protobuf::Message* proto);

// Binary format only. THROWS if the bytes do not parse or a required field is missing.
void ParseBinaryProto(std::string_view bytes, const std::string& subject,
                      google::protobuf::Message* proto);

// Returns the text format, as WriteProtoToTextFile writes it. Leaves out unknown fields, which only
// the binary format can hold.
std::string ProtoToText(const google::protobuf::Message& proto);
// Whether the message, or one in it, has fields that this version does not know.
bool HasUnknownFields(const google::protobuf::Message& proto);

// Returns the binary format. THROWS if it would have 2 GB or more, or if a required field is
// missing.
std::string ProtoToBinary(const google::protobuf::Message& proto);

// --- Caffe2's functions, which return false where the functions above throw. They do not print
// parse errors. They still throw for a null argument.

bool ReadStringFromFile(const char* path, std::string* bytes);
bool WriteStringToFile(const std::string& bytes, const char* path);

bool ReadProtoFromTextFile(const char* path, google::protobuf::Message* proto);
bool ReadProtoFromBinaryFile(const char* path, google::protobuf::Message* proto);
// Binary or text.
bool ReadProtoFromFile(const char* path, google::protobuf::Message* proto);
inline bool ReadProtoFromTextFile(const std::string& path, google::protobuf::Message* proto) {
  return ReadProtoFromTextFile(path.c_str(), proto);
}
inline bool ReadProtoFromBinaryFile(const std::string& path, google::protobuf::Message* proto) {
  return ReadProtoFromBinaryFile(path.c_str(), proto);
}
inline bool ReadProtoFromFile(const std::string& path, google::protobuf::Message* proto) {
  return ReadProtoFromFile(path.c_str(), proto);
}

// Binary format, up to 2 GB.
bool ParseProtoFromLargeString(const std::string& bytes, google::protobuf::Message* proto);
// Text format. Returns false if it does not parse.
bool ParseProtoFromText(const std::string& text, google::protobuf::Message* proto);

// These two throw, as in Caffe2, unless throw_if_error is false.
void WriteProtoToBinaryFile(const google::protobuf::Message& proto, const std::string& path);
void WriteProtoToTextFile(const google::protobuf::Message& proto, const std::string& path,
                          bool throw_if_error = true);

// Returns the message as one line of text, for log and error messages.
std::string ProtoDebugString(const google::protobuf::Message& proto);

// Returns whether `bytes` could be a text proto: the first 64 KiB contain no control characters
// other than white space.
bool LooksLikeText(std::string_view bytes);

}  // namespace caffe2rt
#pragma GCC visibility pop
