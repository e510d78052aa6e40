#include "tests/style/operator_rules.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>

namespace caffe2rt::test {
namespace {

// spatial_bn becomes SpatialBn, as in third_party/cmake/Caffe2rtOperators.cmake.
std::string CamelCase(const std::string& stem) {
  std::string name;
  bool upper = true;
  for (const char c : stem) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name;
}

bool IsFamily(const SourceFile& file) {
  return file.IsUnder("operators/") && file.folder != "operators";
}

// The stems of the operator rows, by folder.
std::map<std::string, std::set<std::string>> RowsOf(const std::vector<SourceFile>& files) {
  static const std::regex row(R"(^\s*caffe2rt_operator\((\w+))");
  std::map<std::string, std::set<std::string>> rows;
  for (const SourceFile& file : files) {
    if (!IsFamily(file) || file.name != "CMakeLists.txt") continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, row)) rows[file.folder].insert(match[1]);
    }
  }
  return rows;
}

// The paths of the kernels that the CMake lists compile without fused multiply-add.
std::set<std::string> ListedExactKernels(const std::vector<SourceFile>& files) {
  static const std::regex row(R"(^\s*caffe2rt_operator\((\w+)\b.*\bEXACT\b)");
  static const std::regex list(R"(^\s*caffe2rt_exact_kernels\(([^)]*)\))");
  static const std::regex source(R"(\w+\.cu)");
  std::set<std::string> paths;
  for (const SourceFile& file : files) {
    if (!IsFamily(file) || file.name != "CMakeLists.txt") continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, row)) {
        paths.insert(file.folder + "/" + match.str(1) + ".cu");
      } else if (std::regex_search(line, match, list)) {
        const std::string names = match[1];
        for (std::sregex_iterator it(names.begin(), names.end(), source), end; it != end; ++it) {
          paths.insert(file.folder + "/" + it->str());
        }
      }
    }
  }
  return paths;
}

// Whether a kernel source must not include the header, directly or indirectly.
bool IsHeavy(const std::string& header) {
  if (header == "caffe2_core/graph/argument_spec.h" ||
      header == "caffe2_core/graph/operator_traits.h") {
    return false;  // without protobuf
  }
  static const std::set<std::string> kHeavy = {
      "caffe2_core/base/registry.h",  "caffe2_core/device/context.h", "caffe2_core/tensor/blob.h",
      "caffe2_core/tensor/storage.h", "caffe2_core/tensor/tensor.h",  "contexts/cpu/cpu_context.h",
      "contexts/cuda/cuda_context.h",
  };
  // The folders of messages and of what runs nets.
  static const char* const kFolders[] = {
      "google/protobuf/",  "caffe2_core/graph/", "caffe2_core/runtime/", "caffe2_core/executors/",
      "caffe2_core/plan/", "caffe2_core/model/", "caffe2_core/inspect/"};
  return kHeavy.contains(header) || header.ends_with(".pb.h") ||
         std::any_of(std::begin(kFolders), std::end(kFolders),
                     [&](const char* folder) { return header.starts_with(folder); });
}

class IncludeWalk {
 public:
  explicit IncludeWalk(const std::vector<SourceFile>& files) {
    for (const SourceFile& file : files) {
      if (file.IsCode()) files_[file.path] = &file;
    }
  }

  void AddViolations(const SourceFile& file, Violations* violations) {
    std::set<std::string> seen;
    Visit(file, file.path, "", &seen, violations);
  }

 private:
  void Visit(const SourceFile& file, const std::string& root, const std::string& through,
             std::set<std::string>* seen, Violations* violations) {
    for (const std::string& line : file.lines) {
      const std::optional<Include> include = ParseInclude(line);
      if (!include) continue;
      const std::string& used = include->path;
      if (!seen->insert(used).second) continue;
      if (IsHeavy(used)) {
        violations->push_back(root + " includes " + used +
                              (through.empty() ? "" : " (through " + through + ")") +
                              ", want kernels and launch functions over numbers and pointers");
        continue;
      }
      const auto found = files_.find(used);
      if (found == files_.end()) continue;
      Visit(*found->second, root, through.empty() ? used : through + ", " + used, seen, violations);
    }
  }

  std::map<std::string, const SourceFile*> files_;
};

}  // namespace

Violations CheckOperatorRows(const std::vector<SourceFile>& files) {
  Violations violations;
  const auto rows = RowsOf(files);
  for (const SourceFile& file : files) {
    if (!IsFamily(file) || !file.IsCode()) continue;
    if (file.stem.rfind("register", 0) == 0) {
      violations.push_back(file.path +
                           " registers operators by hand, want rows in the CMakeLists.txt");
    }
    const std::regex function("^void Register" + CamelCase(file.stem) + R"(\(\))");
    for (size_t i = 0; i < file.lines.size() && file.extension == ".cc"; ++i) {
      if (!std::regex_search(file.lines[i], function)) continue;
      std::string stem = file.stem;
      for (const std::string ending : {"_cuda", "_cudnn", "_ideep"}) {
        if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
      }
      const auto row = rows.find(file.folder);
      if (row != rows.end() && row->second.contains(stem)) continue;
      violations.push_back(file.path + ":" + std::to_string(i + 1) +
                           " defines a Register function that no operator row names");
    }
  }
  return violations;
}

Violations CheckArgumentDeclarations(const std::vector<SourceFile>& files) {
  static const std::regex by_name(R"(\b(GetSingleArgument|GetRepeatedArgument)\b|)"
                                  R"(\bHas(SingleArgumentOfType<.*>|Argument)\(\s*"|\.Arg\(\s*")");
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.IsUnder("operators/") || !file.IsCode()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find("Arg") == std::string::npos) continue;
      if (line.find_first_not_of(' ') == line.find("//")) continue;
      if (!std::regex_search(line, by_name)) continue;
      violations.push_back(file.path + ":" + std::to_string(i + 1) +
                           " names an argument outside its declaration, want an ArgumentSpec");
    }
  }
  return violations;
}

Violations CheckExactKernels(const std::vector<SourceFile>& files) {
  Violations violations;
  const std::set<std::string> listed = ListedExactKernels(files);
  for (const SourceFile& file : files) {
    if (file.extension != ".cu" || !IsFamily(file)) continue;
    bool promises = false, draws = false;
    for (const std::string& line : file.lines) {
      promises = promises || (line.starts_with("//") && line.find(" Exact: ") != line.npos);
      const std::optional<Include> include = ParseInclude(line);
      draws = draws || (include && include->path.find("/philox.") != std::string::npos);
    }
    if (promises && !listed.contains(file.path)) {
      violations.push_back(file.path +
                           " promises exact results, want EXACT or caffe2rt_exact_kernels in the "
                           "CMakeLists.txt");
    }
    if (!promises && (listed.contains(file.path) || draws)) {
      violations.push_back(file.path +
                           (draws ? " uses Philox numbers" : " is compiled as an exact kernel") +
                           ", want a comment \"Exact: ...\" with the reason");
    }
  }
  return violations;
}

Violations CheckKernelIncludes(const std::vector<SourceFile>& files) {
  Violations violations;
  IncludeWalk walk(files);
  for (const SourceFile& file : files) {
    if (file.extension != ".cu" && file.extension != ".cuh") continue;
    if (!file.IsUnder("operators/") && !file.IsUnder("contexts/")) continue;
    walk.AddViolations(file, &violations);
  }
  return violations;
}

}  // namespace caffe2rt::test
