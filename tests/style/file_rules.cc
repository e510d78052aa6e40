#include "tests/style/file_rules.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace caffe2rt::test {
namespace {

bool IsCompat(const SourceFile& file) { return file.IsUnder("caffe2_core/compat/"); }

std::string Place(const SourceFile& file, size_t line) {
  return file.path + ":" + std::to_string(line + 1);
}

// The text of the file without comments, with "" for string and character literals. Line breaks are
// kept.
std::string CodeOf(const SourceFile& file) {
  std::string text;
  for (const std::string& line : file.lines) text += line + "\n";
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = text.find('\n', i);
      code += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      const size_t end = std::min(text.find("*/", i + 2), text.size() - 2);
      code.append(static_cast<size_t>(std::count(text.begin() + i, text.begin() + end, '\n')),
                  '\n');
      i = end + 1;
    } else if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
      const std::string close = ")" + text.substr(i + 1, text.find('(', i) - i - 1) + "\"";
      const size_t end = std::min(text.find(close, i), text.size() - close.size());
      code.append(static_cast<size_t>(std::count(text.begin() + i, text.begin() + end, '\n')),
                  '\n');
      code += "\"\"";
      i = end + close.size() - 1;
    } else if (text[i] == '"' ||
               (text[i] == '\'' &&
                (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))) {
      const char quote = text[i++];
      while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
      code += "\"\"";
    } else {
      code += text[i];
    }
  }
  return code;
}

// The number of arguments of the call whose parenthesis opens at `open`: the number of commas
// outside nested brackets, plus one.
int CountArguments(const std::string& code, size_t open) {
  int depth = 0, arguments = 1;
  for (size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0) break;
    if (c == ',' && depth == 1) ++arguments;
  }
  return arguments;
}

// Whether the README.md is that of a folder whose headers it has to name.
bool NamesHeaders(const SourceFile& readme) {
  const auto is_under = [&](const char* top) { return readme.IsUnder(top); };
  static const char* const tops[] = {"binaries/", "caffe2_core/", "contexts/", "operators/",
                                     "proto/"};
  return !IsCompat(readme) && std::any_of(std::begin(tops), std::end(tops), is_under);
}

// The files that the first cells of a README.md's tables name in backticks. A name with '<', such
// as `<stem>.cc`, stands for several files and is left out.
std::set<std::string> FilesInTables(const SourceFile& readme) {
  std::set<std::string> names;
  for (const std::string& line : readme.lines) {
    if (!line.starts_with('|')) continue;
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    size_t close = 0;
    for (size_t open = cell.find('`'); open != std::string::npos;
         open = cell.find('`', close + 1)) {
      close = cell.find('`', open + 1);
      if (close == std::string::npos) break;
      const std::string name = cell.substr(open + 1, close - open - 1);
      const bool is_file = name.ends_with(".h") || name.ends_with(".cuh") || name.ends_with(".cc");
      if (is_file && name.find('<') == std::string::npos) names.insert(name);
    }
  }
  return names;
}

// Whether the header is an x_kernels.h beside x.h, x.cc or x.cu (operators/README.md).
bool DeclaresKernelsOfAStem(const SourceFile& file, const std::set<std::string>& paths) {
  constexpr std::string_view kEnding = "_kernels.h";
  if (!file.path.ends_with(kEnding)) return false;
  const std::string stem = file.path.substr(0, file.path.size() - kEnding.size());
  return paths.contains(stem + ".h") || paths.contains(stem + ".cc") ||
         paths.contains(stem + ".cu");
}

}  // namespace

Violations CheckLength(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    if (file.IsCode() && file.lines.size() > kMaxLines) {
      violations.push_back(file.path + " has " + std::to_string(file.lines.size()) +
                           " lines, want at most " + std::to_string(kMaxLines));
    }
  }
  return violations;
}

Violations CheckNames(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    // Sources in Caffe2's own style use its names.
    if (!file.IsCode() || IsCompat(file) || file.IsUnder("tests/embedding/")) continue;
    std::string stem = file.stem;
    if (stem.ends_with("_test")) stem.resize(stem.size() - 5);
    for (const char* ending : {"_op", "_ops", "_gpu", "_impl", "_base", "_util", "utils"}) {
      if (stem.ends_with(ending)) {
        violations.push_back(file.path + " has a name that ends in " + ending +
                             ", want a name that states the subject");
      }
    }
  }
  return violations;
}

Violations CheckTestNames(const std::vector<SourceFile>& files) {
  static const std::regex test(R"(^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\w+,\s*(\w+))");
  static const std::regex word(
      "^(?:Works|Basic|Test[0-9]+)$|"
      "(?:Refus(?:e|es|ed|al)|Tells|Says|Anew|Pictures?|Nobody|Somebody)(?![a-z])");
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.IsCode() || !file.IsUnder("tests/")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match, found;
      if (file.lines[i].find("TEST") == std::string::npos) continue;
      if (!std::regex_search(file.lines[i], match, test)) continue;
      const std::string name = match[1];
      if (!std::regex_search(name, found, word)) continue;
      violations.push_back(file.path + ":" + std::to_string(i + 1) + " names a test " + name +
                           " with \"" + found.str() + "\", want the behaviour in plain words");
    }
  }
  return violations;
}

