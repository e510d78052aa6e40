#pragma once
// Standard input and output as files ("-") on the command line of a subcommand.

#include <streambuf>

#include "binaries/command_line.h"
#include "binaries/commands/command.h"

namespace caffe2rt {

// THROWS UsageError if more than one argument reads standard input, or more than one option writes
// standard output.
void CheckStandardStreams(const Command& command, const CommandLine& line);

// While it lives, and if --output or a similar option is "-", all text goes to the standard error, so
// that standard output has nothing but the file.
class TextBesideFile {
 public:
  TextBesideFile(const Command& command, const CommandLine& line);
  ~TextBesideFile();
  TextBesideFile(const TextBesideFile&) = delete;
  TextBesideFile& operator=(const TextBesideFile&) = delete;

 private:
  std::streambuf* text_ = nullptr;  // of std::cout, if it was replaced
};

}  // namespace caffe2rt
