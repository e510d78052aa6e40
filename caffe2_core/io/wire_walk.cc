#include "caffe2_core/io/wire_walk.h"

#include <cstring>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {
constexpr int kMaxGroups = 32;
}  // namespace

void WireWalk::Fail(const char* what) const {
  CAFFE_THROW("cannot read \"", *subject_, "\": byte ", at_, ": ", what,
              "; the file is damaged or not ", want_);
}

uint64_t WireWalk::ReadVarint() {
  cursor_->Seek(at_);
  const std::string_view bytes = cursor_->Peek(10);
  uint64_t value = 0;
  for (size_t i = 0; i < 10 && i < bytes.size() && at_ + static_cast<int64_t>(i) < end_; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<uint64_t>(byte & 127) << (7 * i);
    if (byte < 128) {
      at_ += static_cast<int64_t>(i) + 1;
      return value;
    }
  }
  Fail("a number has no end");
}

uint64_t WireWalk::ReadFixed(size_t bytes) {
  if (end_ - at_ < static_cast<int64_t>(bytes)) Fail("a number has no end");
  cursor_->Seek(at_);
  uint64_t value = 0;
  std::memcpy(&value, cursor_->Peek(bytes).data(), bytes);
  at_ += static_cast<int64_t>(bytes);
  return value;
}

void WireWalk::SkipGroup(uint32_t number, int depth) {
  if (depth == kMaxGroups) Fail("groups are nested too deep");
  while (true) {
    if (at_ >= end_) Fail("a group has no end");
    const uint64_t tag = ReadVarint();
    if ((tag & 7) == 4) {
      if (tag >> 3 != number) Fail("the end of another group");
      return;
    }
    WireItem inner;
    inner.number = static_cast<uint32_t>(tag >> 3);
    inner.wire_type = static_cast<int>(tag & 7);
    ReadValue(depth + 1, &inner);
  }
}

void WireWalk::ReadValue(int depth, WireItem* item) {
  item->begin = at_;
  switch (item->wire_type) {
    case 0:
      item->value = ReadVarint();
      break;
    case 1:
      item->value = ReadFixed(8);
      break;
    case 5:
      item->value = ReadFixed(4);
      break;
    case 2: {
      const uint64_t length = ReadVarint();
      if (length > static_cast<uint64_t>(end_ - at_)) Fail("a field ends behind its message");
      item->begin = at_;
      at_ += static_cast<int64_t>(length);
      break;
    }
    case 3:
      SkipGroup(item->number, depth);
      break;
    default:
      Fail("a field of an unknown wire type");
  }
  item->end = at_;
}

bool WireWalk::Next(WireItem* item) {
  if (at_ >= end_) return false;
  const uint64_t tag = ReadVarint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) Fail("a field number out of range");
  item->number = static_cast<uint32_t>(tag >> 3);
  item->wire_type = static_cast<int>(tag & 7);
  ReadValue(0, item);
  return true;
}

}  // namespace caffe2rt
