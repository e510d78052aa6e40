// caffe2 convert: converts protos between text and binary format, and files of tensors.

#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "binaries/commands/command.h"
#include "binaries/commands/convert_onnx.h"
#include "binaries/commands/convert_predictor.h"
#include "binaries/commands/convert_tensors.h"
#include "binaries/commands/file_argument.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_file.h"

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

std::vector<std::string> Forms() {
  return {"text", "binary", "npy", "npz", "tensorprotos", "minidb", "leveldb", "lmdb", "onnx"};
}

// Whether a proto is written as text: as --to states, by the name of the output, or in the format
// that the file does not have.
bool WritesText(const CommandLine& line, const std::string& path) {
  const std::string to = line.Text("to");
  if (!to.empty()) return to == "text";
  const std::string output = line.Text("output");
  if (NamesTextFormat(output)) return true;
  return !output.ends_with(".pb") && !DetectFileKind(path).text;
}

int Convert(const CommandLine& line) {
  if (line.positional().size() == 2 && !line.Has("output")) {
    throw UsageError("argument \"" + line.positional()[1] +
                     "\" is unexpected; want --output (-o) before the name of the output");
  }
  CheckPositional(line, 1, 1, "one file");
  const std::string path = line.positional()[0];
  const std::string to = line.Text("to");
  if (to == "caffe2") {
    CAFFE_THROW("cannot convert to ", to,
                ": only text, binary, onnx and formats of tensors are supported");
  }
  if (to == "onnx" || (to.empty() && line.Text("output").ends_with(".onnx"))) {
    ConvertToOnnx(line, path);
    return 0;
  }
  const std::vector<std::string> forms = Forms();
  if (!to.empty() && std::find(forms.begin(), forms.end(), to) == forms.end()) {
    throw UsageError("option --to is \"" + to + "\", want " + absl::StrJoin(forms, ", ") +
                     DidYouMean(to, forms));
  }
  const FileKind kind = IsFolderOfTensors(path) ? FileKind::kUnknown : KindOfFile(line, path);
  if (IsImportedNet(kind)) {
    ConvertImportedNet(line, path, kind);
    return 0;
  }
  if (ConvertsStoredModel(line, path, kind)) {
    ConvertStoredModel(line, path, kind);
    return 0;
  }
  if (kind == FileKind::kUnknown || ConvertsTensors(line, kind)) {
    ConvertTensors(line, path, kind);
    return 0;
  }
  const std::unique_ptr<google::protobuf::Message> message = MessageOf(path, kind);
  LoadProto(path, message.get(), KindCheckOf(line));
  const bool text = WritesText(line, path);
  if (text && HasUnknownFields(*message)) {
    Warn("the text leaves out fields of file \"" + path +
         "\" that are not known; --to binary keeps them");
  }
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
      .purpose =
          "converts a proto between text and binary format, tensors between files and databases, "
          "or a net to ONNX",
      .usage = "convert FILE [--to FORM] [--output FILE] [options]",
      .examples =
          "  caffe2 convert binaries/demo/stripes/predict_net.pb\n"
          "  caffe2 convert binaries/demo/doubling_plan.pbtxt --to binary --output plan.pb\n"
          "  caffe2 convert binaries/demo/stripes/predict_net.pb \\\n"
          "    --init-net binaries/demo/stripes/init_net.pb --input-shape data=1,3,64,64 \\\n"
          "    --output stripes.onnx\n",
      .options = JoinOptions(
          {{ProcessOptions()[1],
            {"to", "FORM", "",
             "text, binary, npy, npz, tensorprotos, minidb, leveldb, lmdb or onnx (default: by the "
             "name of the output, or the format that a proto does not have)",
             false, false, &Forms},
            {"output", "FILE", "",
             "file to write (default: standard output); for a model of Caffe or ONNX, a packed "
             "model or a predictor's database, the folder of both nets"},
            {"name", "NAME", "", "name of a tensor without one (default: that of its file)"},
            {"overwrite", "", "", "replace an existing database"},
            {"init-net", "FILE", "", "net that fills the weights, for --to onnx; may be repeated",
             true},
            kOpsetOption,
            kAllowFilesOption,
            kAsOption},
           ImportOptions()}),
      .run = Convert,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
