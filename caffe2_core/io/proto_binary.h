#pragma once
// Protobuf's binary form from memory and from files, with the limits that hold for every file:
// less than 2 GB, nesting bounded. For proto_file.cc.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace caffe2rt {

class FileDescriptor;

// Parses into `proto`, whose content is replaced. False when the bytes are no such message or a
// required field is missing: `reason` says why.
bool ParseBinary(std::string_view bytes, google::protobuf::Message* proto, std::string* reason);

// The same for what is left of an open file, read in small pieces: its bytes are never in memory at
// once.
bool ParseBinary(const FileDescriptor& file, google::protobuf::Message* proto, std::string* reason);

}  // namespace caffe2rt
