#pragma once
// The element types of .npy files, the conversion of a file's elements to a tensor's elements, and
// the parts of the file that represents a tensor.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::internal {

struct NpyElementType {
  const char* name;   // without byte order
  TypeMeta meta;      // of the tensor
  size_t file_bytes;  // of one element in the file
  bool same_bits;     // the tensor's elements have the same bits as the file's, if little endian
  // Converts `count` elements and writes them contiguously to `to`. In the file, consecutive
  // elements are `stride` bytes apart. `swap` means that the file is big endian. THROWS, naming
  // `subject`, if a value does not fit.
  void (*store)(const char* from, int64_t stride, int64_t count, bool swap, char* to,
                const std::string& subject);
};

const std::vector<NpyElementType>& NpyElementTypes();

// Converts `data`, the elements in file order, to the elements of a tensor of `shape`, in row-major
// order. The time is proportional to the size of the data, for any shape. REQUIRES: `data` has
// exactly the size that shape and type imply.
void CopyNpyElements(const NpyElementType& type, bool swap, bool fortran_order,
                     const std::vector<int64_t>& shape, std::string_view data, char* to,
                     const std::string& subject);

// The .npy file of a tensor: the bytes of `head`, then those of `data`.
struct NpyParts {
  std::string head;       // the header, and the elements of a tensor of strings
  Tensor host;            // on the CPU; shares the storage of a CPU tensor
  std::string_view data;  // the elements of `host`, or empty
};
// THROWS for a tensor without shape or type, and for an element type that .npy cannot represent.
NpyParts NpyPartsOf(const Tensor& tensor);

}  // namespace caffe2rt::internal
