#pragma once
// The checks of a packed model's header and index. Internal to pack_file.cc.

#include <cstdint>
#include <string>

#include "caffe2rt/packed_model.pb.h"

namespace caffe2rt {

inline constexpr size_t kPackHeaderBytes = 128;

struct PackHeader {
  uint64_t index_offset = 0, index_size = 0, index_checksum = 0;
};

// The bytes of a header for a file of `file_size` bytes.
std::string PackHeaderBytes(const PackHeader& header, uint64_t file_size);
// THROWS, with `subject` in front of the message, unless `bytes` is a valid header for a file of
// `file_size` bytes.
PackHeader ParsePackHeader(const std::string& bytes, uint64_t file_size,
                           const std::string& subject);

// THROWS unless every name, type, shape and place in the index is valid, with blocks between the
// header and `blocks_end`.
void CheckPackedIndex(const PackedIndex& index, uint64_t blocks_end, const std::string& subject);

}  // namespace caffe2rt
