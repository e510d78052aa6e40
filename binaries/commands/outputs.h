#pragma once
// Results of a run: printed, as JSON, or saved.

#include <map>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/json_writer.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// One line each; empty lines at the end, and WordNet numbers before all of them, are left out.
// THROWS when the file cannot be read or is empty.
std::vector<std::string> ReadLabels(const std::string& path);

// A class of a row of scores.
struct TopClass {
  int64_t index = 0;
  float score = 0;
};
// The `count` highest of `size` scores, ties by index.
std::vector<TopClass> TopClasses(const float* scores, int64_t size, int64_t count);

struct OutputOptions {
  std::vector<std::string> labels;
  int64_t top = 0;  // classes to print of each row; 0: the values
};
// Of --labels and --top.
OutputOptions OutputOptionsOf(const CommandLine& line);

// The blob itself, or `copy` with its tensor when that is not in the CPU's memory.
const Blob& OnCpu(const Blob& blob, Blob* copy);

// "name  float [1, 1000]" and under it classes or values.
void PrintOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 size_t name_width);
// One object: name, type, dims, and values, or classes.
void WriteOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 JsonWriter* json);

// Blob names to files below `folder`: NAME.npy with _ for what is not in [A-Za-z0-9._-]. THROWS
// UsageError when two names would share one.
std::map<std::string, std::string> OutputFiles(const std::string& folder,
                                               const std::vector<std::string>& names);

// Makes the folder that `file` is to lie in. THROWS when it cannot.
void MakeFolderOf(const std::string& file);

// Saves the tensor, making the folder where it is missing. THROWS when the blob holds none.
void SaveOutput(const std::string& file, const std::string& name, const Blob& blob);

}  // namespace caffe2rt
