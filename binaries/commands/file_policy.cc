#include "binaries/commands/file_policy.h"

#include <algorithm>
#include <filesystem>

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

bool IsBelow(const fs::path& path, const char* folder) {
  const std::string text = path.string(), root = folder;
  return text == root || text.starts_with(root + "/");
}

// The folder that a net in `file` may access, or "" for none.
std::string FolderOfNet(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::is_regular_file(status) && !fs::is_directory(status)) return "";
  const fs::path folder = fs::path(file).parent_path();
  const fs::path real = fs::canonical(folder.empty() ? "." : folder, error);
  // File descriptors of the process have paths there, even if they are redirected regular files.
  if (error || IsBelow(real, "/dev") || IsBelow(real, "/proc")) return "";
  return real.string();
}

}  // namespace

FileAccess FileAccessOf(const CommandLine& line, const std::string& root,
                        const std::vector<std::string>& files) {
  if (line.Has("allow-files-anywhere")) return FileAccess::Free();
  std::vector<std::string> roots = {root};
  for (const std::string& file : files) {
    std::string folder = FolderOfNet(file);
    if (std::find(roots.begin(), roots.end(), folder) == roots.end()) {
      roots.push_back(std::move(folder));
    }
  }
  return FileAccess::Below(roots, "--allow-files-anywhere allows it");
}

}  // namespace caffe2rt
