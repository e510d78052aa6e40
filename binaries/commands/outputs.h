#pragma once
// Prints the results of a run as text, or writes them as JSON.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/json_output.h"
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
  // If top is 0: PrintOutput prints the five highest classes of each row if the rows look like the
  // probabilities of a classifier, which are in [0, 1] and add up to 1 within 1e-3.
  bool finds_probabilities = false;
  // PrintOutput prints the elements of a tensor in its rows instead of in one line.
  bool prints_rows = false;
};
// Reads --labels and --top.
OutputOptions OutputOptionsOf(const CommandLine& line);

// Returns `blob`, or `copy` with a CPU copy of its tensor if that is on another device.
const Blob& OnCpu(const Blob& blob, Blob* copy);

// The columns of a terminal that names of blobs take, at least `width`, which is that of the names
// before. A name of more than 100 columns does not count.
size_t WiderNames(size_t width, const std::string& name);
// The name in one line, filled with spaces up to `width` columns, and two spaces.
std::string PaddedName(const std::string& name, size_t width);

// Prints "name  float [1, 1000]", and the classes or values below it.
void PrintOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 size_t name_width);
// Sets `json` to an object: name, type, dims, and the values or classes; of a quantized tensor also
// scale and zero_point.
void WriteOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 Json* json);

}  // namespace caffe2rt
