#pragma once
// Parses protobuf's binary format from memory and from files, with the limits that apply to every
// file: less than 2 GB, bounded nesting. Used only to implement proto_file.h.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace caffe2rt {

class FileDescriptor;

// The number of levels to which messages may be nested: kMaxProtoNesting, or fewer in a thread with a
// small stack.
int ProtoNestingLimit();
// The error for messages that are nested more than `limit` deep.
std::string ProtoTooDeepText(int limit);

// Replaces the content of `proto`. Returns false, with the cause in `reason`, if the bytes are not
// a valid message of its type or a required field is missing.
bool ParseBinary(std::string_view bytes, google::protobuf::Message* proto, std::string* reason);

// Like the above, for the rest of an open file. Reads the file in small pieces and never holds all
// of its bytes in memory.
bool ParseBinary(const FileDescriptor& file, google::protobuf::Message* proto, std::string* reason);

}  // namespace caffe2rt
