// caffe2 completion and caffe2 man: the scripts and pages that are installed with the program.

#include <algorithm>
#include <iostream>

#include "binaries/commands/command.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

constexpr Option kOutputOption = {"output", "FILE", "", "write to a file"};

ProgramDescription DescribeProgram() {
  ProgramDescription program{.name = "caffe2",
                             .purpose = "runs Caffe2 nets from files",
                             .version = CAFFE2RT_VERSION,
                             .commands = {}};
  for (const Command* command : AllCommands()) {
    if (!command->listed) continue;
    program.commands.push_back({.name = command->name,
                                .purpose = command->purpose,
                                .usage = command->usage,
                                .examples = command->examples,
                                .options = command->options,
                                .arguments = command->arguments});
  }
  return program;
}

void Write(const CommandLine& line, const std::string& text) {
  if (line.Has("output")) {
    WriteFileAtomically(line.Text("output"), text);
  } else {
    std::cout << text;
  }
}

std::string OperatorTypes() {
  std::string types;
  for (const std::string& type : ListedOperators()) types += type + "\n";
  return types;
}

int Complete(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one shell: bash, zsh or fish");
  const std::string& shell = line.positional()[0];
  Write(line, shell == "operators" ? OperatorTypes() : CompletionScript(DescribeProgram(), shell));
  return 0;
}

int PrintManPage(const CommandLine& line) {
  CheckPositional(line, 0, 1, "at most one command");
  Write(line, ManPage(DescribeProgram(), line.positional().empty() ? "" : line.positional()[0]));
  return 0;
}

}  // namespace

const Command& CompletionCommand() {
  static const Command command = {
      .name = "completion",
      .purpose = "prints a script with which a shell completes the command line",
      .usage = "completion bash|zsh|fish [--output FILE]",
      .examples =
          "  source <(caffe2 completion bash)\n"
          "  caffe2 completion fish --output ~/.config/fish/completions/caffe2.fish\n",
      .options = {kOutputOption},
      .run = Complete,
      .listed = false};
  return command;
}

const Command& ManCommand() {
  static const Command command = {
      .name = "man",
      .purpose = "prints a man page",
      .usage = "man [COMMAND] [--output FILE]",
      .examples = "  caffe2 man run | man -l -\n  caffe2 man --output caffe2.1\n",
      .options = {kOutputOption},
      .run = PrintManPage,
      .listed = false};
  return command;
}

}  // namespace caffe2rt
