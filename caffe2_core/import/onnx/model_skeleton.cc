#include "caffe2_core/import/onnx/model_skeleton.h"

#include <cstdint>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/wire_walk.h"

namespace caffe2rt {
namespace {

constexpr int kMaxMessageDepth = 200;  // of messages: each graph in a graph adds three
constexpr int64_t kSmallSpan = 64;     // bytes that are copied all the same
constexpr uint32_t kSpanOffset = 1000, kSpanSize = 1001, kSpanField = 1002;  // of TensorProto
constexpr uint32_t kFloatData = 4, kRawData = 9, kDoubleData = 10;

// The messages on the way to a tensor.
enum class Message { kOther, kModel, kGraph, kFunction, kNode, kAttribute, kSparse, kTensor };

Message FieldMessage(Message message, uint32_t field) {
  switch (message) {
    case Message::kModel:
      return field == 7 ? Message::kGraph : field == 25 ? Message::kFunction : Message::kOther;
    case Message::kGraph:
      return field == 1    ? Message::kNode
             : field == 5  ? Message::kTensor
             : field == 15 ? Message::kSparse
                           : Message::kOther;
    case Message::kFunction:
      return field == 7 ? Message::kNode : field == 11 ? Message::kAttribute : Message::kOther;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kOther;
    case Message::kAttribute:
      return field == 5 || field == 10    ? Message::kTensor
             : field == 6 || field == 11  ? Message::kGraph
             : field == 22 || field == 23 ? Message::kSparse
                                          : Message::kOther;
    case Message::kSparse:
      return field == 1 || field == 2 ? Message::kTensor : Message::kOther;
    default:
      return Message::kOther;
  }
}

class Writer {
 public:
  Writer(const RandomAccessInput& input, const std::string& subject)
      : cursor_(input), subject_(subject) {}

  std::string Copy(Message message, int64_t begin, int64_t end, int depth) {
    CAFFE_ENFORCE_LE(depth, kMaxMessageDepth, "file \"", subject_, "\": levels of messages");
    std::string bytes;
    bool has_span = false;
    WireWalk walk(&cursor_, begin, end, &subject_, "an ONNX model");
    for (WireItem item; walk.Next(&item);) {
      if (message == Message::kTensor && IsSpanField(item.number)) continue;
      if (message == Message::kTensor && IsElements(item)) {
        CAFFE_ENFORCE(!has_span, "file \"", subject_, "\": a tensor has its elements twice");
        has_span = true;
        AppendSpan(item, &bytes);
      } else {
        CopyField(FieldMessage(message, item.number), item, depth, &bytes);
      }
    }
    return bytes;
  }

 private:
  static bool IsSpanField(uint32_t number) { return number >= kSpanOffset && number <= kSpanField; }
  static bool IsElements(const WireItem& item) {
    const bool holds =
        item.number == kFloatData || item.number == kRawData || item.number == kDoubleData;
    return holds && item.wire_type == 2 && item.end - item.begin > kSmallSpan;
  }

  static void AppendVarint(uint64_t value, std::string* bytes) {
    for (; value > 127; value >>= 7) bytes->push_back(static_cast<char>((value & 127) | 128));
    bytes->push_back(static_cast<char>(value));
  }

  static void AppendSpan(const WireItem& item, std::string* bytes) {
    AppendVarint(kSpanOffset << 3, bytes);
    AppendVarint(static_cast<uint64_t>(item.begin), bytes);
    AppendVarint(kSpanSize << 3, bytes);
    AppendVarint(static_cast<uint64_t>(item.end - item.begin), bytes);
    AppendVarint(kSpanField << 3, bytes);
    AppendVarint(item.number, bytes);
  }

  void CopyField(Message inner, const WireItem& item, int depth, std::string* bytes) {
    if (item.wire_type == 3) return;  // a group, which ONNX does not have
    AppendVarint(uint64_t{item.number} << 3 | static_cast<uint64_t>(item.wire_type), bytes);
    if (item.wire_type == 0) return AppendVarint(item.value, bytes);
    if (item.wire_type != 2) {
      const size_t size = item.wire_type == 1 ? 8 : 4;
      bytes->append(reinterpret_cast<const char*>(&item.value), size);
      return;
    }
    if (inner == Message::kOther) {
      AppendVarint(static_cast<uint64_t>(item.end - item.begin), bytes);
      cursor_.AppendRange(item.begin, item.end - item.begin, bytes);
      return;
    }
    const std::string copy = Copy(inner, item.begin, item.end, depth + 1);
    AppendVarint(copy.size(), bytes);
    *bytes += copy;
  }

  WireCursor cursor_;
  const std::string& subject_;
};

}  // namespace

std::string OnnxSkeleton(const RandomAccessInput& input, const std::string& subject) {
  return Writer(input, subject).Copy(Message::kModel, 0, input.size(), 0);
}

}  // namespace caffe2rt
