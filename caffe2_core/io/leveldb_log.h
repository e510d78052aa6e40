#pragma once
// Where the logs of a LevelDB database are damaged. LevelDB reads them when it opens a database, and
// does not say where it stopped. A new database of less than 256 MiB is all in a log.
//
// Format of a log: blocks of 32 KiB of fragments, which do not cross blocks:
//
//   4 bytes  masked CRC-32C of the type and the bytes that follow
//   2 bytes  their number
//   1 byte   type: 1 whole, 2 first, 3 middle, 4 last fragment of a batch
//
// A batch has 8 bytes of its number, 4 bytes of its count, and for each entry a byte (1: put), the
// length of the key as a varint, the key, and for a put the same for the value. All numbers have
// the lowest byte first.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt::db::internal {

// For the end of an error: "; log \"000003.log\" is damaged at byte 40960, at or after the record \"k\"", or "" if
// no log of the folder is damaged. THROWS if a log cannot be read.
std::string LevelDBLogDamage(const std::string& folder);

}  // namespace caffe2rt::db::internal
#pragma GCC visibility pop
