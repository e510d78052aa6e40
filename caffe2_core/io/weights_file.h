#pragma once
// WeightsFile: a file of a NetDef in binary format, whose weights can be read again (tensor/data_source.h).
//
// It is opened again only if the memory of a weight is released, and then stays open as long as one of
// these weights exists. A file that has been replaced or changed since is not used. Internal to
// net_weights.cc.

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

struct ByteRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// Thread safe.
class WeightsFile : public std::enable_shared_from_this<WeightsFile> {
 public:
  // Call it before the file is read. Null if it is not a regular file.
  static std::shared_ptr<WeightsFile> Of(const std::string& path);

  // The values with their source, if they are worth it: floats of GivenTensorFill that occupy 64 KiB or more.
  // `list` is where they are in the file: what DecodeGivenValues (given_values.h) has read.
  Tensor WithSource(Tensor values, const std::string& type, ByteRange list);

  // Opens the file. Returns false if it cannot be opened or is not the same any more.
  bool Keep();
  // Writes the floats of a list. REQUIRES: Keep returned true. THROWS if the file has changed.
  void Read(ByteRange list, void* floats, size_t nbytes) const;

 private:
  // What changes if the file is replaced or written.
  struct Identity {
    uint64_t device = 0, inode = 0;
    int64_t size = 0, modified_s = 0, modified_ns = 0;
    bool operator==(const Identity& other) const = default;
  };
  static Identity IdentityOf(const struct stat& status);

  WeightsFile(std::string path, const Identity& identity)
      : path_(std::move(path)), identity_(identity) {}

  const std::string path_;
  const Identity identity_;
  mutable Mutex mutex_;
  std::unique_ptr<const FileInput> input_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
