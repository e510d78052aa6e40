#include "caffe2_core/io/proto_binary.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

#include <algorithm>
#include <climits>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/stack_limit.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/wire_format.h"

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

// Parsing text takes the most stack of all that handles messages: about 1,500 bytes for each level.
constexpr size_t kStackBytesPerLevel = 2 << 10;

// Whether the message has fields nested more than `limit` deep. Protobuf does not say why it rejects
// a message.
bool IsTooDeep(const WireMessage& message, const google::protobuf::Descriptor& descriptor,
               int limit) {
  if (limit < 0) return true;
  WireReader reader(message);
  for (WireField got; reader.Next(&got);) {
    if (got.type != WireType::kBytes) continue;
    const auto* const field = descriptor.FindFieldByNumber(static_cast<int>(got.number));
    if (field != nullptr && field->message_type() != nullptr &&
        IsTooDeep(got.payload, *field->message_type(), limit - 1)) {
      return true;
    }
  }
  return false;
}

bool Parse(CodedInputStream* stream, Message* proto, std::string* reason) {
  [[maybe_unused]] const LogSilencer silence = {};
  stream->SetTotalBytesLimit(INT_MAX);
  stream->SetRecursionLimit(ProtoNestingLimit());
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

int ProtoNestingLimit() {
  return static_cast<int>(std::min<size_t>(StackLevels(kStackBytesPerLevel), kMaxProtoNesting));
}

std::string ProtoTooDeepText(int limit) {
  return MakeString("its messages are nested too deep, want at most ", limit, " levels",
                    limit < kMaxProtoNesting ? StackRemedy() : "");
}

bool ParseBinary(std::string_view bytes, Message* proto, std::string* reason) {
  proto->Clear();
  if (bytes.size() > INT_MAX) {
    *reason = MakeString("it has ", ByteSizeText(bytes.size()), ", want less than 2 GiB");
    return false;
  }
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  if (Parse(&stream, proto, reason)) return true;
  const int limit = ProtoNestingLimit();
  const WireMessage message = {bytes, static_cast<int64_t>(bytes.size())};
  if (IsTooDeep(message, *proto->GetDescriptor(), limit)) *reason = ProtoTooDeepText(limit);
  return false;
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
