#pragma once
// A reader of protobuf's wire form that builds nothing, for judging what unknown bytes are.
//
// It works on a prefix of a message: `bytes` are there, `size` is how long the message really is. A
// field that goes beyond the bytes at hand counts as well formed, one that goes beyond the message
// does not.

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string_view>

namespace caffe2rt {

// A message, or the beginning of one. Does not own.
struct WireMessage {
  std::string_view bytes;
  int64_t size = 0;  // >= bytes.size()
  bool whole() const { return static_cast<int64_t>(bytes.size()) == size; }
};

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;   // of kVarint
  WireMessage payload;  // of kBytes
};

class WireReader {
 public:
  explicit WireReader(const WireMessage& message) : message_(message) {}

  // The next field; false at the end, at the end of the bytes at hand, and when the bytes are no
  // message (ok()).
  bool Next(WireField* field);
  // Nothing so far contradicts that these bytes are a message.
  bool ok() const { return ok_; }

 private:
  enum class Got { kValue, kCut, kBad };
  Got ReadVarint(uint64_t* value);
  bool Stop(Got got);

  WireMessage message_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Fields of numbers that a message does not declare.
enum class UnknownFields { kNone, kAllowed };

// Whether the fields of `message` are those of `descriptor`, in the right wire type, down to the
// leaves; strings have no control characters, enumerators exist, and required fields are there.
bool FitsDescriptor(const WireMessage& message, const google::protobuf::Descriptor& descriptor,
                    UnknownFields unknown, int nesting_limit = 100);

// No control characters but white space.
bool IsPrintable(std::string_view bytes);

}  // namespace caffe2rt
