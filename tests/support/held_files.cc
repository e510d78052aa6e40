#include "tests/support/held_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {

namespace fs = std::filesystem;

std::vector<std::string> HeldFiles(const std::string& path) {
  const std::string wanted = fs::canonical(path).string();
  std::vector<std::string> held;
  const auto add = [&](const std::string& what, const std::string& file) {
    if (file.starts_with(wanted)) held.push_back(MakeString(what, ": ", file));
  };
  std::error_code closed;  // the descriptor of this iteration
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    add("descriptor " + entry.path().filename().string(),
        fs::read_symlink(entry.path(), closed).string());
  }
  std::ifstream maps("/proc/self/maps");
  CAFFE_ENFORCE(maps.is_open(), "cannot read /proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t file = line.find('/');
    if (file != std::string::npos) {
      add("mapping " + line.substr(0, line.find(' ')), line.substr(file));
    }
  }
  std::sort(held.begin(), held.end());
  return held;
}

}  // namespace caffe2rt::test
