#include "caffe2_core/training/data_file.h"

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

namespace pbio = google::protobuf::io;

bool IsGzip(const FileDescriptor& file, const std::string& path) {
  unsigned char magic[2] = {};
  if (FileSize(file, path) < static_cast<int64_t>(sizeof(magic))) return false;
  ReadAt(file, path, 0, magic, sizeof(magic));
  return magic[0] == 0x1f && magic[1] == 0x8b;
}

}  // namespace

DataFile::DataFile(const std::string& path)
    : path_(path),
      file_(OpenForReading(path)),
      raw_(std::make_unique<pbio::FileInputStream>(file_.get())) {
  if (IsGzip(file_, path)) {
    gzip_ = std::make_unique<pbio::GzipInputStream>(raw_.get(), pbio::GzipInputStream::GZIP);
    stream_ = gzip_.get();
  } else {
    stream_ = raw_.get();
  }
}

DataFile::~DataFile() = default;

bool DataFile::Read(void* data, size_t size, const char* what) {
  auto* to = static_cast<char*>(data);
  size_t rest = size;
  while (rest > 0) {
    const void* piece = nullptr;
    int piece_size = 0;
    if (!stream_->Next(&piece, &piece_size)) break;
    const size_t count = std::min(rest, static_cast<size_t>(piece_size));
    std::memcpy(to, piece, count);
    stream_->BackUp(piece_size - static_cast<int>(count));
    to += count;
    rest -= count;
  }
  CAFFE_ENFORCE(raw_->GetErrno() == 0, "cannot read \"", path_,
                "\": ", std::strerror(raw_->GetErrno()));
  CAFFE_ENFORCE(gzip_ == nullptr || gzip_->ZlibErrorMessage() == nullptr || rest == 0, "file \"",
                path_, "\" is damaged: the compressed data end in an error at byte ", offset_,
                " of their content");
  if (rest == size && size > 0) return false;
  CAFFE_ENFORCE_EQ(rest, 0u, "bytes of ", what, " missing in \"", path_, "\", which ends at byte ",
                   offset_ + static_cast<int64_t>(size - rest));
  offset_ += static_cast<int64_t>(size);
  return true;
}

void DataFile::ReadAll(void* data, size_t size, const char* what) {
  CAFFE_ENFORCE(Read(data, size, what), "file \"", path_, "\" ends at byte ", offset_, ", want ",
                what, " of ", size, " bytes there");
}

uint32_t DataFile::ReadBigEndian(const char* what) {
  unsigned char bytes[4];
  ReadAll(bytes, sizeof(bytes), what);
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 |
         uint32_t{bytes[3]};
}

void DataFile::ExpectEnd(const char* after) {
  char byte = 0;
  CAFFE_ENFORCE(!Read(&byte, 1, "the rest"), "file \"", path_, "\" has more bytes after ", after,
                ", want its end");
}

}  // namespace caffe2rt
