#pragma once
// What reading and writing .npz share: a limit, and libzip's objects and errors.

#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "caffe2_core/io/zip_library.h"

namespace caffe2rt::internal {

// libzip compares names that collide in its hash table with each other, so the time to open a
// hostile archive is quadratic in the number of entries: half a second for this many.
inline constexpr size_t kMaxNpzEntries = 16384;

struct DiscardZip {
  void operator()(zip_t* archive) const { Zip().discard(archive); }
};
// An open archive. The destructor closes it without writing.
using ZipArchive = std::unique_ptr<zip_t, DiscardZip>;

// An error of libzip that the caller owns.
class ZipError {
 public:
  ZipError() { Zip().error_init(&error_); }
  ~ZipError() { Zip().error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }

 private:
  zip_error_t error_;
};

// Returns libzip's description. THROWS std::bad_alloc if libzip could not allocate memory.
inline std::string ZipErrorText(zip_error_t* error) {
  if (Zip().error_code_zip(error) == ZIP_ER_MEMORY) throw std::bad_alloc();
  return Zip().error_strerror(error);
}

}  // namespace caffe2rt::internal
