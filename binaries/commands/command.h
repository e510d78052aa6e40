#pragma once
// What a subcommand of `caffe2` is. Each has a file here that defines its table row; caffe2.cc
// lists them.

#include <string>
#include <vector>

#include "binaries/command_line.h"

namespace caffe2rt {

struct Command {
  const char* name;
  const char* purpose;                  // one line
  const char* usage;                    // what follows "usage: caffe2 "
  const char* examples;                 // two lines that run, each ending in a newline
  std::vector<Option> options;          // in the order of use
  int (*run)(const CommandLine& line);  // the exit code; THROWS UsageError and EnforceNotMet
};

const Command& RunCommand();
const Command& PlanCommand();
const Command& CheckCommand();
const Command& InspectCommand();
const Command& ConvertCommand();
const Command& OpsCommand();
const Command& BenchCommand();
const Command& DevicesCommand();

// Options that several commands have, to be put at their place in the tables.
std::vector<Option> JoinOptions(std::initializer_list<std::vector<Option>> lists);
// --init-net, --predict-net, --predictor, --db-type, --device, --root, --allow-files-anywhere, ...
const std::vector<Option>& ModelOptions();
// --input, --image and what is done to pictures, --seed
const std::vector<Option>& InputOptions();
// --threads, --memory-limit, --module
const std::vector<Option>& ProcessOptions();
inline constexpr Option kJsonOption = {"json", "", "", "print JSON"};

// Does what ProcessOptions say.
void ApplyProcessOptions(const CommandLine& line);
// `least` to `most` files are given. THROWS UsageError otherwise.
void CheckPositional(const CommandLine& line, size_t least, size_t most, const char* what);

}  // namespace caffe2rt
