#include "caffe2_core/import/caffe/blob_reader.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/overwritten_memory.h"

namespace caffe2rt {
namespace {

// Fields of BlobProto. 10 and 12 are those of NVIDIA's branch, which OpenCV's script for shrinking
// models writes.
constexpr uint32_t kNum = 1, kWidth = 4, kData = 5, kShape = 7, kDoubleData = 8, kRawType = 10,
                   kRawData = 12;
constexpr uint64_t kRawDouble = 0, kRawFloat = 1, kRawHalf = 2;
constexpr size_t kMaxAxes = 32;
constexpr int64_t kPieceBytes = 1 << 18;

void AppendDims(WireCursor* cursor, const WireItem& shape, const std::string& subject,
                std::vector<int64_t>* dims) {
  WireWalk walk(cursor, shape.begin, shape.end, &subject, "a Caffe model");
  for (WireItem item; walk.Next(&item);) {
    if (item.number != 1) continue;
    if (item.wire_type == 0) dims->push_back(static_cast<int64_t>(item.value));
    if (item.wire_type != 2) continue;
    // Packed numbers are read as the varints of a message without tags.
    cursor->Seek(item.begin);
    while (cursor->at() < item.end) {
      uint64_t value = 0;
      int shift = 0;
      while (cursor->at() < item.end && shift < 64) {
        const auto byte = static_cast<unsigned char>(cursor->Peek(1)[0]);
        cursor->Advance(1);
        value |= static_cast<uint64_t>(byte & 127) << shift;
        shift += 7;
        if (byte < 128) break;
      }
      dims->push_back(static_cast<int64_t>(value));
      CAFFE_ENFORCE_LE(dims->size(), kMaxAxes, "file \"", subject, "\": axes of a blob");
    }
  }
}

// What the values of a blob are stored as.
struct Elements {
  uint32_t field = kData;
  int64_t count = 0;
  uint64_t raw_type = kRawHalf;
};

int64_t RawSize(uint64_t type) { return type == kRawDouble ? 8 : type == kRawFloat ? 4 : 2; }

int64_t CountOf(const WireItem& item, int64_t size) {
  return item.wire_type == 2 ? (item.end - item.begin) / size : 1;
}

Elements FindElements(WireCursor* cursor, int64_t begin, int64_t end, const std::string& subject) {
  int64_t floats = 0, doubles = 0, raw_bytes = 0;
  uint64_t raw_type = kRawHalf;
  WireWalk walk(cursor, begin, end, &subject, "a Caffe model");
  for (WireItem item; walk.Next(&item);) {
    if (item.number == kData) floats += CountOf(item, 4);
    if (item.number == kDoubleData) doubles += CountOf(item, 8);
    if (item.number == kRawType) raw_type = item.value;
    if (item.number == kRawData) raw_bytes += item.end - item.begin;
  }
  if (doubles > 0) return {.field = kDoubleData, .count = doubles};
  if (floats > 0) return {.field = kData, .count = floats};
  CAFFE_ENFORCE(raw_type <= kRawHalf, "file \"", subject, "\": a blob has raw_data_type ", raw_type,
                ", want 0 (double), 1 (float) or 2 (half)");
  return {.field = kRawData, .count = raw_bytes / RawSize(raw_type), .raw_type = raw_type};
}

template <class From>
void ConvertPieces(WireCursor* cursor, const WireItem& item, float* to) {
  int64_t left = (item.end - item.begin) / static_cast<int64_t>(sizeof(From));
  std::vector<From> piece(static_cast<size_t>(
      std::min<int64_t>(left, kPieceBytes / static_cast<int64_t>(sizeof(From)))));
  cursor->Seek(item.begin);
  while (left > 0) {
    const auto count = std::min<int64_t>(left, static_cast<int64_t>(piece.size()));
    cursor->ReadInto(piece.data(), static_cast<size_t>(count) * sizeof(From));
    for (int64_t i = 0; i < count; ++i) {
      *to++ = static_cast<float>(piece[static_cast<size_t>(i)]);
    }
    left -= count;
  }
}

// Returns the number of elements that the field had.
int64_t CopyField(WireCursor* cursor, const WireItem& item, const Elements& elements, float* to) {
  const bool raw = elements.field == kRawData;
  if (raw && item.wire_type != 2) return 0;
  if (item.wire_type == 5) {
    const auto bits = static_cast<uint32_t>(item.value);
    std::memcpy(to, &bits, sizeof(bits));
    return 1;
  }
  if (item.wire_type == 1) {
    double value = 0;
    std::memcpy(&value, &item.value, sizeof(value));
    *to = static_cast<float>(value);
    return 1;
  }
  if (item.wire_type != 2) return 0;
  if (elements.field == kDoubleData || (raw && elements.raw_type == kRawDouble)) {
    ConvertPieces<double>(cursor, item, to);
    return CountOf(item, 8);
  }
  if (raw && elements.raw_type == kRawHalf) {
    ConvertPieces<float16>(cursor, item, to);
    return CountOf(item, 2);
  }
  cursor->Seek(item.begin);
  cursor->ReadInto(to, static_cast<size_t>(CountOf(item, 4)) * sizeof(float));
  return CountOf(item, 4);
}

}  // namespace

std::vector<int64_t> ReadBlobDims(WireCursor* cursor, int64_t begin, int64_t end,
                                  const std::string& subject, bool* legacy) {
  std::vector<int64_t> dims, old(4);
  bool has_old = false, has_shape = false;
  WireWalk walk(cursor, begin, end, &subject, "a Caffe model");
  for (WireItem item; walk.Next(&item);) {
    if (item.number <= kWidth && item.wire_type == 0) {
      old[item.number - kNum] = static_cast<int64_t>(item.value);
      has_old = true;
    }
    if (item.number == kShape && item.wire_type == 2) {
      has_shape = true;
      AppendDims(cursor, item, subject, &dims);
    }
  }
  *legacy = has_old && !has_shape;
  if (*legacy) dims = old;
  (void)CheckedProduct(dims);
  return dims;
}

Tensor ReadBlobValues(WireCursor* cursor, int64_t begin, int64_t end, const std::string& subject,
                      const std::vector<int64_t>& dims) {
  const Elements elements = FindElements(cursor, begin, end, subject);
  CAFFE_ENFORCE(elements.count == CheckedProduct(dims), "file \"", subject, "\": a blob of shape [",
                absl::StrJoin(dims, ", "), "] has ", elements.count, " values");
  const OverwrittenMemory memory;
  Tensor values(dims, CPU);
  float* to = values.mutable_data<float>();
  WireWalk walk(cursor, begin, end, &subject, "a Caffe model");
  for (WireItem item; walk.Next(&item);) {
    if (item.number == elements.field) to += CopyField(cursor, item, elements, to);
  }
  // Memory that nothing was written to holds what another net left there.
  CAFFE_ENFORCE(to == values.data<float>() + elements.count, "file \"", subject,
                "\": a blob has values of a wrong wire type, or parts of values");
  return values;
}

}  // namespace caffe2rt
