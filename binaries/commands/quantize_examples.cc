#include "binaries/commands/quantize_examples.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "binaries/commands/input_values.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/model/model_inputs.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

Tensor RowOf(const Tensor& tensor, int64_t row) {
  std::vector<int64_t> dims = tensor.dims();
  dims[0] = 1;
  Tensor copy(dims, CPU);
  auto* const to = static_cast<char*>(copy.raw_mutable_data(tensor.meta()));
  const size_t bytes = static_cast<size_t>(copy.numel()) * tensor.itemsize();
  std::memcpy(to, static_cast<const char*>(tensor.raw_data()) + static_cast<size_t>(row) * bytes,
              bytes);
  return copy;
}

}  // namespace

QuantizeExamples::QuantizeExamples(const CommandLine& line, const Model& model, Workspace* ws)
    : line_(line), ws_(ws), fed_(FeedInputs(line, model, ws)) {
  const std::string calibrate = line.Text("calibrate");
  if (!calibrate.empty() && (line.Has("image") || line.Has("image-list")))
    throw UsageError("--calibrate and --image both name examples, want one of them");
  CAFFE_ENFORCE(calibrate.empty() || PathExists(calibrate), "cannot read \"", calibrate,
                "\": no such file or folder");
  if (!calibrate.empty() && !fs::is_directory(calibrate)) ReadArrays(calibrate, model);
  images_ = FindInputImages(line, model, fed_, ImageCount::kAll);
  if (images_.stream != nullptr)
    throw UsageError("option --image gives a stream, want files or a folder");
  const bool random =
      std::any_of(fed_.begin(), fed_.end(), [](const auto& input) { return input.is_random; });
  if (images_.files.empty() && arrays_.empty() && (fed_.empty() || random))
    throw UsageError(
        "want examples to measure ranges on: --calibrate FOLDER or FILE.npz, --image FOLDER, or "
        "--input BLOB=FILE.npy");
}

void QuantizeExamples::ReadArrays(const std::string& path, const Model& model) {
  if (KindByBeginning(path) != FileKind::kNpz)
    throw UsageError("option --calibrate is \"" + path +
                     "\", want a folder of images or .npy files, or a .npz file");
  arrays_ = ReadNpz(path);
  CAFFE_ENFORCE(!arrays_.empty(), "file \"", path, "\" contains no array");
  for (auto& [name, tensor] : arrays_) {
    if (std::find(model.inputs.begin(), model.inputs.end(), name) == model.inputs.end())
      CheckInputName({&model.predict_net}, name);
    CAFFE_ENFORCE(tensor.dim() > 0 && tensor.dim(0) > 0 && tensor.numel() > 0, "array \"", name,
                  "\" of file \"", path, "\" has shape ", tensor.sizes(),
                  ", want at least one row, which is one example");
    CAFFE_ENFORCE_EQ(tensor.dim(0), arrays_[0].second.dim(0), "rows of array \"", name,
                     "\" of file \"", path, "\", each one example, beside array \"",
                     arrays_[0].first, "\"");
    for (const FedInput& input : fed_) {
      if (input.blob == name)
        throw UsageError("blob \"" + name + "\" is given by both --input and --calibrate");
    }
    tensor = CastAsTold(line_, name, std::move(tensor));
  }
  for (const auto& [name, tensor] : arrays_) {
    fed_.push_back({name, path, false});
    SetTensor(ws_, name, RowOf(tensor, 0));
  }
}

size_t QuantizeExamples::count() const {
  if (!arrays_.empty()) return static_cast<size_t>(arrays_[0].second.dim(0));
  return std::max<size_t>(images_.files.size(), 1);
}

void QuantizeExamples::Feed(size_t i) {
  for (const auto& [name, tensor] : arrays_) {
    SetTensor(ws_, name, RowOf(tensor, static_cast<int64_t>(i)));
  }
  if (!images_.files.empty()) FeedImage(line_, images_, images_.files[i], ws_);
}

std::string QuantizeExamples::NameOf(size_t i) const {
  if (!images_.files.empty()) return MakeString("example \"", images_.files[i], "\"");
  return MakeString("example ", i);
}

// A line is a class, or the name of a file and its class.
std::vector<int64_t> QuantizeExamples::Labels() const {
  const std::string path = line_.Text("labels");
  if (path.empty()) return {};
  constexpr int64_t kMostBytes = 256 << 20;
  const std::vector<std::string> lines = absl::StrSplit(ReadWholeFile(path, kMostBytes), '\n');
  std::vector<int64_t> labels;
  std::map<std::string, int64_t> by_name;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string content = lines[i];
    absl::StripAsciiWhitespace(&content);
    if (content.empty()) continue;
    const size_t space = content.find_last_of(" \t");
    const std::string word = space == content.npos ? content : content.substr(space + 1);
    int64_t label = 0;
    CAFFE_ENFORCE(absl::SimpleAtoi(word, &label) && label >= 0, "line ", i + 1, " of \"", path,
                  "\" ends in \"", word, "\", want the number of a class");
    labels.push_back(label);
    if (space == content.npos) continue;
    content.resize(space);
    absl::StripAsciiWhitespace(&content);
    by_name[fs::path(content).filename().string()] = label;
  }
  CAFFE_ENFORCE(!labels.empty(), "file \"", path, "\" contains no labels");
  if (by_name.empty()) return labels;
  std::vector<int64_t> of_files;
  for (const std::string& file : images_.files) {
    const auto found = by_name.find(fs::path(file).filename().string());
    CAFFE_ENFORCE(found != by_name.end(), "file \"", path, "\" has no line for \"", file, "\"");
    of_files.push_back(found->second);
  }
  return of_files;
}

}  // namespace caffe2rt
