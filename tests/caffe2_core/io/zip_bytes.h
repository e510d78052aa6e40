#pragma once
// Zip archives and .npy files built byte by byte, after the zip specification (APPNOTE.TXT).

#include <zlib.h>

#include <cstdint>
#include <string>

namespace caffe2rt::test {

inline std::string U16(uint64_t v) {
  return {static_cast<char>(v & 255), static_cast<char>(v >> 8 & 255)};
}
inline std::string U32(uint64_t v) { return U16(v & 0xffff) + U16(v >> 16); }
inline std::string U64(uint64_t v) { return U32(v & 0xffffffff) + U32(v >> 32); }

inline uint32_t Crc32(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

inline std::string Deflated(const std::string& bytes) {
  std::string packed(compressBound(bytes.size()) + 20, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// An entry of an archive. The fields may contradict each other.
struct ZipEntry {
  std::string name;
  std::string packed;
  uint64_t unpacked_bytes = 0;
  uint32_t crc = 0;
  unsigned method = 0;  // 8: deflated
  unsigned flags = 0;
  uint64_t packed_bytes = packed.size();
  std::string directory_extra = {};

  static ZipEntry Of(const std::string& name, const std::string& bytes, bool deflated = false) {
    return {.name = name,
            .packed = deflated ? Deflated(bytes) : bytes,
            .unpacked_bytes = bytes.size(),
            .crc = Crc32(bytes),
            .method = deflated ? 8u : 0u};
  }

  // The local header and the packed bytes.
  std::string Local() const { return "PK\3\4" + Common() + U16(0) + name + packed; }
  // The entry of the directory for the local header at `offset`.
  std::string Directory(uint64_t offset) const {
    return "PK\1\2" + U16(20) + Common() + U16(directory_extra.size()) + U16(0) + U16(0) + U16(0) +
           U32(0) + U32(offset) + name + directory_extra;
  }

 private:
  std::string Common() const {
    return U16(20) + U16(flags) + U16(method) + U32(0) + U32(crc) + U32(packed_bytes) +
           U32(unpacked_bytes) + U16(name.size());
  }
};

inline std::string ZipEnd(uint64_t entries, uint64_t directory_bytes, uint64_t directory_offset) {
  return "PK\5\6" + U32(0) + U16(entries) + U16(entries) + U32(directory_bytes) +
         U32(directory_offset) + U16(0);
}

// The end record of a Zip64 archive whose directory ends at `at`, where this record will be.
inline std::string Zip64End(uint64_t entries, uint64_t directory_bytes, uint64_t directory_offset,
                            uint64_t at) {
  return "PK\6\6" + U64(44) + U16(45) + U16(45) + U32(0) + U32(0) + U64(entries) + U64(entries) +
         U64(directory_bytes) + U64(directory_offset) + "PK\6\7" + U32(0) + U64(at) + U32(1) +
         ZipEnd(0xffff, 0xffffffff, 0xffffffff);
}

// An archive of the entries.
template <class Entries>
std::string Zip(const Entries& entries) {
  std::string locals, directory;
  for (const ZipEntry& entry : entries) {
    directory += entry.Directory(locals.size());
    locals += entry.Local();
  }
  return locals + directory + ZipEnd(entries.size(), directory.size(), locals.size());
}

// An .npy file of `data`, elements of type `descr` and shape (`size`,).
inline std::string NpyOf(const std::string& data, const std::string& descr = "|u1",
                         size_t element_bytes = 1) {
  const std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(data.size() / element_bytes) + ",), }";
  return std::string("\x93NUMPY\1\0", 8) + U16(dict.size()) + dict + data;
}

}  // namespace caffe2rt::test
