#include "caffe2_core/training/run_folder.h"

#include <filesystem>
#include <system_error>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr char kRunFile[] = "run.pbtxt";

}  // namespace

void CreateRunFolder(const std::string& folder) {
  std::error_code error;
  const bool is_free = !fs::exists(folder, error) ||
                       (fs::is_directory(folder, error) && fs::is_empty(folder, error));
  const bool has_run = fs::exists(folder + "/" + kRunFile, error);
  CAFFE_ENFORCE(is_free, "\"", folder, "\" exists; choose another folder",
                has_run ? ", or go on with caffe2 train --resume " + folder : "");
  fs::create_directories(folder, error);
  CAFFE_ENFORCE(!error, "cannot create the folder \"", folder, "\": ", error.message());
}

void WriteRunDef(const RunDef& run, const std::string& folder) {
  WriteProtoToTextFile(run, folder + "/" + kRunFile);
}

RunDef ReadRunDef(const std::string& folder) {
  const std::string file = folder + "/" + kRunFile;
  CAFFE_ENFORCE(fs::exists(file), "\"", folder, "\" is not the folder of a training: it has no ",
                kRunFile);
  RunDef run;
  LoadProto(file, &run);
  return run;
}

void RemoveRunFolder(const std::string& folder, const std::string& checkpoint) {
  std::error_code ignored;
  for (const char* file : {kRunFile, "log.jsonl", "init.minidb"})
    fs::remove(fs::path(folder) / file, ignored);
  if (!checkpoint.empty()) fs::remove(checkpoint, ignored);
  fs::remove(folder, ignored);
}

}  // namespace caffe2rt
