#pragma once
// Parses protobuf's text format and reports the position of the first error. Used only to implement
// proto_file.h.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace caffe2rt {

// Line and column are counted from 1.
struct TextError {
  int line = 0;
  int column = 0;
  std::string message;
};

// Parses `text` into `proto`. Returns false and sets `error` to the first error if it is not a
// valid message. Accepts the former name of a field (DeviceOption.cuda_gpu_id).
bool ParseText(std::string_view text, google::protobuf::Message* proto, TextError* error);

}  // namespace caffe2rt
