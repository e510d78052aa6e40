#pragma once
// Prints the results of a run as text, writes them as JSON, or saves them.

#include <map>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/json_writer.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// Reads a file of labels, one per line. Trailing empty lines are dropped, and WordNet ids are
// removed if every label begins with one. THROWS if the file cannot be read or is empty.
std::vector<std::string> ReadLabels(const std::string& path);

// A class index and its score.
struct TopClass {
  int64_t index = 0;
  float score = 0;
};
// Returns the `count` highest of `size` scores, highest first. Ties are ordered by index.
std::vector<TopClass> TopClasses(const float* scores, int64_t size, int64_t count);

struct OutputOptions {
  std::vector<std::string> labels;
  int64_t top = 0;  // number of classes to print per row; 0 prints the values
};
// Reads --labels and --top.
OutputOptions OutputOptionsOf(const CommandLine& line);

// Returns `blob`, or `copy` with a CPU copy of its tensor if that is on another device.
const Blob& OnCpu(const Blob& blob, Blob* copy);

// Prints "name  float [1, 1000]", and the classes or values below it.
void PrintOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 size_t name_width);
// Writes one JSON object: name, type, dims, and the values or classes.
void WriteOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 JsonWriter* json);

// Maps blob names to files in `folder`: NAME.npy, with _ for characters outside [A-Za-z0-9._-].
// THROWS UsageError if two names map to the same file.
std::map<std::string, std::string> OutputFiles(const std::string& folder,
                                               const std::vector<std::string>& names);

// Creates the parent folder of `file`. THROWS if it cannot.
void MakeFolderOf(const std::string& file);

// Saves the blob's tensor and creates the folder if needed. THROWS if the blob contains no tensor.
void SaveOutput(const std::string& file, const std::string& name, const Blob& blob);

}  // namespace caffe2rt
