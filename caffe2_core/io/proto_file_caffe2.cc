// Caffe2's functions of proto_file.h, which return false where the others throw.

#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_binary.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/proto_text.h"

namespace caffe2rt {

using google::protobuf::Message;

bool ReadStringFromFile(const char* path, std::string* bytes) try {
  CAFFE_ENFORCE(path != nullptr, "argument path of ReadStringFromFile is null");
  CAFFE_ENFORCE(bytes != nullptr, "argument bytes of ReadStringFromFile is null");
  try {
    *bytes = ReadWholeFile(path);
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool WriteStringToFile(const std::string& bytes, const char* path) try {
  CAFFE_ENFORCE(path != nullptr, "argument path of WriteStringToFile is null");
  try {
    WriteFileAtomically(path, bytes);
    return true;
  } catch (const EnforceNotMet&) {
    return false;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool ParseProtoFromText(const std::string& text, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  TextError error;
  return ParseText(text, proto, &error);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool ParseProtoFromLargeString(const std::string& bytes, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string reason;
  return ParseBinary(bytes, proto, &reason);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool ReadProtoFromTextFile(const char* path, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string text;
  return ReadStringFromFile(path, &text) && ParseProtoFromText(text, proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool ReadProtoFromBinaryFile(const char* path, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string bytes;
  return ReadStringFromFile(path, &bytes) && ParseProtoFromLargeString(bytes, proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool ReadProtoFromFile(const char* path, Message* proto) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto, which receives the message read, is null");
  std::string bytes;
  if (!ReadStringFromFile(path, &bytes)) return false;
  if (LooksLikeText(bytes)) {
    return ParseProtoFromText(bytes, proto) || ParseProtoFromLargeString(bytes, proto);
  }
  return ParseProtoFromLargeString(bytes, proto) || ParseProtoFromText(bytes, proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
