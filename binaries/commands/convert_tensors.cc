#include "binaries/commands/convert_tensors.h"

#include <array>
#include <optional>

#include "binaries/commands/file_argument.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/io/tensor_file.h"

namespace caffe2rt {
namespace {

struct Form {
  const char* name;  // of --to
  TensorFormat format;
};
constexpr std::array kForms = {Form{"npy", TensorFormat::kNpy},
                               Form{"npz", TensorFormat::kNpz},
                               Form{"tensorprotos", TensorFormat::kTensorProtos},
                               Form{"minidb", TensorFormat::kMiniDB},
                               Form{"leveldb", TensorFormat::kLevelDB},
                               Form{"lmdb", TensorFormat::kLMDB}};

std::optional<TensorFormat> FormatNamed(const std::string& name) {
  for (const Form& form : kForms) {
    if (name == form.name) return form.format;
  }
  return std::nullopt;
}

// The format that the end of a file's name states: "weights.npz".
std::optional<TensorFormat> FormatOfName(const std::string& path) {
  for (const Form& form : kForms) {
    if (path.ends_with(std::string(".") + form.name)) return form.format;
  }
  return std::nullopt;
}

bool IsProto(FileKind kind) {
  return kind == FileKind::kTensorProto || kind == FileKind::kTensorProtos ||
         kind == FileKind::kBlobProto;
}

TensorFormat FormatOf(const CommandLine& line) {
  const std::string to = line.Text("to"), output = line.Text("output");
  if (to == "text") return TensorFormat::kTensorProtosText;
  if (to == "binary") return TensorFormat::kTensorProtos;
  std::optional<TensorFormat> format = to.empty() ? FormatOfName(output) : FormatNamed(to);
  if (!format.has_value() && output.ends_with(".pb")) format = TensorFormat::kTensorProtos;
  if (!format.has_value() && NamesTextFormat(output)) format = TensorFormat::kTensorProtosText;
  if (format.has_value()) return *format;
  throw UsageError("option --output is \"" + output +
                   "\", whose name states no format; want --to text, npy, npz, tensorprotos, "
                   "minidb, leveldb or lmdb");
}

}  // namespace

bool NamesTensorFormat(const std::string& path) {
  return FormatOfName(path).has_value() || path.ends_with(".pb") || NamesTextFormat(path);
}

bool ConvertsTensors(const CommandLine& line, FileKind kind) {
  if (!HoldsTensors(kind)) return FormatNamed(line.Text("to")).has_value();
  if (!IsProto(kind)) return true;
  return line.Text("to").empty() ? FormatOfName(line.Text("output")).has_value()
                                 : FormatNamed(line.Text("to")).has_value();
}

void ConvertTensors(const CommandLine& line, const std::string& path, FileKind kind) {
  if (!HoldsTensors(kind) && kind != FileKind::kUnknown) {
    ThrowUnwantedKind(path, kind, ".npy, .npz, TensorProto(s), BlobProto or a database");
  }
  if (!line.Has("output")) throw UsageError("tensors are converted to a file; want --output FILE");
  const TensorFormat format = FormatOf(line);
  const bool is_database = format == TensorFormat::kMiniDB || format == TensorFormat::kLevelDB ||
                           format == TensorFormat::kLMDB;
  if (is_database && IsStandardStream(line.Text("output")))
    throw UsageError("option --output is \"-\", but a database is not written to standard output");
  ConvertTensorFile(path, kind, KindCheckOf(line),
                    {.path = line.Text("output"),
                     .format = format,
                     .name = line.Text("name"),
                     .overwrite = line.Has("overwrite")});
}

}  // namespace caffe2rt
