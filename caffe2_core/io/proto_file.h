#pragma once
// Proto messages in files and strings, binary or text, told apart by content.
//
//   NetDef net;
//   LoadProto("predict_net.pb", &net);          // throws with file, and line and column for text
//   if (!ReadProtoFromFile("net.pbtxt", &net))  // Caffe2's form: says only whether
//
// Binary files may have up to 2 GB. Nesting is bounded (kMaxProtoNesting), so that a hostile file
// cannot exhaust the stack. Text files may call DeviceOption.device_id by its older name
// cuda_gpu_id. Files are written atomically. All functions are thread safe.

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

class BlobProto;

// Messages within messages, binary and text.
inline constexpr int kMaxProtoNesting = 100;

// --- Functions that throw EnforceNotMet, saying what is wrong and, where content tells, what the
// file is instead.

// Wire forms overlap: a small PlanDef may parse as a NetDef.
enum class ProtoKindCheck {
  kByContent,  // what evidently is of another kind is an error
  kAsTold,     // what parses is taken
};

// Reads `path`, binary or text, into `proto`. Also THROWS when the file is empty or evidently of
// another kind.
void LoadProto(const std::string& path, google::protobuf::Message* proto,
               ProtoKindCheck check = ProtoKindCheck::kByContent);

// The blobs of a file: one, or in a text file as many as there are comment lines `# key: NAME`, the
// form in which databases are written down for people.
std::vector<BlobProto> LoadBlobProtos(const std::string& path);

// The same as LoadProto for bytes in memory; `subject` stands for the file in errors.
void ParseProto(std::string_view bytes, const std::string& subject,
                google::protobuf::Message* proto);

// Text alone. THROWS: `cannot read "net.pbtxt" as NetDef: line 3, column 7: ...`.
void ParseTextProto(std::string_view text, const std::string& subject,
                    google::protobuf::Message* proto);

// Binary alone. THROWS also when a required field is missing.
void ParseBinaryProto(std::string_view bytes, const std::string& subject,
                      google::protobuf::Message* proto);

// The text form, as WriteProtoToTextFile writes it.
std::string ProtoToText(const google::protobuf::Message& proto);

// The binary form. THROWS when it would have 2 GB or more.
std::string ProtoToBinary(const google::protobuf::Message& proto);

// --- Caffe2's functions: false where the others throw. Parse errors are not printed.

bool ReadStringFromFile(const char* path, std::string* bytes);
bool WriteStringToFile(const std::string& bytes, const char* path);

bool ReadProtoFromTextFile(const char* path, google::protobuf::Message* proto);
bool ReadProtoFromBinaryFile(const char* path, google::protobuf::Message* proto);
// Either form.
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

// Binary, up to 2 GB.
bool ParseProtoFromLargeString(const std::string& bytes, google::protobuf::Message* proto);
// Text in memory. False when it does not parse.
bool ParseProtoFromText(const std::string& text, google::protobuf::Message* proto);

// These throw, as the original's do.
void WriteProtoToBinaryFile(const google::protobuf::Message& proto, const std::string& path);
void WriteProtoToTextFile(const google::protobuf::Message& proto, const std::string& path,
                          bool throw_if_error = true);

// One line, for messages.
std::string ProtoDebugString(const google::protobuf::Message& proto);

// Whether `bytes` could be a text proto: no control characters but white space in their first 64
// KiB.
bool LooksLikeText(std::string_view bytes);

}  // namespace caffe2rt
