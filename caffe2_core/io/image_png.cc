#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image_codecs.h"

namespace caffe2rt {
namespace internal {
namespace {

constexpr size_t kMaxChunkBytes = 8 << 20;  // of text and profiles, which are unused

// State that libpng's callbacks access.
struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* next = nullptr;  // the unread rest of the file
  size_t left = 0;
  char message[200] = "";
};

[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* const reader = static_cast<PngReader*>(png_get_error_ptr(png));
  std::snprintf(reader->message, sizeof(reader->message), "%s", message);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

void ReadBytes(png_structp png, png_bytep to, size_t count) {
  auto* const reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader->left) png_error(png, "the file ends early");
  std::memcpy(to, reader->next, count);
  reader->next += count;
  reader->left -= count;
}

// ReadHeader, PrepareRows and ReadRows call libpng and return false after an error. C++ may throw
// only between them; no object with a destructor lives in them, because an error leaves them by
// longjmp.
bool ReadHeader(PngReader* reader) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_set_read_fn(reader->png, reader, ReadBytes);
  png_set_user_limits(reader->png, 1000000, 1000000);
  png_set_chunk_malloc_max(reader->png, kMaxChunkBytes);
  // Skip text and profiles instead of inflating them, since none are used: all chunks except
  // pixels, palette and transparency.
  png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(reader->png, reader->info);
  return true;
}

bool PrepareRows(PngReader* reader, size_t want_stride) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_set_expand(reader->png);  // palettes and fewer than 8 bits
  png_set_scale_16(reader->png);
  png_set_gray_to_rgb(reader->png);
  png_set_strip_alpha(reader->png);
  png_set_interlace_handling(reader->png);
  png_read_update_info(reader->png, reader->info);
  if (png_get_rowbytes(reader->png, reader->info) != want_stride) {
    png_error(reader->png, "its rows do not become RGB");
  }
  return true;
}

bool ReadRows(PngReader* reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader->png)) != 0) return false;
  png_read_image(reader->png, rows);
  png_read_end(reader->png, nullptr);
  return true;
}

}  // namespace

Image DecodePng(std::string_view bytes, const std::string& subject, const ImageLimits& limits) {
  PngReader reader;
  reader.next = bytes.data();
  reader.left = bytes.size();
  struct Closer {
    PngReader* reader;
    ~Closer() { png_destroy_read_struct(&reader->png, &reader->info, nullptr); }
  } closer{&reader};
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, OnError, OnWarning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  CAFFE_ENFORCE(reader.png != nullptr && reader.info != nullptr, "no memory to read \"", subject,
                "\"");

  CAFFE_ENFORCE(ReadHeader(&reader), "cannot read \"", subject, "\" as PNG: ", reader.message);
  Image image;
  const int64_t width = png_get_image_width(reader.png, reader.info);
  const int64_t height = png_get_image_height(reader.png, reader.info);
  CheckImageSize(width, height, subject, limits);
  image.width = static_cast<int>(width);
  image.height = static_cast<int>(height);
  const size_t stride = static_cast<size_t>(width) * 3;
  CAFFE_ENFORCE(PrepareRows(&reader, stride), "cannot read \"", subject,
                "\" as PNG: ", reader.message);
  image.rgb.resize(stride * static_cast<size_t>(height));
  std::vector<png_bytep> rows(static_cast<size_t>(height));
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = image.rgb.data() + y * stride;
  CAFFE_ENFORCE(ReadRows(&reader, rows.data()), "cannot read \"", subject,
                "\" as PNG: ", reader.message);
  return image;
}

}  // namespace internal

void SavePng(const std::string& path, const Image& image) try {
  internal::CheckPixels(path, image);
  png_image header;
  std::memset(&header, 0, sizeof(header));
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  bool fine =
      png_image_write_to_memory(&header, nullptr, &size, 0, image.rgb.data(), 0, nullptr) != 0;
  std::vector<char> bytes(fine ? size : 0);
  fine = fine && png_image_write_to_memory(&header, bytes.data(), &size, 0, image.rgb.data(), 0,
                                           nullptr) != 0;
  CAFFE_ENFORCE(fine, "cannot write \"", path, "\": ", header.message);
  WriteFileAtomically(path, {bytes.data(), size});
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
