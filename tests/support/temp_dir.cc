#include "tests/support/temp_dir.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {

TempDir::TempDir() {
  path_ = (std::filesystem::temp_directory_path() / "caffe2rt_test_XXXXXX").string();
  CAFFE_ENFORCE(mkdtemp(path_.data()) != nullptr, "cannot create a folder \"", path_, "\"");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::Write(const std::string& name, const std::string& content) const {
  const std::filesystem::path file = path(name);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  return file.string();
}

}  // namespace caffe2rt::test
