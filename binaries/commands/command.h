#pragma once
// The description of a subcommand of `caffe2`. Each subcommand has a file in this folder that
// defines its table row; caffe2.cc lists the rows.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/completion.h"

namespace caffe2rt {

struct Command {
  const char* name;
  const char* purpose;                  // one line
  const char* usage;                    // the text after "usage: caffe2 "
  const char* examples;                 // two commands that run, each ending in a newline
  std::vector<Option> options;          // in the order of use
  int (*run)(const CommandLine& line);  // returns the exit code; THROWS UsageError, EnforceNotMet
  ArgumentKind arguments = ArgumentKind::kNothing;  // what a shell offers for arguments
  bool listed = true;                               // in the help text of the program
};

const Command& RunCommand();
const Command& PlanCommand();
const Command& CheckCommand();
const Command& InspectCommand();
const Command& CompareCommand();
const Command& ReceiptCommand();
const Command& ConvertCommand();
const Command& GradientsCommand();
const Command& PackCommand();
const Command& DbCommand();
const Command& TrainCommand();
const Command& OpsCommand();
const Command& BenchCommand();
const Command& DevicesCommand();
const Command& OptimizeCommand();
const Command& QuantizeCommand();
const Command& CompletionCommand();
const Command& ManCommand();

// All subcommands, in the order of the help text. Defined in caffe2.cc.
const std::vector<const Command*>& AllCommands();

// The registered operator types that `caffe2 ops` lists, sorted: all but those of private schemas,
// which only other operators create.
std::vector<std::string> ListedOperators();

// Concatenates tables of options. The tables below are shared by several commands.
std::vector<Option> JoinOptions(std::initializer_list<std::vector<Option>> lists);
// --init-net, --predict-net, --predictor, --db-type, --device, --root, --allow-files-anywhere, ...
const std::vector<Option>& ModelOptions();
// The weights of a net of Caffe, and how it is imported. Part of ModelOptions.
const std::vector<Option>& ImportOptions();
// --input, --image and the transformation of images, --cast, --seed
const std::vector<Option>& InputOptions();
// --threads, --memory-limit, --module
const std::vector<Option>& ProcessOptions();
// A table of convolution algorithms, which ApplyProcessOptions loads.
inline constexpr Option kTuningOption = {
    "tuning", "FILE", "", "convolution algorithms, from caffe2 bench --tune", false, true};
inline constexpr Option kCastOption = {
    "cast", "[BLOB=]TYPE", "", "convert the elements of arrays to float, int32, ...", true, true};
inline constexpr Option kJsonOption = {"json", "", "", "print JSON"};

// Loads the modules that --module names.
void LoadModules(const CommandLine& line);
// Applies --threads, --memory-limit and --tuning.
void ApplyProcessOptions(const CommandLine& line);

}  // namespace caffe2rt