Violations CheckPragmaOnce(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.IsHeader()) continue;
    const auto directive = std::find_if(file.lines.begin(), file.lines.end(), [](const auto& line) {
      return !line.empty() && line[0] == '#';
    });
    if (directive == file.lines.end() || *directive != "#pragma once") {
      violations.push_back(file.path + " does not start with #pragma once");
    }
  }
  return violations;
}

Violations CheckForbiddenText(const std::vector<SourceFile>& files) {
  struct Rule {
    const char* word;  // searched first, because the pattern is slow
    std::regex pattern;
    const char* reason;
    bool headers_only;
  };
  // Literals are split, so that this file does not break its own rules.
  static const Rule rules[] = {
      {"TO"
       "DO",
       std::regex("\\bTO"
                  "DO\\b(?!\\(#[0-9]+\\))"),
       "a TO"
       "DO without an issue number",
       false},
      {"pragma",
       std::regex("#\\s*pragma\\s+o"
                  "mp\\b"),
       "an OpenMP pragma", false},
      {"include", std::regex("#\\s*include\\s*<(format|expected|source_location)>"),
       "a header that not all supported compilers have", false},
      {"std::vi",
       std::regex("\\bstd::vi"
                  "ews\\b"),
       "std::vi"
       "ews, which not all supported compilers have",
       false},
      {"using", std::regex("^\\s*using\\s+namespace\\b"), "a using directive in a header", true},
      {"absl/", std::regex("#\\s*include\\s*<absl/(?!base/thread_annotations\\.h)"),
       "a slow header of abseil, want it in a source", true},
  };
  Violations violations;
  for (const SourceFile& file : files) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const Rule& rule : rules) {
        if (rule.headers_only && (!file.IsHeader() || IsCompat(file))) continue;
        if (file.lines[i].find(rule.word) != std::string::npos &&
            std::regex_search(file.lines[i], rule.pattern)) {
          violations.push_back(Place(file, i) + " contains " + rule.reason);
        }
      }
    }
  }
  return violations;
}

Violations CheckTensorIsConstCorrect(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.path.starts_with("caffe2_core/tensor/") || !file.IsHeader()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].find("const_cast") != std::string::npos) {
        violations.push_back(Place(file, i) +
                             " casts away const in a header of caffe2_core/tensor");
      }
    }
  }
  return violations;
}

Violations CheckEnforceTexts(const std::vector<SourceFile>& files) {
  static const std::regex check(R"(CAFFE_ENFORCE(_EQ|_NE|_LE|_LT|_GE|_GT|_WITH_CALLER)?\s*\()");
  Violations violations;
  for (const SourceFile& file : files) {
    if (!file.IsCode() || IsCompat(file) || file.IsUnder("tests/")) continue;
    const std::string code = CodeOf(file);
    for (size_t at = code.find("CAFFE_ENFORCE"); at != std::string::npos;
         at = code.find("CAFFE_ENFORCE", at + 1)) {
      std::smatch match;
      if (!std::regex_search(code.begin() + static_cast<long>(at), code.end(), match, check,
                             std::regex_constants::match_continuous)) {
        continue;
      }
      const size_t line_begin = code.rfind('\n', at) + 1;
      if (code.compare(line_begin, 7, "#define") == 0) continue;
      const bool compares = match[1].matched && match[1] != "_WITH_CALLER";
      const int arguments = CountArguments(code, at + static_cast<size_t>(match.length()) - 1);
      if (arguments > (compares ? 2 : 1)) continue;
      const auto line =
          static_cast<size_t>(std::count(code.begin(), code.begin() + static_cast<long>(at), '\n'));
      violations.push_back(Place(file, line) + " has a check without a message");
    }
  }
  return violations;
}

