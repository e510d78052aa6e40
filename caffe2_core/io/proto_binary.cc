#include "caffe2_core/io/proto_binary.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

#include <climits>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

using google::protobuf::Message;
using google::protobuf::io::CodedInputStream;

constexpr int kReadBytes = 1 << 18;

// Debug builds of protobuf print strings that are not UTF-8. Since version 22 it prints by abseil,
// which no scope silences.
#if __has_include(<google/protobuf/stubs/logging.h>)
using LogSilencer = google::protobuf::LogSilencer;
#else
struct LogSilencer {};
#endif

bool Parse(CodedInputStream* stream, Message* proto, std::string* reason) {
  [[maybe_unused]] const LogSilencer silence = {};
  stream->SetTotalBytesLimit(INT_MAX);
  stream->SetRecursionLimit(kMaxProtoNesting);
  if (!proto->MergePartialFromCodedStream(stream) || !stream->ConsumedEntireMessage()) {
    *reason = "the bytes are not a valid message, or are truncated";
    return false;
  }
  if (!proto->IsInitialized()) {
    *reason = MakeString("required fields are missing: ", proto->InitializationErrorString());
    return false;
  }
  return true;
}

}  // namespace

bool ParseBinary(std::string_view bytes, Message* proto, std::string* reason) {
  proto->Clear();
  if (bytes.size() > INT_MAX) {
    *reason = MakeString("it has ", ByteSizeText(bytes.size()), ", want less than 2 GiB");
    return false;
  }
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  return Parse(&stream, proto, reason);
}

bool ParseBinary(const FileDescriptor& file, Message* proto, std::string* reason) {
  proto->Clear();
  google::protobuf::io::FileInputStream input(file.get(), kReadBytes);
  CodedInputStream stream(&input);
  if (!Parse(&stream, proto, reason)) return false;
  // A failed read looks like the end of the file.
  *reason = "it cannot be read to its end";
  return input.GetErrno() == 0;
}

}  // namespace caffe2rt
