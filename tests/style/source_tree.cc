#include "tests/style/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace caffe2rt::test {
namespace {

namespace fs = std::filesystem;

// The folders of the project. Others (build, install) contain no sources.
constexpr const char* kTops[] = {"binaries", "caffe2_core", "contexts",   "operators",
                                 "proto",    "python",      "tests",      "third_party"};

bool IsRead(const fs::path& path) {
  static const std::set<std::string> kExtensions = {".h",   ".cuh",   ".cc", ".cu", ".proto",
                                                    ".txt", ".cmake", ".md", ".sh", ".py"};
  return kExtensions.contains(path.extension().string());
}

constexpr char kBlanks[] = " \t";

}  // namespace

std::optional<Include> ParseInclude(const std::string& line) {
  constexpr std::string_view kWord = "include";
  const size_t hash = line.find_first_not_of(kBlanks);
  if (hash == std::string::npos || line[hash] != '#') return std::nullopt;
  const size_t word = line.find_first_not_of(kBlanks, hash + 1);
  if (word == std::string::npos || line.compare(word, kWord.size(), kWord) != 0) {
    return std::nullopt;
  }
  const size_t open = line.find_first_not_of(kBlanks, word + kWord.size());
  if (open == std::string::npos || (line[open] != '"' && line[open] != '<')) return std::nullopt;
  const size_t close = line.find_first_of("\">", open + 1);
  if (close == std::string::npos) return std::nullopt;
  return Include{line[open] == '"', line.substr(open + 1, close - open - 1)};
}

std::vector<SourceFile> ReadSourceTree(const std::string& root) {
  std::vector<SourceFile> files;
  for (const char* top : kTops) {
    const fs::path start = fs::path(root) / top;
    if (!fs::is_directory(start)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(start)) {
      if (!entry.is_regular_file() || !IsRead(entry.path())) continue;
      SourceFile file;
      file.path = fs::relative(entry.path(), root).generic_string();
      file.folder = fs::path(file.path).parent_path().generic_string();
      file.name = entry.path().filename().string();
      file.stem = entry.path().stem().string();
      file.extension = entry.path().extension().string();
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace caffe2rt::test
