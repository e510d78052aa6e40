#include "caffe2_core/io/image_orientation.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace caffe2rt::internal {
namespace {

constexpr int kUpright = 1;

// The unsigned number of `size` bytes at `at`, or 0 if the bytes end before that.
uint32_t NumberAt(std::string_view bytes, size_t at, size_t size, bool little_endian) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t index = little_endian ? size - 1 - i : i;
    number = number << 8 | static_cast<unsigned char>(bytes[at + index]);
  }
  return number;
}

// Reads Exif data: a TIFF header ("II" or "MM", 42, the offset of the first directory), and at that
// offset the number of entries and entries of 12 bytes: tag, type, count, value.
int OrientationOfExif(std::string_view tiff) {
  constexpr uint32_t kTag = 0x0112, kShort = 3;
  constexpr size_t kEntryBytes = 12;
  const bool little = tiff.starts_with("II");
  if (!little && !tiff.starts_with("MM")) return kUpright;
  if (NumberAt(tiff, 2, 2, little) != 42) return kUpright;
  const size_t directory = NumberAt(tiff, 4, 4, little);
  const size_t entries = NumberAt(tiff, directory, 2, little);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (entry + kEntryBytes > tiff.size()) break;
    if (NumberAt(tiff, entry, 2, little) != kTag) continue;
    const uint32_t value = NumberAt(tiff, entry + 8, 2, little);
    const bool valid = NumberAt(tiff, entry + 2, 2, little) == kShort && value >= 1 && value <= 8;
    return valid ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

}  // namespace

int OrientationOfJpeg(std::string_view bytes) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  size_t at = 2;  // behind the marker that starts the image
  while (at + 4 <= bytes.size() && bytes[at] == '\xff') {
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) break;  // pixels, or the end
    const size_t size = NumberAt(bytes, at + 2, 2, false);
    if (size < 2 || at + 2 + size > bytes.size()) break;
    const std::string_view content = bytes.substr(at + 4, size - 2);
    if (marker == 0xe1 && content.starts_with(kExif)) {
      return OrientationOfExif(content.substr(kExif.size()));
    }
    at += 2 + size;
  }
  return kUpright;
}

int OrientationOfPng(std::string_view bytes) {
  constexpr size_t kSignatureBytes = 8, kHeadBytes = 8, kCrcBytes = 4;
  size_t at = kSignatureBytes;
  while (at + kHeadBytes <= bytes.size()) {
    const size_t size = NumberAt(bytes, at, 4, false);
    if (size > bytes.size() - at - kHeadBytes) break;
    if (bytes.substr(at + 4, 4) == "eXIf") {
      return OrientationOfExif(bytes.substr(at + kHeadBytes, size));
    }
    at += kHeadBytes + size + kCrcBytes;
  }
  return kUpright;
}

Image Oriented(Image image, int orientation) {
  if (orientation <= kUpright || orientation > 8) return image;
  const bool swaps = orientation >= 5;  // rows become columns
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image out{.width = swaps ? image.height : image.width,
            .height = swaps ? image.width : image.height,
            .rgb = {}};
  out.rgb.resize(image.rgb.size());
  uint8_t* to = out.rgb.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x, to += 3) {
      // The stored pixel that is shown at (x, y).
      int column = swaps ? y : x, row = swaps ? x : y;
      if (from_right) column = image.width - 1 - column;
      if (from_bottom) row = image.height - 1 - row;
      const size_t pixel =
          static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column);
      std::memcpy(to, image.rgb.data() + pixel * 3, 3);
    }
  }
  return out;
}

}  // namespace caffe2rt::internal
