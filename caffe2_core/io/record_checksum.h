#pragma once
// A checksum at the end of a record of a database. MiniDB and LMDB have none, so a damaged pixel would be trained on.
//
//   transaction->Put(key, WithChecksum(tensors.SerializeAsString()));
//   ParseBinaryProto(CheckedRecord(value), subject, &tensors);   // throws if it is wrong
//
// A record is a serialized message. The checksum is a field that no message of Caffe2 has (number 1000, 8 bytes): other programs read such a
// record as before and leave the field out. Records without the field are accepted.
//
//   record   the message's bytes
//   c2 3e    tag of field 1000, bytes
//   08       their number
//   63 72 63 63   "crcc"
//   4 bytes  CRC-32C (Castagnoli, as in iSCSI) of the record, the lowest byte first
//
// All functions are thread safe.

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

// 32-bit cyclic redundancy check with the polynomial of Castagnoli (RFC 3720).
uint32_t Crc32c(std::string_view bytes);

std::string WithChecksum(std::string record);
// Returns the record without its checksum; all of it if it has none. THROWS if the checksum is wrong.
std::string_view CheckedRecord(std::string_view record);

}  // namespace caffe2rt
#pragma GCC visibility pop
