#pragma once
// A reader of protobuf's wire format that builds no messages, used to classify unknown bytes.
//
// It works on a prefix of a message: `bytes` is the part available, `size` is the size of the whole
// message. A field that extends beyond the available bytes counts as well formed; a field that
// extends beyond the message does not.

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string_view>

namespace caffe2rt {

// A message, or the beginning of one. Does not own its bytes.
struct WireMessage {
  std::string_view bytes;
  int64_t size = 0;  // >= bytes.size()
  bool whole() const { return static_cast<int64_t>(bytes.size()) == size; }
};

// kEndGroup never leaves the reader.
enum class WireType {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;   // of kVarint
  WireMessage payload;  // of kBytes
};

class WireReader {
 public:
  explicit WireReader(const WireMessage& message) : message_(message) {}

  // Reads the next field; a group is one field without a value. Returns false at the end of the
  // message or of the available bytes, and if the bytes are not a message; ok() distinguishes the
  // last case.
  bool Next(WireField* field);
  // Whether everything read so far is consistent with a message.
  bool ok() const { return ok_; }

 private:
  enum class Got { kValue, kCut, kBad };
  Got ReadVarint(uint64_t* value);
  bool Stop(Got got);
  bool ReadField(int nesting_limit, WireField* field);
  bool SkipGroup(uint32_t number, int nesting_limit);

  WireMessage message_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Whether a message may have field numbers that its descriptor does not declare.
enum class UnknownFields { kNone, kAllowed };

// Returns whether `message` matches `descriptor` recursively: every field is declared (see
// `unknown`) and has the right wire type, strings have no control characters, enum values exist,
// and a message that is whole has its required fields. Messages beyond `nesting_limit` levels count
// as a match: parsing then reports their depth.
bool FitsDescriptor(const WireMessage& message, const google::protobuf::Descriptor& descriptor,
                    UnknownFields unknown, int nesting_limit);

// Whether `bytes` contains no control characters other than white space.
bool IsPrintable(std::string_view bytes);

}  // namespace caffe2rt
