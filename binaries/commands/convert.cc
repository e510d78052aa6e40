// caffe2 convert: converts protos between text and binary format.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

std::unique_ptr<google::protobuf::Message> MessageOf(const std::string& path, FileKind kind) {
  switch (kind) {
    case FileKind::kNetDef:
      return std::make_unique<NetDef>();
    case FileKind::kPlanDef:
      return std::make_unique<PlanDef>();
    case FileKind::kMetaNetDef:
      return std::make_unique<MetaNetDef>();
    case FileKind::kTensorProto:
      return std::make_unique<TensorProto>();
    case FileKind::kTensorProtos:
      return std::make_unique<TensorProtos>();
    case FileKind::kBlobProto:
      return std::make_unique<BlobProto>();
    default:
      ThrowUnwantedKind(path, kind,
                        "a NetDef, PlanDef, MetaNetDef, TensorProto, TensorProtos or BlobProto");
  }
}

int Convert(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one file");
  const std::string path = line.positional()[0];
  const std::string to = line.Text("to");
  if (to == "caffe2" || to == "onnx")
    CAFFE_THROW("cannot convert to ", to, ": only text and binary are supported");
  if (!to.empty() && to != "text" && to != "binary") {
    throw UsageError("option --to is \"" + to + "\", want text or binary" +
                     DidYouMean(to, {"text", "binary"}));
  }
  const FileKind kind = KindOfFile(line, path);
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(path, kind);
  LoadProto(path, message.get(), KindCheckOf(line));
  const bool text = to.empty() ? !DetectFileKind(path).text : to == "text";
  const std::string bytes = text ? ProtoToText(*message) : ProtoToBinary(*message);
  if (line.Has("output")) {
    WriteFileAtomically(line.Text("output"), bytes);
    return 0;
  }
  if (!text && isatty(STDOUT_FILENO) != 0)
    throw UsageError("binary data are not written to a terminal; want --output FILE");
  // Bypass std::cout, which escapes control characters.
  CAFFE_ENFORCE_EQ(std::fwrite(bytes.data(), 1, bytes.size(), stdout), bytes.size(),
                   "bytes written to standard output: ", std::strerror(errno));
  return 0;
}

}  // namespace

const Command& ConvertCommand() {
  static const Command command = {
      .name = "convert",
      .purpose = "converts a proto from text to binary format or back",
      .usage = "convert FILE [--to text|binary] [--output FILE]",
      .examples =
          "  caffe2 convert binaries/demo/stripes/predict_net.pb\n"
          "  caffe2 convert binaries/demo/doubling_plan.pbtxt --to binary --output plan.pb\n",
      .options = {ProcessOptions()[1],
                  {"to", "FORM", "", "text or binary (default: the format the file does not have)"},
                  {"output", "FILE", "", "file to write (default: standard output)"},
                  kAsOption},
      .run = Convert,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
