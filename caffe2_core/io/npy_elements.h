#pragma once
// The element types of .npy files, and how the elements of a file become a tensor's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/type_meta.h"

namespace caffe2rt::internal {

struct NpyElementType {
  const char* name;   // without byte order
  TypeMeta meta;      // of the tensor
  size_t file_bytes;  // of one element in the file
  bool same_bits;     // the tensor's elements have the bits of the file's (little endian)
  // Writes `count` elements side by side to `to`; in the file each is `stride` bytes behind the one
  // before. `swap`: the file is big endian. THROWS, naming `subject`, if a value does not fit.
  void (*store)(const char* from, int64_t stride, int64_t count, bool swap, char* to,
                const std::string& subject);
};

const std::vector<NpyElementType>& NpyElementTypes();

// Fills the elements of a tensor of `shape`, in its order, from `data`, the elements in the order
// of the file. The time is in proportion to the data whatever the shape. REQUIRES: `data` has the
// bytes of shape and type.
void CopyNpyElements(const NpyElementType& type, bool swap, bool fortran_order,
                     const std::vector<int64_t>& shape, std::string_view data, char* to,
                     const std::string& subject);

}  // namespace caffe2rt::internal
