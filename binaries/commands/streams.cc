#include "binaries/commands/streams.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

// The options that name a file to write.
constexpr const char* kWritingOptions[] = {"output",  "output-init-net", "output-predict-net",
                                           "receipt", "report",          "save-image",
                                           "tune",    "write-plan"};
// Drawings, which are text that `inspect` itself prints for "-".
constexpr const char* kDrawingOptions[] = {"dot", "svg", "html"};

// Whether the command's positional argument is a file to write.
bool WritesPositional(const Command& command) { return std::string(command.name) == "pack"; }

template <class Names>
bool IsOneOf(const Names& names, const Option& option) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return std::string(name) == option.name; });
}

bool IsDash(const std::string& value) { return value == "-" || value.ends_with("=-"); }

// Whether the value of an option names standard input: "-", "BLOB=-", or the device.
bool IsStandardInput(const std::string& value) {
  return IsDash(value) || value.ends_with("/dev/stdin") || value.ends_with("/dev/fd/0");
}

std::vector<std::string> Writers(const Command& command, const CommandLine& line) {
  std::vector<std::string> writers;
  if (WritesPositional(command)) {
    for (const std::string& file : line.positional()) {
      if (file == "-") writers.push_back(file);
    }
  }
  for (const Option& option : command.options) {
    if (!IsOneOf(kWritingOptions, option)) continue;
    for (const std::string& value : line.All(option.name)) {
      if (IsDash(value)) writers.push_back(MakeString("--", option.name, " ", value));
    }
  }
  return writers;
}

}  // namespace

void CheckStandardStreams(const Command& command, const CommandLine& line) {
  std::vector<std::string> readers;
  for (const Option& option : command.options) {
    if (IsOneOf(kWritingOptions, option) || IsOneOf(kDrawingOptions, option)) continue;
    for (const std::string& value : line.All(option.name)) {
      if (IsStandardInput(value)) readers.push_back(MakeString("--", option.name, " ", value));
    }
  }
  for (const std::string& file : line.positional()) {
    if (IsStandardInput(file) && !WritesPositional(command)) readers.push_back(file);
  }
  if (readers.size() > 1) {
    throw UsageError("standard input is given for " + absl::StrJoin(readers, " and ") +
                     ", want at most one argument; <(...) of the shell reads another command");
  }
  if (const auto writers = Writers(command, line); writers.size() > 1) {
    throw UsageError("standard output is given for " + absl::StrJoin(writers, " and ") +
                     ", want at most one option");
  }
}

TextBesideFile::TextBesideFile(const Command& command, const CommandLine& line) {
  if (!Writers(command, line).empty()) text_ = std::cout.rdbuf(std::cerr.rdbuf());
}

TextBesideFile::~TextBesideFile() {
  if (text_ == nullptr) return;
  std::cout.flush();
  std::cout.rdbuf(text_);
}

}  // namespace caffe2rt
