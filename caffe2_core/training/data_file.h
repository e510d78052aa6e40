#pragma once
// Reads a file from its beginning to its end. A file that gzip compressed is read decompressed.

#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/io/atomic_file.h"

namespace google::protobuf::io {
class FileInputStream;
class GzipInputStream;
class ZeroCopyInputStream;
}  // namespace google::protobuf::io

namespace caffe2rt {

// Not thread safe. Memory does not depend on the size of the file, nor on what it decompresses to.
class DataFile {
 public:
  // THROWS if the file cannot be opened.
  explicit DataFile(const std::string& path);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& path() const { return path_; }
  // Reads `size` bytes. Returns false if the file had ended before the first one. THROWS if it ends
  // between them, or if the compressed data are damaged; `what` names the bytes in the error.
  bool Read(void* data, size_t size, const char* what);
  // The same, but THROWS at the end of the file, too.
  void ReadAll(void* data, size_t size, const char* what);
  uint32_t ReadBigEndian(const char* what);
  // THROWS if the file has more bytes.
  void ExpectEnd(const char* after);

 private:
  const std::string path_;
  FileDescriptor file_;
  std::unique_ptr<google::protobuf::io::FileInputStream> raw_;
  std::unique_ptr<google::protobuf::io::GzipInputStream> gzip_;  // null if not compressed
  google::protobuf::io::ZeroCopyInputStream* stream_ = nullptr;
  int64_t offset_ = 0;  // of the next byte, decompressed
};

}  // namespace caffe2rt
