#pragma once
// The project's files, as the style rules read them.

#include <string>
#include <vector>

namespace caffe2rt::test {

struct SourceFile {
  std::string path;  // from the root, with '/'
  std::string folder;
  std::string name;
  std::string stem;       // of `name`, without its ending
  std::string extension;  // with the dot
  std::vector<std::string> lines;

  bool IsHeader() const { return extension == ".h" || extension == ".cuh"; }
  // C++ or CUDA.
  bool IsCode() const { return IsHeader() || extension == ".cc" || extension == ".cu"; }
  bool IsUnder(const std::string& prefix) const { return path.rfind(prefix, 0) == 0; }
};

// A rule that is broken: "path:line what is wrong".
using Violations = std::vector<std::string>;

// Sources, protos, CMake files, scripts and pages under the project's folders, sorted by path.
// Build folders are left out.
std::vector<SourceFile> ReadSourceTree(const std::string& root);

}  // namespace caffe2rt::test
