#include "caffe2_core/io/proto_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <climits>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_binary.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

using google::protobuf::Message;

constexpr size_t kMaxErrorBytes = 500;  // protobuf's message may repeat a long name from the file

// Whether the message itself has unknown fields, apart from the messages in it.
bool HasOwnUnknownFields(const Message& proto) {
  return !proto.GetReflection()->GetUnknownFields(proto).empty();
}

std::string Subject(const std::string& subject, const Message& proto) {
  return MakeString("cannot read \"", subject, "\" as ", proto.GetDescriptor()->name());
}

[[noreturn]] void ThrowTextError(const std::string& subject, const Message& proto,
                                 const TextError& error) {
  CAFFE_THROW(Subject(subject, proto), ": line ", error.line, ", column ", error.column, ": ",
              Shortened(error.message, kMaxErrorBytes));
}

// The description of a kind that is not the wanted one, with the remedy if there is one.
std::string DescriptionOf(FileKind kind, FileKind wanted) {
  const bool imported =
      kind == FileKind::kOnnxModel || kind == FileKind::kCaffeText || kind == FileKind::kCaffeModel;
  return FileKindDescription(kind) +
         (imported && wanted == FileKind::kNetDef
              ? "; caffe2 convert makes an init net and a predict net of it"
              : "");
}

// The description of what a file evidently is instead of the wanted kind, or "". Wire
// formats overlap: a PlanDef parses as a NetDef whose operators have no type.
std::string OtherKind(std::string_view beginning, int64_t size, const Message& proto) {
  const FileKind wanted = FileKindOfMessage(proto.GetDescriptor()->name());
  if (wanted == FileKind::kUnknown) return "";
  const FileKindResult found = DetectContentKind(beginning, size);
  if (!found.foreign.empty()) return found.foreign;
  if (found.kind == FileKind::kUnknown || found.kind == wanted || found.weak) return "";
  return DescriptionOf(found.kind, wanted);
}

std::string OtherKind(std::string_view bytes, const Message& proto) {
  return OtherKind(bytes, static_cast<int64_t>(bytes.size()), proto);
}

[[noreturn]] void ThrowBinaryError(std::string_view bytes, const std::string& subject,
                                   const Message& proto, const std::string& reason) {
  const std::string other = OtherKind(bytes, proto);
  CAFFE_THROW(Subject(subject, proto), ": ", other.empty() ? reason : "it is " + other);
}

// Parses a large binary file as a stream, so that its bytes and the message are never in memory
// together. Returns false for any other file, and for a file that does not contain a valid message
// of this type; the caller then reads the whole file to report the reason.
bool LoadLargeBinary(const std::string& path, Message* proto, ProtoKindCheck check) {
  constexpr size_t kBeginningBytes = 1 << 20;  // all that DetectContentKind inspects
  // Opening and closing a pipe that is not kept would break it for its writer.
  if (!CanReadAgain(path)) return false;
  const FileDescriptor file = OpenForReading(path);
  const int64_t size = FileSize(file, path);
  if (size < static_cast<int64_t>(kBeginningBytes) || size > INT_MAX) return false;
  std::string beginning(kBeginningBytes, '\0');
  ReadAt(file, path, 0, beginning.data(), beginning.size());
  if (LooksLikeText(beginning)) return false;
  std::string reason;
  if (ParseBinary(file, proto, &reason) &&
      (check == ProtoKindCheck::kAsTold || OtherKind(beginning, size, *proto).empty())) {
    return true;
  }
  proto->Clear();
  return false;
}

}  // namespace

bool LooksLikeText(std::string_view bytes) {
  for (const char c : bytes.substr(0, 65536)) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v') || u == 0x7f) {
      return false;
    }
  }
  return true;
}

