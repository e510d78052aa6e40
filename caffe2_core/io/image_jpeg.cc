#include <csetjmp>
#include <cstdio>
#include <cstring>
// jpeglib.h needs FILE and size_t.
#include <jpeglib.h>
// jerror.h needs jpeglib.h.
#include <jerror.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image_codecs.h"

namespace caffe2rt::internal {
namespace {

// State that libjpeg's callbacks access through client_data.
struct JpegReader {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
  int max_scans;
  bool has_several_scans;
};

JpegReader* ReaderOf(j_common_ptr info) { return static_cast<JpegReader*>(info->client_data); }

[[noreturn]] void OnError(j_common_ptr info) {
  JpegReader* const reader = ReaderOf(info);
  info->err->format_message(info, reader->message);
  std::longjmp(reader->leave, 1);
}

// Warnings have levels below zero. Most damage only shows as noise in the image. A premature end,
// which libjpeg would fill with grey, is an error.
void OnMessage(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) OnError(info);
}

void OnProgress(j_common_ptr info) {
  if (!info->is_decompressor) return;
  JpegReader* const reader = ReaderOf(info);
  if (reader->info.input_scan_number > reader->max_scans) {
    std::snprintf(reader->message, sizeof(reader->message), "it has more than %d scans",
                  reader->max_scans);
    std::longjmp(reader->leave, 1);
  }
}

// ReadHeader and ReadRows call libjpeg and return false after an error. C++ may throw only between
// them; no object with a destructor lives in them, because an error leaves them by longjmp.
bool ReadHeader(JpegReader* reader, std::string_view bytes) {
  if (setjmp(reader->leave) != 0) return false;
  jpeg_create_decompress(&reader->info);
  reader->info.client_data = reader;
  reader->info.progress = &reader->progress;
  jpeg_mem_src(&reader->info, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&reader->info, TRUE);
  const bool four =
      reader->info.jpeg_color_space == JCS_CMYK || reader->info.jpeg_color_space == JCS_YCCK;
  reader->info.out_color_space = four ? JCS_CMYK : JCS_RGB;
  reader->has_several_scans = jpeg_has_multiple_scans(&reader->info) != FALSE;
  return true;
}

// The memory that libjpeg allocates with malloc: all 16-bit coefficients of an image with several
// scans. An upper bound.
size_t CoefficientBytes(const JpegReader& reader) {
  if (!reader.has_several_scans) return 0;
  constexpr size_t kLargestUnit = 32;  // pixels per side: up to four blocks of 8
  const auto padded = [](size_t side) { return (side / kLargestUnit + 1) * kLargestUnit; };
  return padded(reader.info.image_width) * padded(reader.info.image_height) *
         static_cast<size_t>(reader.info.num_components) * sizeof(JCOEF);
}

bool ReadRows(JpegReader* reader, unsigned char* pixels, size_t stride) {
  if (setjmp(reader->leave) != 0) return false;
  jpeg_start_decompress(&reader->info);
  while (reader->info.output_scanline < reader->info.output_height) {
    JSAMPROW row = pixels + static_cast<size_t>(reader->info.output_scanline) * stride;
    jpeg_read_scanlines(&reader->info, &row, 1);
  }
  return true;
}

// Files written by Adobe programs store inverted ink values; others store the ink values.
void CmykToRgb(const std::vector<uint8_t>& cmyk, bool inverted, Image* image) {
  for (size_t i = 0; i < image->rgb.size() / 3; ++i) {
    const auto paper = [&](size_t k) { return inverted ? cmyk[i * 4 + k] : 255 - cmyk[i * 4 + k]; };
    for (size_t c = 0; c < 3; ++c) {
      image->rgb[i * 3 + c] = static_cast<uint8_t>((paper(c) * paper(3) + 127) / 255);
    }
  }
}

int ScansOf(int64_t pixels, const ImageLimits& limits) {
  constexpr int64_t kScansOfLargest = 12;
  const int64_t fit = kScansOfLargest * std::max(limits.max_pixels, pixels) / pixels;
  return static_cast<int>(std::min<int64_t>(limits.max_scans, fit));
}

// State of the encoder. libjpeg allocates `bytes` with malloc.
struct JpegWriter {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
  unsigned char* bytes;
  unsigned long size;
};

[[noreturn]] void OnWriteError(j_common_ptr info) {
  auto* const writer = static_cast<JpegWriter*>(info->client_data);
  info->err->format_message(info, writer->message);
  std::longjmp(writer->leave, 1);
}

// Returns false after an error, like ReadHeader.
bool WriteImage(JpegWriter* writer, const Image& image) {
  constexpr int kQuality = 95;
  if (setjmp(writer->leave) != 0) return false;
  jpeg_create_compress(&writer->info);
  writer->info.client_data = writer;
  jpeg_mem_dest(&writer->info, &writer->bytes, &writer->size);
  writer->info.image_width = static_cast<JDIMENSION>(image.width);
  writer->info.image_height = static_cast<JDIMENSION>(image.height);
  writer->info.input_components = 3;
  writer->info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&writer->info);
  jpeg_set_quality(&writer->info, kQuality, TRUE);
  jpeg_start_compress(&writer->info, TRUE);
  const size_t stride = static_cast<size_t>(image.width) * 3;
  while (writer->info.next_scanline < writer->info.image_height) {
    auto* row = const_cast<JSAMPROW>(image.rgb.data() + writer->info.next_scanline * stride);
    jpeg_write_scanlines(&writer->info, &row, 1);
  }
  jpeg_finish_compress(&writer->info);
  return true;
}

}  // namespace

