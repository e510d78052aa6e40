#pragma once
// Saves the results of a run in files.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// The name of a blob as the name of a file: _ for characters outside [A-Za-z0-9._-].
std::string FileStemOf(const std::string& blob);

// Saves blobs according to --output. If the path ends in ".npz" and is not a folder, or is a pipe
// or standard output, it is an archive that holds each tensor under its blob's name; it is written
// by Finish. Otherwise it is a folder, and a tensor is saved at once under FileStemOf(NAME) and
// ".npy"; elements that NumPy does not have (strings, bfloat16, numbers of 8 bits and less) under ".pb", as a
// TensorProto of ONNX. The folder, or the parent folder of the
// archive, is created if needed.
class OutputSaver {
 public:
  OutputSaver() = default;  // saves nothing
  // If two of the names map to the same file, THROWS UsageError, or, with `rename`, adds "_2",
  // "_3", ... to the name of the file.
  OutputSaver(const std::string& path, const std::vector<std::string>& names, bool rename = false);

  bool is_archive() const { return !archive_.empty(); }
  // The file for each name; after Save the one that was written.
  const std::map<std::string, std::string>& files() const { return files_; }
  // Saves a tensor under one of the names. A name that was saved before keeps its first tensor in
  // an archive. THROWS if the blob contains no tensor or the file cannot be written.
  void Save(const std::string& name, const Blob& blob);
  void Save(const std::string& name, const Tensor& tensor);
  // The outputs of a net of which it states a format of files (StatedOutputFormats) are saved in it.
  void SetFormats(std::map<std::string, std::string> formats) { formats_ = std::move(formats); }
  // Writes the archive, unless nothing was saved. THROWS if it cannot.
  void Finish();
  // THROWS if the files cannot be written: before time is spent on their content.
  void CheckFiles() const;

 private:
  std::map<std::string, std::string> files_, formats_;
  std::string archive_;  // empty: a folder
  std::set<std::string> archived_names_;
  std::vector<std::pair<std::string, Tensor>> archived_;
};

// THROWS if the file cannot be written; otherwise its folder exists afterwards. Pipes, devices and
// standard output are not tried.
void CheckWritable(const std::string& file);

// Creates the parent folder of `file`. THROWS if it cannot.
void MakeFolderOf(const std::string& file);

// Whether TensorToSave returns a tensor.
bool IsSaved(const Blob& blob);
// Returns the blob's tensor; of a quantized one, the stored elements. THROWS if the blob contains
// none that can be saved.
const Tensor& TensorToSave(const std::string& name, const Blob& blob);

}  // namespace caffe2rt
