#include "tests/support/shared.h"

#include <cstdlib>

namespace caffe2rt::test {

std::string SharedPath(const std::string& relative) {
  const char* folder = std::getenv("CAFFE2_TEST_SHARED");
  const std::string base = folder != nullptr && *folder != '\0'
                               ? std::string(folder)
                               : std::string(CAFFE2RT_SOURCE_DIR "/../shared");
  return relative.empty() ? base : base + "/" + relative;
}

std::string SourcePath(const std::string& relative) {
  return std::string(CAFFE2RT_SOURCE_DIR) + "/" + relative;
}

}  // namespace caffe2rt::test
