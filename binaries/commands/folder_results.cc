#include "binaries/commands/folder_results.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "binaries/commands/output_saver.h"
#include "binaries/commands/outputs.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {

// The arrays of a folder of results.
struct FolderResults::Rows {
  explicit Rows(OutputSaver paths) : paths(std::move(paths)) {}

  const OutputSaver paths;
  std::map<std::string, std::unique_ptr<NpyRows>> arrays;
  std::unique_ptr<AtomicFile> names;  // files.txt
};

FolderResults::FolderResults(const CommandLine& line, const std::string& net,
                             const std::vector<std::string>& outputs, WriteBlobs write)
    : json_(line.Has("json") && !line.Has("json-lines")),
      lines_(line.Has("json-lines")),
      net_(net),
      outputs_(outputs),
      write_(std::move(write)) {
  if (line.Has("output")) {
    const std::string path = line.Text("output");
    OutputSaver paths(path, outputs);
    if (!outputs.empty()) MakeFolderOf(paths.files().begin()->second);
    if (paths.is_archive()) {
      archive_ = std::make_unique<NpzStream>(path);
    } else {
      rows_ = std::make_unique<Rows>(std::move(paths));
    }
  }
}

FolderResults::~FolderResults() = default;

void FolderResults::Save(const std::string& file, const FetchBlob& fetch) {
  std::string name = std::filesystem::path(file).filename().string();
  if (!saved_.insert(name).second) {
    name = file;  // files of several folders
    // A file in the current folder, or one that is given several times.
    int64_t& number = numbers_[file];
    while (archive_ != nullptr && !saved_.insert(name).second)
      name = MakeString(file, " (", ++number + 1, ")");
  }
  // All tensors are checked first, so that no output has a row that another one lacks.
  for (const std::string& output : outputs_) (void)TensorToSave(output, fetch(output));
  for (const std::string& output : outputs_) {
    const Tensor& tensor = TensorToSave(output, fetch(output));
    if (archive_ != nullptr) {
      archive_->Add(outputs_.size() == 1 ? name : name + "/" + output, tensor);
      continue;
    }
    std::unique_ptr<NpyRows>& array = rows_->arrays[output];
    if (array == nullptr) array = std::make_unique<NpyRows>(rows_->paths.files().at(output));
    array->CheckFits(tensor);
  }
  if (rows_ == nullptr || outputs_.empty()) return;
  for (const std::string& output : outputs_)
    rows_->arrays.at(output)->Add(TensorToSave(output, fetch(output)));
  const Tensor& first = TensorToSave(outputs_[0], fetch(outputs_[0]));
  const int64_t count = first.dim() > 0 ? first.dim(0) : 1;
  if (rows_->names == nullptr) {
    const std::filesystem::path array = rows_->paths.files().begin()->second;
    rows_->names = std::make_unique<AtomicFile>((array.parent_path() / "files.txt").string());
  }
  for (int64_t i = 0; i < count; ++i) rows_->names->Write(OneLine(name) + "\n");
}

void FolderResults::BeginDocument() {
  if (begun_) return;
  begun_ = true;
  const JsonDocument name = NewJson();
  *name = net_;
  std::cout << "{\"net\": ";
  PrintJsonPart(*name);
  std::cout << ", \"images\": [";
}

void FolderResults::Print(const std::string& file, const std::string& source,
                          const FetchBlob& fetch) {
  if (!json_ && !lines_) {
    std::cout << OneLine(source) << "\n";
    write_(file, fetch, nullptr);
    return;
  }
  const JsonDocument entry = NewJson();
  (*entry)["file"] = file;
  write_(file, fetch, entry.get());
  if (lines_) {
    PrintJson(*entry);
    return;
  }
  BeginDocument();
  std::cout << (has_images_ ? ",\n" : "\n");
  has_images_ = true;
  PrintJsonPart(*entry);
}

void FolderResults::Add(const std::string& file, const std::string& source,
                        const FetchBlob& fetch) {
  if (archive_ != nullptr || rows_ != nullptr) Save(file, fetch);
  Print(file, source, fetch);
  std::cout.flush();
}

void FolderResults::Fail(const std::string& file, const std::string& error) {
  std::cout.flush();
  std::cerr << "caffe2: " << OneLine(error) << std::endl;
  if (json_) failed_.emplace_back(file, error);
  if (!lines_) return;
  const JsonDocument entry = NewJson();
  *entry = {{"file", file}, {"error", error}};
  PrintJson(*entry);
  std::cout.flush();
}

void FolderResults::Finish(float milliseconds, int threads, bool includes_preparation,
                           const Json& nan) {
  if (archive_ != nullptr) archive_->Finish();
  if (rows_ != nullptr && rows_->names != nullptr) {
    for (auto& [output, array] : rows_->arrays) array->Finish();
    rows_->names->Commit();
  }
  if (!json_) return;
  const JsonDocument failed = NewJson();
  *failed = Json::array();
  for (const auto& [file, error] : failed_)
    failed->emplace_back() = {{"file", file}, {"error", error}};
  BeginDocument();
  std::cout << (has_images_ ? "\n]" : "]") << ", \"failed\": ";
  PrintJsonPart(*failed);
  const JsonDocument time = NewJson();
  *time = JsonNumber(milliseconds);
  std::cout << ", \"milliseconds\": ";
  PrintJsonPart(*time);
  std::cout << ", \"threads\": " << threads
            << ", \"includes_preparation\": " << (includes_preparation ? "true" : "false");
  if (!nan.is_null()) {
    std::cout << ", \"nan\": ";
    PrintJsonPart(nan);
  }
  std::cout << "}\n";
}

}  // namespace caffe2rt
