#pragma once
// The file format of packed models (`caffe2 pack`, *.c2pack): a predict net and its weights, laid
// out so that the file is mapped into memory and used as it is.
//
// All numbers are little endian. The file consists of
//
//   the header, 128 bytes
//   blocks with the elements of tensors and of the constants of the prepared net, if there is one,
//   then blocks with prepared forms
//   the index, a message PackedIndex (proto/packed_model.proto)
//
// Header:
//
//   offset  size
//        0     8  signature 89 43 32 50 4B 0D 0A 1A ("\x89C2PK\r\n\x1A")
//        8     4  version of the format: 1
//       12     4  size of the header: 128
//       16     8  size of the file
//       24     8  offset of the index, a multiple of 64
//       32     8  size of the index
//       40     8  checksum of the index
//       48    72  zeros
//      120     8  checksum of the first 120 bytes
//
// Every block begins at a multiple of 64; a block of 64 KiB or more begins at a multiple of 4,096,
// so that its pages can be released separately. The bytes between blocks are zeros. Blocks do not
// overlap the header or the index. Checksums are those of caffe2_core/base/content_sum.h.
//
// A reader rejects other versions. Later versions may add fields to the index, which older readers
// ignore, without a new version.
//
// Opening a file checks the header and the index: every offset, size, alignment, shape, type and
// name. The checksums of blocks are not checked, because that reads all bytes; Verify does it, and
// PackedModel does it for tensors that it copies. The contents of weights are untrusted input like
// any other.
//
// The file must not be changed or truncated while it is mapped; the process would get SIGBUS, as
// with a shared library. Writers in this library never do that: a file is replaced by a new one
// (atomic_file.h), and an existing mapping keeps the old one.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2rt/packed_model.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr std::string_view kPackSignature{
    "\x89"
    "C2PK\r\n\x1a",
    8};
inline constexpr size_t kPackAlignment = 64;

// Calls function(tensor) for the tensors of the packed net and for those of the prepared net.
template <class Function>
void ForEachTensor(const PackedIndex& index, const Function& function) {
  for (const PackedTensor& tensor : index.tensor()) function(tensor);
  for (const PackedTensor& tensor : index.preparation().tensor()) function(tensor);
}

// A file that was mapped. Immutable and thread safe.
class PackFile {
 public:
  // THROWS if the file cannot be read, or is not a valid packed model.
  static std::shared_ptr<const PackFile> Open(const std::string& path);
  ~PackFile();
  PackFile(const PackFile&) = delete;
  PackFile& operator=(const PackFile&) = delete;

  const PackedIndex& index() const { return index_; }
  const std::string& path() const { return path_; }
  // The bytes of a block of the index. Valid as long as the PackFile.
  const void* data(const PackedBlock& block) const { return base_ + block.offset(); }
  // Compares the checksums of all blocks. THROWS if one differs; the error names the tensor.
  void Verify() const;
  // The same for the blocks of a tensor of the index.
  void Verify(const PackedTensor& tensor) const;

 private:
  explicit PackFile(const std::string& path);

  const std::string path_;
  PackedIndex index_;
  const char* base_ = nullptr;
  size_t size_ = 0;
};

// Writes a file. It appears when Finish returns, or not at all.
class PackWriter {
 public:
  explicit PackWriter(const std::string& path);
  // Appends a block and returns its place.
  PackedBlock Add(const void* data, size_t size);
  // Writes the index and the header. THROWS if the index would not be accepted by PackFile::Open.
  void Finish(const PackedIndex& index);

 private:
  void Align(size_t alignment);

  const std::string path_;
  AtomicFile file_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
