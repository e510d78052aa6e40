#pragma once
// Protobuf's text form, with the place of the first mistake. Part of proto_file.h; nothing else
// needs it.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace caffe2rt {

// Counted from 1.
struct TextError {
  int line = 0;
  int column = 0;
  std::string message;
};

// Whether `text` is such a message; on failure `error` has the first thing wrong. Fields may have
// the names of all generations (DeviceOption.cuda_gpu_id).
bool ParseText(std::string_view text, google::protobuf::Message* proto, TextError* error);

}  // namespace caffe2rt