Image DecodeJpeg(std::string_view bytes, const std::string& subject, const ImageLimits& limits) {
  JpegReader reader;
  std::memset(&reader, 0, sizeof(reader));
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = OnError;
  reader.errors.emit_message = OnMessage;
  reader.progress.progress_monitor = OnProgress;
  reader.info.client_data = &reader;
  struct Closer {
    jpeg_decompress_struct* info;
    ~Closer() { jpeg_destroy_decompress(info); }
  } closer{&reader.info};

  CAFFE_ENFORCE(ReadHeader(&reader, bytes), "cannot read \"", subject,
                "\" as JPEG: ", reader.message);
  Image image;
  CheckImageSize(reader.info.image_width, reader.info.image_height, subject, limits);
  image.width = static_cast<int>(reader.info.image_width);
  image.height = static_cast<int>(reader.info.image_height);
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  reader.max_scans = ScansOf(static_cast<int64_t>(pixels), limits);
  const bool cmyk = reader.info.out_color_space == JCS_CMYK;
  const CPUMemoryReservation coefficients(CoefficientBytes(reader));
  image.rgb.resize(pixels * 3);
  std::vector<uint8_t> four(cmyk ? pixels * 4 : 0);
  CAFFE_ENFORCE(ReadRows(&reader, cmyk ? four.data() : image.rgb.data(),
                         static_cast<size_t>(image.width) * (cmyk ? 4 : 3)),
                "cannot read \"", subject, "\" as JPEG: ", reader.message);
  if (cmyk) CmykToRgb(four, reader.info.saw_Adobe_marker, &image);
  return image;
}

}  // namespace caffe2rt::internal

namespace caffe2rt {

void SaveJpeg(const std::string& path, const Image& image) try {
  internal::CheckPixels(path, image);
  CAFFE_ENFORCE(image.width <= JPEG_MAX_DIMENSION && image.height <= JPEG_MAX_DIMENSION,
                "cannot write \"", path, "\": the image has ", image.width, "x", image.height,
                " pixels, want at most ", JPEG_MAX_DIMENSION, " per side");
  internal::JpegWriter writer;
  std::memset(&writer, 0, sizeof(writer));
  writer.info.err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = internal::OnWriteError;
  writer.info.client_data = &writer;
  struct Closer {
    internal::JpegWriter* writer;
    ~Closer() {
      jpeg_destroy_compress(&writer->info);
      std::free(writer->bytes);
    }
  } closer{&writer};
  CAFFE_ENFORCE(internal::WriteImage(&writer, image), "cannot write \"", path,
                "\" as JPEG: ", writer.message);
  WriteFileAtomically(path, {reinterpret_cast<const char*>(writer.bytes), writer.size});
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
