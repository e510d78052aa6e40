#pragma once
// Functions that read and write proto files, access arguments and build operators.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/text_format.h>

#include <set>
#include <string>
#include <vector>

#include "c10/util/Optional.h"
#include "c10/util/string_view.h"
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2 {

using ::google::protobuf::Message;
using ::google::protobuf::MessageLite;
using ::google::protobuf::TextFormat;

using ::caffe2rt::AddArgument;
using ::caffe2rt::ArgumentHelper;
using ::caffe2rt::CreateOperatorDef;
using ::caffe2rt::DeviceTypeName;
using ::caffe2rt::GetArgument;
using ::caffe2rt::GetArgumentPtr;
using ::caffe2rt::GetFlagArgument;
using ::caffe2rt::GetMutableArgument;
using ::caffe2rt::HasInput;
using ::caffe2rt::HasOutput;
using ::caffe2rt::IsSameDevice;
using ::caffe2rt::MakeArgument;
using ::caffe2rt::ParseProtoFromLargeString;
using ::caffe2rt::ProtoDebugString;
using ::caffe2rt::ReadProtoFromBinaryFile;
using ::caffe2rt::ReadProtoFromFile;
using ::caffe2rt::ReadProtoFromTextFile;
using ::caffe2rt::ReadStringFromFile;
using ::caffe2rt::WriteProtoToBinaryFile;
using ::caffe2rt::WriteProtoToTextFile;
using ::caffe2rt::WriteStringToFile;

// Removes argument `index`. Returns false if there is none.
template <class Def>
bool RemoveArgument(Def& def, int index) {
  if (index < 0 || index >= def.arg_size()) return false;
  def.mutable_arg()->DeleteSubrange(index, 1);
  return true;
}

// Makes each external input and output of the net unique, adds the inputs of operators that nothing
// before them writes to the external inputs, and removes external outputs that no operator writes.
inline void cleanupExternalInputsAndOutputs(NetDef* net) {
  std::vector<std::string> inputs, outputs;
  std::set<std::string> known, written;
  for (const std::string& name : net->external_input())
    if (known.insert(name).second) inputs.push_back(name);
  for (const OperatorDef& op : net->op()) {
    for (const std::string& name : op.input())
      if (known.insert(name).second) inputs.push_back(name);
    for (const std::string& name : op.output()) {
      known.insert(name);
      written.insert(name);
    }
  }
  for (const std::string& name : net->external_output())
    if (written.erase(name) > 0) outputs.push_back(name);
  net->mutable_external_input()->Assign(inputs.begin(), inputs.end());
  net->mutable_external_output()->Assign(outputs.begin(), outputs.end());
}

inline void ShutdownProtobufLibrary() { ::google::protobuf::ShutdownProtobufLibrary(); }
inline int DeviceId(const DeviceOption& option) {
  return option.device_type() == CUDA ? option.device_id() : 0;
}
inline bool IsCPUDeviceType(int type) { return type == CPU; }
inline bool IsGPUDeviceType(int type) { return type == CUDA; }

// The message as bytes. THROWS if a required field is not set or the message is too large; the error
// contains `location`.
inline std::string SerializeAsString_EnforceCheck(const MessageLite& message,
                                                  const char* location = nullptr) {
  std::string bytes;
  CAFFE_ENFORCE(message.SerializeToString(&bytes), location != nullptr ? location : "",
                location != nullptr ? ": " : "", "cannot serialize a ", message.GetTypeName());
  return bytes;
}
inline std::string SerializeBlobProtoAsString_EnforceCheck(const BlobProto& blob) {
  return SerializeAsString_EnforceCheck(blob, blob.name().c_str());
}

// Appends the operators and the external inputs and outputs of `part` to `*whole`.
inline NetDef AddToNetDef(const NetDef& part, NetDef* whole) {
  whole->mutable_op()->MergeFrom(part.op());
  whole->mutable_external_input()->MergeFrom(part.external_input());
  whole->mutable_external_output()->MergeFrom(part.external_output());
  return *whole;
}

}  // namespace caffe2
