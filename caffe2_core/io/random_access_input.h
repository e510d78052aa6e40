#pragma once
// Reads bytes of a file, or of memory, at any offset: RandomAccessInput, and WireCursor, which
// walks over protobuf's wire format with a small buffer.
//
// Files are read with pread into memory of the process and never mapped. A file that another
// process truncates meanwhile therefore ends in an error, where access to a mapping would raise
// SIGBUS.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {

class RandomAccessInput {
 public:
  virtual ~RandomAccessInput() = default;
  virtual int64_t size() const = 0;
  // Reads `size` bytes at `offset`. THROWS if the input ends before that.
  virtual void Read(int64_t offset, void* data, size_t size) const = 0;
};

// Bytes in memory, which the caller keeps alive.
class MemoryInput final : public RandomAccessInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  void Read(int64_t offset, void* data, size_t size) const override;

 private:
  const std::string_view bytes_;
};

// An open file. Its size is determined once.
class FileInput final : public RandomAccessInput {
 public:
  // THROWS if the file cannot be opened for reading.
  explicit FileInput(const std::string& path);
  int64_t size() const override { return size_; }
  void Read(int64_t offset, void* data, size_t size) const override;
  const FileDescriptor& file() const { return file_; }

 private:
  const std::string path_;
  const FileDescriptor file_;
  const int64_t size_;
};

// A position in an input, and a buffer of the bytes behind it.
//
// The functions that read tags and lengths accept canonical encodings only: the shortest possible
// varint, and tags of one byte (field numbers below 16). Everything else is left to protobuf's
// parser.
class WireCursor {
 public:
  explicit WireCursor(const RandomAccessInput& input);

  int64_t at() const { return at_; }
  int64_t size() const { return input_.size(); }
  // REQUIRES: 0 <= offset <= size().
  void Seek(int64_t offset) { at_ = offset; }

  // Reads a tag of one byte. Returns false at the end of the input and for any other tag.
  bool ReadTag(int* field, int* wire_type);
  // Reads the length of a field in front of `end`. Returns false if it is not canonical, or if the
  // field does not end at or before `end`.
  bool ReadLength(int64_t end, int64_t* length);
  // Moves behind the value of a field of this wire type. Returns false if there is no such value
  // before `end`.
  bool SkipValue(int wire_type, int64_t end);

  // The next bytes: at least `least` of them unless the input ends before, and as many as the
  // buffer holds. Does not move. The view is valid until the next call of a function other than
  // Advance. REQUIRES: least <= kBufferBytes.
  std::string_view Peek(size_t least);
  void Advance(size_t bytes) { at_ += static_cast<int64_t>(bytes); }
  // Copies bytes and moves behind them. Large blocks bypass the buffer.
  void ReadInto(void* data, size_t bytes);
  // Appends the next `count` bytes to `bytes` and moves behind them.
  void AppendTo(std::string* bytes, int64_t count) {
    AppendRange(at_, count, bytes);
    at_ += count;
  }
  // Appends `count` bytes at `offset` to `bytes`. Keeps the position and the buffer.
  void AppendRange(int64_t offset, int64_t count, std::string* bytes) const;

  static constexpr size_t kBufferBytes = 1 << 18;  // stays in the L2 cache

 private:
  bool ReadVarint(uint64_t* value);
  bool IsBuffered(int64_t offset) const {
    return offset >= buffer_at_ && offset - buffer_at_ <= static_cast<int64_t>(buffered_);
  }

  const RandomAccessInput& input_;
  std::vector<char> buffer_;
  int64_t buffer_at_ = 0;  // offset of the buffer's first byte
  size_t buffered_ = 0;    // number of valid bytes
  int64_t at_ = 0;
};

}  // namespace caffe2rt