void ParseTextProto(std::string_view text, const std::string& subject, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  TextError error;
  if (ParseText(text, proto, &error)) return;
  ThrowTextError(subject, *proto, error);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void ParseBinaryProto(std::string_view bytes, const std::string& subject, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string reason;
  if (!ParseBinary(bytes, proto, &reason)) ThrowBinaryError(bytes, subject, *proto, reason);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void ParseProto(std::string_view bytes, const std::string& subject, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  CAFFE_ENFORCE(!bytes.empty(), Subject(subject, *proto), ": it is empty");
  std::string reason;
  if (LooksLikeText(bytes)) {
    TextError error;
    if (ParseText(bytes, proto, &error)) {
      CAFFE_ENFORCE(proto->ByteSizeLong() > 0, Subject(subject, *proto),
                    ": it has no field, only white space or comments");
      return;
    }
    // A small binary message may consist of printable characters alone.
    if (ParseBinary(bytes, proto, &reason) && !HasOwnUnknownFields(*proto)) return;
    const std::string other = OtherKind(bytes, *proto);
    CAFFE_ENFORCE(other.empty(), Subject(subject, *proto), ": it is ", other);
    ThrowTextError(subject, *proto, error);
  }
  if (!ParseBinary(bytes, proto, &reason)) {
    TextError error;
    // Text with a stray control character: report its position.
    const FileKindResult found = DetectContentKind(bytes, static_cast<int64_t>(bytes.size()));
    if (found.kind == FileKind::kUnknown && found.foreign.empty() &&
        LooksLikeText(bytes.substr(0, 64)) && !ParseText(bytes, proto, &error)) {
      ThrowTextError(subject, *proto, error);
    }
    ThrowBinaryError(bytes, subject, *proto, reason);
  }
  const std::string other = OtherKind(bytes, *proto);
  CAFFE_ENFORCE(other.empty(), Subject(subject, *proto), ": it is ", other);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void LoadProto(const std::string& path, Message* proto, ProtoKindCheck check) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string bytes;
  try {
    if (LoadLargeBinary(path, proto, check)) return;
    bytes = ReadWholeFile(path, INT_MAX);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    const FileKindResult found = DetectFileKind(path);
    const FileKind wanted = FileKindOfMessage(proto->GetDescriptor()->name());
    if (found.kind == FileKind::kUnknown || found.kind == wanted) throw;
    CAFFE_THROW(Subject(path, *proto), ": it is ", DescriptionOf(found.kind, wanted));
  }
  if (check == ProtoKindCheck::kAsTold && !bytes.empty()) {
    TextError error;
    std::string reason;
    if (LooksLikeText(bytes) && ParseText(bytes, proto, &error)) return;
    if (ParseBinary(bytes, proto, &reason)) return;
  }
  ParseProto(bytes, path, proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<BlobProto> LoadBlobProtos(const std::string& path) try {
  constexpr std::string_view kMark = "\n# key: ";
  std::vector<BlobProto> blobs;
  const std::string bytes = ReadWholeFile(path, INT_MAX);
  const std::string_view text = bytes;
  const bool starts = text.substr(0, kMark.size() - 1) == kMark.substr(1);
  size_t next = text.find(kMark, starts ? 0 : text.size());
  if (next == std::string_view::npos || !LooksLikeText(text)) {
    LoadProto(path, &blobs.emplace_back());
    return blobs;
  }
  for (size_t begin = 0; begin < text.size(); begin = next, next = text.find(kMark, next + 1)) {
    next = std::min(next, text.size());
    TextError error;
    if (ParseText(text.substr(begin, next - begin), &blobs.emplace_back(), &error)) continue;
    error.line += static_cast<int>(
        std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(begin), '\n'));
    ThrowTextError(path, blobs.back(), error);
  }
  return blobs;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string ProtoToText(const Message& proto) try {
  google::protobuf::TextFormat::Printer printer;
  printer.SetHideUnknownFields(true);  // text with them cannot be parsed
  std::string text;
  CAFFE_ENFORCE(printer.PrintToString(proto, &text), "cannot print ", proto.GetDescriptor()->name(),
                " as text");
  return text;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool HasUnknownFields(const Message& proto) try {
  if (HasOwnUnknownFields(proto)) return true;
  const google::protobuf::Reflection& reflection = *proto.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(proto, &fields);
  for (const google::protobuf::FieldDescriptor* const field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (HasUnknownFields(reflection.GetMessage(proto, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(proto, field); ++i) {
      if (HasUnknownFields(reflection.GetRepeatedMessage(proto, field, i))) return true;
    }
  }
  return false;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string ProtoToBinary(const Message& proto) try {
  CAFFE_ENFORCE(proto.IsInitialized(), "cannot write ", proto.GetDescriptor()->name(),
                ": required fields are missing: ", proto.InitializationErrorString());
  const size_t size = proto.ByteSizeLong();
  CAFFE_ENFORCE_LE(size, static_cast<size_t>(INT_MAX), "bytes of ", proto.GetDescriptor()->name(),
                   ", a message must have less than 2 GB");
  std::string bytes;
  CAFFE_ENFORCE(proto.SerializePartialToString(&bytes), "cannot write ",
                proto.GetDescriptor()->name());
  return bytes;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void WriteProtoToBinaryFile(const Message& proto, const std::string& path) try {
  WriteFileAtomically(path, ProtoToBinary(proto));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void WriteProtoToTextFile(const Message& proto, const std::string& path, bool throw_if_error) try {
  try {
    WriteFileAtomically(path, ProtoToText(proto));
  } catch (const EnforceNotMet&) {
    if (throw_if_error) throw;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string ProtoDebugString(const Message& proto) try {
  return proto.ShortDebugString();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
