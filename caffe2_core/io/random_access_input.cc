#include "caffe2_core/io/random_access_input.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/wire_format.h"

namespace caffe2rt {
void MemoryInput::Read(int64_t offset, void* data, size_t size) const {
  // As size_t, a negative offset is beyond all bytes.
  CAFFE_ENFORCE(static_cast<size_t>(offset) <= bytes_.size() &&
                    size <= bytes_.size() - static_cast<size_t>(offset),
                "cannot read ", size, " bytes at offset ", offset, " of ", bytes_.size());
  if (size > 0) std::memcpy(data, bytes_.data() + offset, size);
}

FileInput::FileInput(const std::string& path)
    : path_(path), file_(OpenForReading(path)), size_(FileSize(file_, path)) {}

void FileInput::Read(int64_t offset, void* data, size_t size) const {
  ReadAt(file_, path_, offset, data, size);
}

WireCursor::WireCursor(const RandomAccessInput& input) : input_(input), buffer_(kBufferBytes) {}

std::string_view WireCursor::Peek(size_t least) {
  const int64_t left = input_.size() - at_;
  const size_t want = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(least), left));
  const bool inside = IsBuffered(at_);
  const size_t have = inside ? buffered_ - static_cast<size_t>(at_ - buffer_at_) : 0;
  if (have < want) {
    buffered_ = 0;  // stays so if Read throws
    const size_t count =
        static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kBufferBytes), left));
    input_.Read(at_, buffer_.data(), count);
    buffer_at_ = at_;
    buffered_ = count;
    return {buffer_.data(), count};
  }
  return {buffer_.data() + (inside ? at_ - buffer_at_ : 0), have};
}

void WireCursor::ReadInto(void* data, size_t bytes) {
  char* to = static_cast<char*>(data);
  const std::string_view first = Peek(std::min<size_t>(bytes, 1));
  const size_t buffered = std::min(first.size(), bytes);
  if (buffered > 0) std::memcpy(to, first.data(), buffered);
  at_ += static_cast<int64_t>(buffered);
  if (bytes == buffered) return;
  input_.Read(at_, to + buffered, bytes - buffered);
  at_ += static_cast<int64_t>(bytes - buffered);
}

void WireCursor::AppendRange(int64_t offset, int64_t count, std::string* bytes) const {
  const size_t before = bytes->size();
  bytes->resize(before + static_cast<size_t>(count));
  if (count == 0) return;
  if (IsBuffered(offset) && count <= buffer_at_ + static_cast<int64_t>(buffered_) - offset) {
    std::memcpy(bytes->data() + before, buffer_.data() + (offset - buffer_at_),
                static_cast<size_t>(count));
  } else {
    input_.Read(offset, bytes->data() + before, static_cast<size_t>(count));
  }
}

bool WireCursor::ReadVarint(uint64_t* value) {
  const std::string_view bytes = Peek(10);
  *value = 0;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 10); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    at_ += static_cast<int64_t>(i + 1);
    return (byte != 0 || i == 0) && (i < 9 || byte == 1);
  }
  return false;
}

bool WireCursor::ReadTag(int* field, int* wire_type) {
  const std::string_view bytes = Peek(1);
  if (bytes.empty()) return false;
  const auto tag = static_cast<unsigned char>(bytes[0]);
  ++at_;
  *field = tag >> 3;
  *wire_type = tag & 7;
  return tag < 0x80 && *field != 0;
}

bool WireCursor::ReadLength(int64_t end, int64_t* length) {
  uint64_t value = 0;
  if (!ReadVarint(&value) || at_ > end || value > static_cast<uint64_t>(end - at_)) return false;
  *length = static_cast<int64_t>(value);
  return true;
}

bool WireCursor::SkipValue(int wire_type, int64_t end) {
  int64_t length = 0;
  uint64_t ignored = 0;
  switch (wire_type) {
    case static_cast<int>(WireType::kVarint):
      return ReadVarint(&ignored) && at_ <= end;
    case static_cast<int>(WireType::kFixed64):
      length = 8;
      break;
    case static_cast<int>(WireType::kFixed32):
      length = 4;
      break;
    case static_cast<int>(WireType::kBytes):
      if (!ReadLength(end, &length)) return false;
      break;
    default:
      return false;  // groups, and numbers that no wire type has
  }
  if (length > end - at_) return false;
  at_ += length;
  return true;
}

}  // namespace caffe2rt
