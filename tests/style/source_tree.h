#pragma once
// Reads the project's files for the style rules.

#include <optional>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct SourceFile {
  std::string path;  // from the root, with '/'
  std::string folder;
  std::string name;
  std::string stem;       // `name` without its extension
  std::string extension;  // with the dot
  std::vector<std::string> lines;

  bool IsHeader() const { return extension == ".h" || extension == ".cuh"; }
  // C++ or CUDA.
  bool IsCode() const { return IsHeader() || extension == ".cc" || extension == ".cu"; }
  bool IsUnder(const std::string& prefix) const { return path.rfind(prefix, 0) == 0; }
};

// Broken rules: "path:line what is wrong".
using Violations = std::vector<std::string>;

struct Include {
  bool quoted;
  std::string path;
};
// Parses a line such as `#include "path"`. Returns nothing for any other line.
std::optional<Include> ParseInclude(const std::string& line);

// Reads the sources, protos, CMake files, scripts and Markdown files below the project's folders,
// sorted by path. Skips build folders.
std::vector<SourceFile> ReadSourceTree(const std::string& root);

}  // namespace caffe2rt::test
