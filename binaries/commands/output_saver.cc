#include "binaries/commands/output_saver.h"

#include <filesystem>

#include "binaries/command_line.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/narrow_number.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

// Whether --output names an archive: a standard stream, a pipe or device, or a file "*.npz".
bool IsArchive(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (IsStandardStream(path)) return true;
  if (std::filesystem::is_directory(status)) return false;
  return path.ends_with(".npz") ||
         (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
}

// The file of a TensorProto of ONNX, "*.pb" instead of "*.npy".
std::string ProtoFile(const std::string& file) {
  return file.ends_with(".npy") ? file.substr(0, file.size() - 4) + ".pb" : file;
}

}  // namespace

std::string FileStemOf(const std::string& blob) {
  std::string stem = blob;
  for (char& c : stem) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return stem;
}

OutputSaver::OutputSaver(const std::string& path, const std::vector<std::string>& names,
                         bool rename) {
  if (IsArchive(path)) {
    archive_ = path;
    for (const std::string& name : names) files_[name] = path;
    return;
  }
  std::map<std::string, std::string> owners;
  for (const std::string& name : names) {
    const std::string stem = (std::filesystem::path(path) / FileStemOf(name)).string();
    std::string file = stem + ".npy";
    for (int i = 2; rename && owners.contains(file); ++i) file = MakeString(stem, "_", i, ".npy");
    const auto [owner, inserted] = owners.emplace(file, name);
    if (!inserted && owner->second != name) {
      throw UsageError("blobs \"" + owner->second + "\" and \"" + name +
                       "\" would both be saved as \"" + file + "\"");
    }
    files_[name] = file;
  }
}

void OutputSaver::Save(const std::string& name, const Blob& blob) {
  Save(name, TensorToSave(name, blob));
}

void OutputSaver::Save(const std::string& name, const Tensor& tensor) {
  std::string& file = files_.at(name);
  if (!archive_.empty()) {
    if (archived_names_.insert(name).second) archived_.emplace_back(name, tensor);
    return;
  }
  MakeFolderOf(file);
  const auto stated = formats_.find(name);
  const std::optional<NarrowFormat> format =
      stated == formats_.end() ? std::nullopt : NarrowFormatOfName(stated->second);
  // NumPy's format has no strings of any length.
  const bool has_none = tensor.IsType<std::string>() || tensor.IsType<bfloat16>();
  if (format.has_value() || has_none) file = ProtoFile(file);
  if (format.has_value()) return WriteNarrowOnnxTensor(file, name, tensor, *format);
  if (has_none) return WriteOnnxTensor(file, name, tensor);
  WriteNpy(file, tensor);
}

void OutputSaver::Finish() {
  if (archived_.empty()) return;
  MakeFolderOf(archive_);
  WriteNpz(archive_, archived_);
}

void OutputSaver::CheckFiles() const {
  if (!archive_.empty()) {
    CheckWritable(archive_);
  } else if (!files_.empty()) {
    CheckWritable(files_.begin()->second);  // all are in one folder
  }
}

void CheckWritable(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  if (IsStandardStream(file) ||
      (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
       !std::filesystem::is_directory(status))) {
    return;
  }
  MakeFolderOf(file);
  const AtomicFile unused(file);  // removed again
}

void MakeFolderOf(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  CAFFE_ENFORCE(!error && std::filesystem::is_directory(folder, error),
                "cannot create the folder \"", folder.string(),
                "\": ", error ? error.message() : "a file has that name");
}

bool IsSaved(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  return tensor != nullptr && tensor->IsShaped() && tensor->HasData();
}

const Tensor& TensorToSave(const std::string& name, const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  CAFFE_ENFORCE(tensor != nullptr && tensor->IsShaped(), "cannot save output \"", name,
                "\": it is ", BlobText(blob), ", want a tensor");
  return *tensor;
}

}  // namespace caffe2rt
