#include "caffe2_core/io/pack_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/pack_check.h"
#include "caffe2_core/io/proto_binary.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

constexpr size_t kLargeBytes = 64 << 10;  // blocks of this size begin at a page
constexpr size_t kPageBytes = 4096;

std::string Subject(const std::string& path) {
  return MakeString("cannot read \"", path, "\" as a packed model: ");
}

struct FileRange {
  uint64_t begin = 0, end = 0;
};

// The first bytes in [begin, end) that are not in a hole of the file. Empty if all are. If the file
// system does not report holes, these are all bytes.
FileRange FirstStored(const FileDescriptor& file, uint64_t begin, uint64_t end) {
  const off_t data = lseek(file.get(), static_cast<off_t>(begin), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? FileRange{end, end} : FileRange{begin, end};
  const off_t hole = lseek(file.get(), data, SEEK_HOLE);
  return {std::min(static_cast<uint64_t>(data), end),
          hole < 0 ? end : std::min(static_cast<uint64_t>(hole), end)};
}

// A bool with another value than 0 or 1 is undefined behaviour in C++. Holes read as zeros and are
// not read: a small file may have holes of any size.
void CheckBools(const FileDescriptor& file, const PackedTensor& tensor, const char* base,
                const std::string& subject) {
  if (tensor.data_type() != TensorProto_DataType_BOOL) return;
  const uint64_t begin = tensor.block().offset(), end = begin + tensor.block().size();
  for (FileRange stored = FirstStored(file, begin, end); stored.begin < stored.end;
       stored = FirstStored(file, stored.end, end)) {
    const char* const stored_end = base + stored.end;
    const char* const wrong = std::find_if(base + stored.begin, stored_end, [](char value) {
      return static_cast<unsigned char>(value) > 1;
    });
    CAFFE_ENFORCE(wrong == stored_end, subject, "element ", wrong - base - begin,
                  " of bool tensor \"", Shortened(tensor.name()), "\" has the byte ",
                  static_cast<int>(static_cast<unsigned char>(*wrong)), ", want 0 or 1");
  }
}

}  // namespace

std::shared_ptr<const PackFile> PackFile::Open(const std::string& path) try {
  return std::shared_ptr<const PackFile>(new PackFile(path));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

PackFile::PackFile(const std::string& path) : path_(path) {
  const std::string subject = Subject(path);
  const FileDescriptor file = OpenForReading(path);
  struct stat info;
  CAFFE_ENFORCE(fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode), subject,
                "it is not a regular file, so it cannot be mapped");
  const auto file_size = static_cast<uint64_t>(info.st_size);
  std::string bytes(std::min<uint64_t>(file_size, kPackHeaderBytes), '\0');
  ReadAt(file, path, 0, bytes.data(), bytes.size());
  const PackHeader header = ParsePackHeader(bytes, file_size, subject);
  CAFFE_ENFORCE_LE(header.index_size, static_cast<uint64_t>(INT_MAX), subject, "size of its index");
  bytes.resize(header.index_size);
  ReadAt(file, path, static_cast<int64_t>(header.index_offset), bytes.data(), bytes.size());
  CAFFE_ENFORCE(ContentSum(bytes.data(), bytes.size()) == header.index_checksum, subject,
                "its index is damaged: the checksum differs");
  std::string reason;
  CAFFE_ENFORCE(ParseBinary(bytes, &index_, &reason), subject, "its index: ", reason);
  CheckPackedIndex(index_, header.index_offset, subject);
  void* base = mmap(nullptr, file_size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  CAFFE_ENFORCE(base != MAP_FAILED, "cannot map \"", path, "\": ", std::strerror(errno));
  base_ = static_cast<const char*>(base);
  size_ = file_size;
  try {
    ForEachTensor(index_,
                  [&](const PackedTensor& tensor) { CheckBools(file, tensor, base_, subject); });
  } catch (...) {
    munmap(base, size_);
    throw;
  }
}

PackFile::~PackFile() { munmap(const_cast<char*>(base_), size_); }

void PackFile::Verify() const {
  ForEachTensor(index_, [&](const PackedTensor& tensor) { Verify(tensor); });
}

void PackFile::Verify(const PackedTensor& tensor) const {
  const auto check = [&](const PackedBlock& block, const char* what) {
    CAFFE_ENFORCE(ContentSum(data(block), block.size()) == block.checksum(), "packed model \"",
                  path_, "\" is damaged: the checksum of ", what, " of \"",
                  Shortened(tensor.name()), "\" differs");
  };
  check(tensor.block(), "the elements");
  if (tensor.has_row_scales()) check(tensor.row_scales(), "the scales of rows");
  for (const PackedForm& form : tensor.form()) check(form.block(), "a prepared form");
}

PackWriter::PackWriter(const std::string& path)
    : path_(path),
      file_(path, AtomicFile::Existing::kReplace, AtomicFile::Order::kAnywhere) {
  file_.Write(std::string(kPackHeaderBytes, '\0'));
}

void PackWriter::Align(size_t alignment) {
  const size_t rest = static_cast<size_t>(file_.size()) % alignment;
  if (rest > 0) file_.Write(std::string(alignment - rest, '\0'));
}

PackedBlock PackWriter::Add(const void* data, size_t size) {
  Align(size >= kLargeBytes ? kPageBytes : kPackAlignment);
  PackedBlock block;
  block.set_offset(static_cast<uint64_t>(file_.size()));
  block.set_size(size);
  block.set_checksum(ContentSum(data, size));
  file_.Write({static_cast<const char*>(data), size});
  return block;
}

void PackWriter::Finish(const PackedIndex& index) {
  Align(kPackAlignment);
  const auto offset = static_cast<uint64_t>(file_.size());
  CheckPackedIndex(index, offset, MakeString("cannot write \"", path_, "\": "));
  const std::string bytes = ProtoToBinary(index);
  file_.Write(bytes);
  const PackHeader header = {.index_offset = offset,
                             .index_size = bytes.size(),
                             .index_checksum = ContentSum(bytes.data(), bytes.size())};
  file_.Overwrite(0, PackHeaderBytes(header, static_cast<uint64_t>(file_.size())));
  file_.Commit();
}

}  // namespace caffe2rt
