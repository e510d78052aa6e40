#pragma once
// The results of `caffe2 run` for a folder: printed, and saved, file by file, as they come.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/json_output.h"
#include "caffe2_core/io/npy_streams.h"
#include "caffe2_core/tensor/blob.h"

namespace caffe2rt {

// Returns the blob of an output by its name.
using FetchBlob = std::function<const Blob&(const std::string& name)>;
// Prints the outputs for a file, or adds them to `json` if that is not null.
using WriteBlobs = std::function<void(const std::string& file, const FetchBlob& fetch, Json* json)>;

// Prints one of these:
//   - text: for each file its name and its outputs;
//   - with --json: one document, {"net": ..., "images": [{"file": ..., "outputs": [...]}, ...],
//     "failed": [{"file": ..., "error": ...}], "milliseconds": ..., "threads": ...,
//     "includes_preparation": ...}, with one line for each file, and with "nan": {"output": ...,
//     "file": ..., ...} if an output has a NaN;
//   - with --json-lines: one document per line and file, {"file": ..., "outputs": [...]}, or
//     {"file": ..., "error": ...}.
// Saves, according to --output: an archive with an array FILE for each file, FILE/BLOB if there are
// several outputs; or a folder with an array BLOB.npy for each output, which has the rows of all
// files, and files.txt, which names the file of each row.
class FolderResults {
 public:
  FolderResults(const CommandLine& line, const std::string& net,
                const std::vector<std::string>& outputs, WriteBlobs write);
  ~FolderResults();
  FolderResults(const FolderResults&) = delete;
  FolderResults& operator=(const FolderResults&) = delete;

  // Adds the outputs for a file. `source` describes it. THROWS if they cannot be saved.
  void Add(const std::string& file, const std::string& source, const FetchBlob& fetch);
  // Adds the error of a file.
  void Fail(const std::string& file, const std::string& error);
  // Finishes the files and the JSON document. `milliseconds` is the time per file, with
  // the preparation of the net if there was only one run. `nan` describes the first output with a
  // NaN, or is null.
  void Finish(float milliseconds, int threads, bool includes_preparation, const Json& nan);

 private:
  struct Rows;

  void BeginDocument();
  void Save(const std::string& file, const FetchBlob& fetch);
  void Print(const std::string& file, const std::string& source, const FetchBlob& fetch);

  const bool json_, lines_;
  const std::string net_;
  const std::vector<std::string>& outputs_;
  const WriteBlobs write_;
  bool begun_ = false, has_images_ = false;                  // of the document
  std::set<std::string> saved_;                              // names in the archive
  std::map<std::string, int64_t> numbers_;                   // of files, the last one less 1
  std::vector<std::pair<std::string, std::string>> failed_;  // file and error, with --json
  std::unique_ptr<NpzStream> archive_;
  std::unique_ptr<Rows> rows_;
};

}  // namespace caffe2rt
