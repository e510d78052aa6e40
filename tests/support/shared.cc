#include "tests/support/shared.h"

#include <cstdlib>

namespace caffe2rt::test {

// trees.cc.in
const char* SourceTree();
const char* BuildTree();

std::string SharedPath(const std::string& relative) {
  const char* folder = std::getenv("CAFFE2_TEST_SHARED");
  const std::string base =
      folder != nullptr && *folder != '\0' ? std::string(folder) : SourcePath("../shared");
  return relative.empty() ? base : base + "/" + relative;
}

std::string SourcePath(const std::string& relative) {
  return std::string(SourceTree()) + "/" + relative;
}

std::string BuildPath(const std::string& relative) {
  return std::string(BuildTree()) + "/" + relative;
}

}  // namespace caffe2rt::test
