#pragma once
// The main function of a small program, which states its options and what it does.
//
//   const Program kProgram = {.name = "make_stripes", ..., .run = &WriteDemo};
//   int main(int argc, char** argv) { return caffe2rt::ProgramMain(kProgram, argc, argv); }

#include <vector>

#include "binaries/command_line.h"

namespace caffe2rt {

struct Program {
  const char* name;
  const char* purpose;          // one line
  const char* usage;            // the text after "usage: NAME "
  std::vector<Option> options;  // in the order of use
  const char* notes;            // the end of the --help text, ending in a newline: examples, ...
  int (*run)(const CommandLine& line);  // returns the exit code; THROWS UsageError, EnforceNotMet
};

// Parses the command line and returns what `run` returns. Prints the --help text on request. An
// error is one line on stderr; the result is then 2 for a wrong command line and 1 otherwise.
int ProgramMain(const Program& program, int argc, char** argv);

}  // namespace caffe2rt
