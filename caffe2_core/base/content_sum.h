#pragma once
// ContentSum: a checksum of bytes in memory, at nearly the speed of reading them. It detects
// changes by accident; it does not protect against an attacker.
//
// 128 independent lanes, which start with their numbers, each take one 32-bit word of a block of
// 512 bytes: lane = rotate_left((lane ^ word) * 0x9e3779b1, 15). The last block is padded with
// zeros. The lanes are then combined into 64 bits, which start as the number of bytes, one after
// the other: sum = (sum ^ lane) * 0x9e3779b97f4a7c15, sum ^= sum >> 29. Words are little endian.
// Files contain these sums (caffe2_core/io/pack_file.h), so the function never changes.

#include <cstddef>
#include <cstdint>

namespace caffe2rt {

uint64_t ContentSum(const void* data, size_t nbytes);

}  // namespace caffe2rt
