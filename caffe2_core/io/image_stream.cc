#include "caffe2_core/io/image_stream.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

constexpr char kPngSignature[] = "\x89PNG\r\n\x1a\n";
constexpr size_t kPngSignatureBytes = sizeof(kPngSignature) - 1;

uint32_t BigEndian(const std::string& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

ImageStream::ImageStream(std::string subject, Reader read)
    : subject_(std::move(subject)), read_(std::move(read)) {}

// Reads until `count` bytes are there. Returns whether they are.
bool ImageStream::HasBytes(size_t count) {
  constexpr size_t kPieceBytes = 1 << 16;
  while (bytes_.size() < count && !at_end_) {
    const size_t before = bytes_.size();
    CAFFE_ENFORCE_LE(before, static_cast<size_t>(INT_MAX), "bytes of image ", images_ + 1, " of ",
                     subject_);
    bytes_.resize(before + kPieceBytes);
    ssize_t got = 0;
    do {
      got = read_(bytes_.data() + before, kPieceBytes);
    } while (got < 0 && errno == EINTR);
    const int error = errno;
    bytes_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    CAFFE_ENFORCE(got >= 0, "cannot read ", subject_, ": ", std::strerror(error));
    at_end_ = got == 0;
  }
  return bytes_.size() >= count;
}

void ImageStream::Require(size_t count) {
  CAFFE_ENFORCE(HasBytes(count), "image ", images_ + 1, " of ", subject_, " is truncated");
}

// A signature, then chunks {length, type, data, checksum}; IEND is the last one.
size_t ImageStream::EndOfPng() {
  constexpr size_t kHeaderBytes = 8, kChecksumBytes = 4;
  for (size_t at = kPngSignatureBytes;;) {
    Require(at + kHeaderBytes);
    const uint32_t length = BigEndian(bytes_, at, 4);
    CAFFE_ENFORCE_LE(length, static_cast<uint32_t>(INT_MAX), "bytes of a chunk of image ",
                     images_ + 1, " of ", subject_);
    const bool is_last = bytes_.compare(at + 4, 4, "IEND") == 0;
    at += kHeaderBytes + length + kChecksumBytes;
    Require(at);
    if (is_last) return at;
  }
}

// Segments {0xff, marker, length, data}. Behind the segment that begins a scan are bytes of no stated
// length, in which 0xff precedes only a stuffed zero or a marker without a segment (a restart).
size_t ImageStream::EndOfJpeg() {
  constexpr uint8_t kEnd = 0xd9;
  const auto byte = [this](size_t at) {
    Require(at + 1);
    return static_cast<uint8_t>(bytes_[at]);
  };
  const auto has_segment = [](uint8_t marker) {
    return marker > 0x01 && (marker < 0xd0 || marker > 0xd8);
  };
  for (size_t at = 2;;) {
    // Bytes of a scan, or those that a damaged image has between its segments.
    while (byte(at) != 0xff) ++at;
    while (byte(at) == 0xff) ++at;
    const uint8_t marker = byte(at++);
    if (marker == kEnd) return at;
    if (!has_segment(marker)) continue;
    (void)byte(at + 1);
    at += BigEndian(bytes_, at, 2);
  }
}

bool ImageStream::Next(std::string* image) {
  CAFFE_ENFORCE(image != nullptr, "argument image of Next is null");
  if (!HasBytes(1)) return false;
  size_t end = 0;
  if (HasBytes(kPngSignatureBytes) && bytes_.compare(0, kPngSignatureBytes, kPngSignature) == 0) {
    end = EndOfPng();
  } else if (HasBytes(3) && bytes_.compare(0, 3, "\xff\xd8\xff") == 0) {
    end = EndOfJpeg();
  } else {
    const size_t rest = bytes_.size();
    bytes_.clear();
    at_end_ = true;
    if (images_ == 0) CAFFE_THROW(subject_, " is neither JPEG nor PNG");
    CAFFE_THROW("the ", rest, " or more bytes after image ", images_, " of ", subject_,
                " are neither JPEG nor PNG");
  }
  *image = bytes_.substr(0, end);
  bytes_.erase(0, end);
  ++images_;
  return true;
}

}  // namespace caffe2rt
