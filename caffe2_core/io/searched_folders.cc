#include "caffe2_core/io/searched_folders.h"

#include <absl/strings/str_join.h>

#include <filesystem>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {

std::string SearchedFolders(const FileAccess& access, const std::string& name,
                            const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) || std::filesystem::path(name).is_absolute())
    return "";
  std::vector<std::string> folders;
  for (const std::string& root : access.roots()) {
    if (!root.empty()) folders.push_back("\"" + root + "\"");
  }
  if (folders.size() < 2) return "";
  return MakeString("; \"", Shortened(name), "\" was sought in ", absl::StrJoin(folders, " and "));
}

}  // namespace caffe2rt
