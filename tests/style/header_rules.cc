#include "tests/style/header_rules.h"

#include <map>
#include <regex>

namespace caffe2rt::test {
namespace {

const char kPush[] = "#pragma GCC visibility push(default)";
const char kPop[] = "#pragma GCC visibility pop";
const char kNamespace[] = "namespace caffe2rt";

bool IsLibraryHeader(const SourceFile& file) {
  return file.IsHeader() &&
         (file.IsUnder("caffe2_core/") || file.IsUnder("contexts/") || file.IsUnder("operators/"));
}

}  // namespace

bool IsPublicHeader(const SourceFile& file) {
  if (!IsLibraryHeader(file)) return false;
  for (const std::string& line : file.lines) {
    if (line == kPush) return true;
    if (line.starts_with(kNamespace)) return false;
  }
  return true;
}

Violations CheckPublicHeaders(const std::vector<SourceFile>& files) {
  static const std::regex include(R"re(#include "([^"]+)")re");
  std::map<std::string, bool> is_public;
  for (const SourceFile& file : files) {
    if (IsLibraryHeader(file)) is_public[file.path] = IsPublicHeader(file);
  }
  Violations violations;
  for (const SourceFile& file : files) {
    if (!IsPublicHeader(file)) continue;
    bool exporting = false;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::string place = file.path + ":" + std::to_string(i + 1);
      if (line == kPush || line == kPop) {
        if (exporting == (line == kPush)) violations.push_back(place + " does not match its pair");
        exporting = line == kPush;
      } else if (line.starts_with(kNamespace) && !exporting) {
        violations.push_back(place + " opens the namespace again without exporting it");
      } else if (line.starts_with("}  // namespace caffe2rt") && !exporting) {
        violations.push_back(place + " closes the namespace after the export has ended");
      } else if (line.starts_with("#include") && exporting) {
        violations.push_back(place + " exports what another header declares");
      }
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const auto found = is_public.find(match[1]);
      if (found != is_public.end() && !found->second) {
        violations.push_back(place + " includes " + found->first +
                             ", which is internal and not installed");
      }
    }
    if (exporting) violations.push_back(file.path + " does not end its export");
  }
  return violations;
}

}  // namespace caffe2rt::test
