#pragma once
// Scripts with which shells complete the command line of a program with subcommands, and its man
// pages. Both are made from the tables of options.
//
//   const ProgramDescription program = {"caffe2", "runs Caffe2 nets from files", "0.1.0", {...}};
//   std::cout << CompletionScript(program, "bash");
//   std::cout << ManPage(program, "run");

#include <string>
#include <vector>

#include "binaries/command_line.h"

namespace caffe2rt {

// What the arguments of a subcommand that are not options name.
enum class ArgumentKind { kNothing, kFiles, kOperatorTypes };

struct CommandDescription {
  std::string name;
  std::string purpose;  // one line
  std::string usage;    // as in --help, without the program's name
  std::string examples;
  std::vector<Option> options;
  ArgumentKind arguments = ArgumentKind::kNothing;
};

struct ProgramDescription {
  std::string name;
  std::string purpose;
  std::string version;
  std::vector<CommandDescription> commands;
};

// The shells that CompletionScript supports.
std::vector<std::string> CompletionShells();

// Returns the script for "bash", "zsh" or "fish". Operator types are read from the program when
// they are needed (`PROGRAM completion operators`). THROWS UsageError for another shell.
std::string CompletionScript(const ProgramDescription& program, const std::string& shell);

// Returns the man page of a subcommand in troff's man macros, or that of the program if `command`
// is empty. THROWS UsageError if there is no such subcommand.
std::string ManPage(const ProgramDescription& program, const std::string& command);

}  // namespace caffe2rt