Violations CheckLocale(const std::vector<SourceFile>& files) {
  static const std::regex call(
      R"(\bstd::(|w)(o|i|)(string|f)stream\b|\bstd::to_w?string\b|)"
      R"(\b(strto(d|f|ld)|ato(f|i|l|ll)|sto(d|f|ld)|v?s?n?scanf|setlocale|put_time)\s*\(|)"
      R"(\bstd::(is(alnum|alpha|digit|space|print|upper|lower|punct)|to(lower|upper)|w?regex)\b)");
  static const std::regex floating(R"("[^"]*%[-+#0-9.*]*L?[aefgAEFG]\b)");
  // What the rest of the library uses instead, and a help text with "%2F".
  static const std::set<std::string> allowed = {"caffe2_core/base/classic_string_stream.h",
                                                "caffe2_core/base/text.cc",
                                                "operators/select/print.h"};
  // Searched first, because the pattern is slow.
  static const char* const words[] = {
      "stream",   "to_string",    "to_wstring",   "strto",    "atof",     "atoi",
      "atol",     "stod",         "stof",         "stold",    "scanf",    "setlocale",
      "put_time", "std::isa",     "std::isd",     "std::iss", "std::isp", "std::isu",
      "std::isl", "std::tolower", "std::toupper", "regex"};
  Violations violations;
  for (const SourceFile& file : files) {
    const bool covered = file.IsUnder("caffe2_core/") || file.IsUnder("contexts/") ||
                         file.IsUnder("operators/") || file.IsUnder("binaries/");
    if (!file.IsCode() || !covered || IsCompat(file) || allowed.contains(file.path)) continue;
    std::istringstream code(CodeOf(file));
    std::string line;
    for (size_t i = 0; std::getline(code, line); ++i) {
      const auto holds = [&](const char* word) { return line.find(word) != std::string::npos; };
      if (std::none_of(std::begin(words), std::end(words), holds)) continue;
      for (std::sregex_iterator it(line.begin(), line.end(), call), end; it != end; ++it) {
        violations.push_back(
            Place(file, i) + " uses " + it->str() +
            ", which depends on the locale, want a function of caffe2_core/base/text.h");
      }
    }
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const size_t comment = file.lines[i].find("//");
      if (file.lines[i].find('%') < comment && std::regex_search(file.lines[i], floating)) {
        violations.push_back(Place(file, i) + " formats a number by the locale, want FixedText");
      }
    }
  }
  return violations;
}

Violations CheckLocks(const std::vector<SourceFile>& files) {
  static const std::regex lock(
      R"(\bstd::((recursive_|timed_|recursive_timed_|shared_|shared_timed_)?mutex|lock_guard|)"
      R"(unique_lock|scoped_lock|shared_lock|condition_variable(_any)?)\b)");
  // The wrappers, and CUDAContext::mutex and the mutex in a blob, which Caffe2's sources lock with
  // std::lock_guard.
  static const std::set<std::string> allowed = {"caffe2_core/base/condition_variable.h",
                                                "caffe2_core/base/mutex.h",
                                                "contexts/cuda/cuda_context.h",
                                                "contexts/cuda/cuda_context.cc",
                                                "caffe2_core/runtime/output_memory.h",
                                                "operators/dataset/atomic_append.cc",
                                                "operators/dataset/last_n_window_collector.cc",
                                                "operators/dataset/reservoir_sampling.cc",
                                                "operators/optimizer/create_mutex.h",
                                                "operators/state/atomic_fetch_add.cc"};
  // Searched first, because the pattern is slow.
  static const char* const words[] = {"mutex", "lock", "condition_variable"};
  Violations violations;
  for (const SourceFile& file : files) {
    const bool exempt = file.IsUnder("tests/") || IsCompat(file) || allowed.contains(file.path);
    if (!file.IsCode() || exempt) continue;
    std::istringstream code(CodeOf(file));
    std::string line;
    for (size_t i = 0; std::getline(code, line); ++i) {
      const auto holds = [&](const char* word) { return line.find(word) != std::string::npos; };
      if (std::none_of(std::begin(words), std::end(words), holds)) continue;
      for (std::sregex_iterator it(line.begin(), line.end(), lock), end; it != end; ++it) {
        violations.push_back(Place(file, i) + " uses " + it->str() +
                             ", which clang does not check, want caffe2_core/base/mutex.h");
      }
    }
  }
  return violations;
}

Violations CheckReadmes(const std::vector<SourceFile>& files) {
  std::set<std::string> folders, described;
  for (const SourceFile& file : files) {
    if (file.name == "README.md") described.insert(file.folder);
    const bool mirror = file.IsUnder("tests/caffe2_core/") || file.IsUnder("tests/contexts/") ||
                        file.IsUnder("tests/operators/");
    if (mirror || file.IsUnder("caffe2_core/compat/") || file.IsUnder("tests/embedding/")) continue;
    if (file.IsCode() || file.extension == ".proto") folders.insert(file.folder);
  }
  Violations violations;
  for (const std::string& folder : folders) {
    if (!described.contains(folder)) violations.push_back(folder + "/ has code and no README.md");
  }
  return violations;
}

Violations CheckReadmeTables(const std::vector<SourceFile>& files) {
  std::set<std::string> paths;
  std::map<std::string, std::set<std::string>> named;  // by folder
  for (const SourceFile& file : files) {
    paths.insert(file.path);
    if (file.name == "README.md" && NamesHeaders(file)) named[file.folder] = FilesInTables(file);
  }
  Violations violations;
  for (const SourceFile& file : files) {
    const auto folder = named.find(file.folder);
    if (folder == named.end() || !file.IsHeader()) continue;
    if (!folder->second.contains(file.name) && !DeclaresKernelsOfAStem(file, paths)) {
      violations.push_back(file.folder + "/README.md has no row for " + file.name);
    }
  }
  for (const auto& [folder, names] : named) {
    for (const std::string& name : names) {
      if (!paths.contains(folder + "/" + name) && !paths.contains(name)) {
        violations.push_back(folder + "/README.md has a row for " + name + ", which is no file");
      }
    }
  }
  return violations;
}

}  // namespace caffe2rt::test
