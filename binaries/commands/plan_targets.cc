#include "binaries/commands/plan_targets.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether `name` is what `pattern` becomes for some iteration: its first conversion as digits.
bool Matches(const std::string& name, const std::string& pattern) {
  const size_t percent = pattern.find('%');
  const size_t end = pattern.find_first_of("diuxXo", percent);
  if (percent == std::string::npos || end == std::string::npos) return name == pattern;
  const std::string before = pattern.substr(0, percent), after = pattern.substr(end + 1);
  if (name.size() <= before.size() + after.size()) return false;
  const std::string digits = name.substr(before.size(), name.size() - before.size() - after.size());
  return name.starts_with(before) && name.ends_with(after) &&
         std::all_of(digits.begin(), digits.end(), IsDigit);
}

std::vector<fs::path> PathsOf(const CreatedDatabase& target, const std::string& root) {
  const fs::path path = target.is_absolute ? fs::path(target.path) : fs::path(root) / target.path;
  if (!target.is_pattern) return {path};
  std::vector<fs::path> paths;
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (Matches(entry.path().filename().string(), path.filename().string()))
      paths.push_back(entry.path());
  }
  return paths;
}

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void Remove(const fs::path& path, const std::string& type, const Workspace& ws) {
  if (!fs::exists(path)) return;
  if (LowerCase(DBTypeOfKind(DetectFileKind(path.string()).kind)) != LowerCase(type)) return;
  const std::string allowed = ws.file_access().CheckWrite(path.string());
  std::error_code error;
  fs::remove_all(allowed, error);
  CAFFE_ENFORCE(!error, "cannot remove \"", path.string(), "\": ", error.message());
}

}  // namespace

void RemoveTargetsOf(const PlanDef& plan, const Workspace& ws) {
  for (const NetDef& net : plan.network()) {
    for (const OperatorDef& op : net.op()) {
      const std::optional<CreatedDatabase> target = FindCreatedDatabase(op);
      if (!target.has_value()) continue;
      for (const fs::path& path : PathsOf(*target, ws.RootFolder())) Remove(path, target->type, ws);
    }
  }
}

}  // namespace caffe2rt
