#include "tests/fuzz/mutate_png.h"

#include <zlib.h>

#include <cstdint>

namespace caffe2rt::test {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kFieldBytes = 4;  // of the length, the type and the CRC of a chunk

size_t ReadBigEndian(const std::string& bytes, size_t at) {
  size_t value = 0;
  for (size_t i = 0; i < kFieldBytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

void WriteBigEndian(size_t value, size_t at, std::string* bytes) {
  for (size_t i = kFieldBytes; i-- > 0; value >>= 8) (*bytes)[at + i] = static_cast<char>(value);
}

}  // namespace

void CorrectChecksums(std::string* png) {
  size_t at = kSignatureBytes;
  while (at + 3 * kFieldBytes <= png->size()) {
    const size_t length = ReadBigEndian(*png, at);
    if (length > png->size() - at - 3 * kFieldBytes) return;
    const size_t type = at + kFieldBytes;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(png->data() + type),
                           static_cast<uInt>(kFieldBytes + length));
    WriteBigEndian(crc, type + kFieldBytes + length, png);
    at += 3 * kFieldBytes + length;
  }
}

}  // namespace caffe2rt::test
