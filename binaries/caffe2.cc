// The program `caffe2`: subcommands that run, check, inspect and time Caffe2 nets. See
// binaries/README.md.

#if __has_include(<google/protobuf/stubs/logging.h>)
#include <google/protobuf/stubs/logging.h>
#endif

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/command.h"
#include "binaries/commands/model.h"
#include "binaries/commands/streams.h"
#include "binaries/crash_handler.h"
#include "binaries/escaped_output.h"
#include "binaries/terminal.h"
#include "binaries/terminate_handler.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/signal_cleanup.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/runtime/init.h"

namespace caffe2rt {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;

size_t HelpWidth() { return std::clamp<size_t>(OutputWidth(), 60, 120); }

void PrintHelp() {
  std::cout << "caffe2 runs Caffe2 nets from files.\n\nusage: caffe2 COMMAND [options] "
               "[files]\n\n";
  for (const Command* command : AllCommands()) {
    if (!command->listed) continue;
    std::cout << NamedLine(command->name, 10, command->purpose, HelpWidth());
  }
  std::cout << "\ncaffe2 COMMAND --help describes a command; --help-all lists rarely used options\n"
               "too, and the flags of Caffe2. caffe2 --version prints the version, caffe2 man\n"
               "[COMMAND] a man page, caffe2 completion SHELL a script for bash, zsh or fish.\n"
               "exit codes: 0 success, 1 failure, 2 wrong usage\n";
}

void PrintHelp(const Command& command, HelpDetail detail = HelpDetail::kShort) {
  std::vector<Option> options = command.options;
  if (detail == HelpDetail::kShort) {
    options.push_back({"help-all", "", "", "list rarely used options and the flags of Caffe2 too"});
  }
  std::cout << HelpText(command.purpose, MakeString("caffe2 ", command.usage), options,
                        MakeString("examples (from the project's folder):\n",
                                   WrappedCommands(command.examples, "  ", HelpWidth())),
                        detail, HelpWidth());
  if (detail == HelpDetail::kAll) std::cout << "\n" << FlagsText(HelpWidth());
}

const Command& FindCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Command* command : AllCommands()) {
    if (name == command->name) return *command;
    names.push_back(command->name);
  }
  throw UsageError("command \"" + name + "\" is not known (`caffe2 --help` lists all)" +
                   DidYouMean(name, names));
}

// Each of these flags is accepted so that command lines of Caffe2 stay valid.
void WarnOfIdleFlags() {
  const std::vector<std::string> given = TakeIdleFlagsGiven();
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (std::find(given.begin(), given.end(), flag.name) == given.end()) continue;
    const size_t reason = flag.help.find(": ");
    Warn("--" + flag.name + " is accepted and has no effect" +
         (reason == std::string::npos ? "" : flag.help.substr(reason)));
  }
}

int Main(int argc, char** argv) try {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty()) {
    PrintHelp();
    return kUsage;
  }
  if (args[0] == "--version" || args[0] == "-V") {
    std::cout << "caffe2 (caffe2rt) " << CAFFE2RT_VERSION << "\n";
    return 0;
  }
  if (args[0] == "--help" || args[0] == "-h" || (args[0] == "help" && args.size() == 1)) {
    PrintHelp();
    return 0;
  }
  if (args[0] == "--help-all") {
    GlobalInit();
    PrintHelp();
    std::cout << "\n" << FlagsText(HelpWidth());
    return 0;
  }
  if (args[0] == "help") {
    PrintHelp(FindCommand(args[1]));
    return 0;
  }
  const Command& command = FindCommand(args[0]);
  args.erase(args.begin());
  GlobalInit();
  const CommandLine line = ParseCommandLine(command.options, args, &LoadModules);
  if (line.Has("help") || line.Has("help-all")) {
    PrintHelp(command, line.Has("help") ? HelpDetail::kShort : HelpDetail::kAll);
    return 0;
  }
  WarnOfIdleFlags();
  CheckStandardStreams(command, line);
  UseStandardStreams();
  ApplyProcessOptions(line);
  const TextBesideFile text(command, line);
  return command.run(line);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace

const std::vector<const Command*>& AllCommands() {
  static const std::vector<const Command*> commands = {
      &RunCommand(),        &PlanCommand(),     &CheckCommand(),     &InspectCommand(),
      &CompareCommand(),    &ReceiptCommand(),  &ConvertCommand(),   &PackCommand(),
      &DbCommand(),         &TrainCommand(),    &GradientsCommand(), &OpsCommand(),
      &BenchCommand(),      &OptimizeCommand(), &QuantizeCommand(),  &DevicesCommand(),
      &CompletionCommand(), &ManCommand()};
  return commands;
}

namespace {

// A full disk may only be detected when the last bytes are written.
void FinishOutput(const EscapedOutput& out) {
  std::cout.flush();
  CAFFE_ENFORCE(std::cout.good(), "cannot write to standard output: ",
                out.error() != 0 ? std::strerror(out.error()) : "unknown reason");
}

// Prints an error as one line, even if the text contains line breaks.
void PrintError(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  std::cout.flush();
  std::cerr << "caffe2: " << text << std::endl;
}

}  // namespace
}  // namespace caffe2rt

// Debug builds of protobuf print strings that are not UTF-8, also of records that are no message at all. Errors of this
// program say what is wrong with a file. Since version 22 protobuf prints by abseil, which this does not silence.
static void SilenceProtobuf() {
#if __has_include(<google/protobuf/stubs/logging.h>)
  google::protobuf::SetLogHandler(nullptr);
#endif
}

int main(int argc, char** argv) {
  // Without the signal, a write beyond the file size limit fails with EFBIG, which is reported like
  // any other error.
  std::signal(SIGXFSZ, SIG_IGN);
  SilenceProtobuf();
  caffe2rt::EndWithErrorWhenOutOfMemory();
  caffe2rt::InstallCrashHandler(argv[0]);
  caffe2rt::RemoveTemporariesOnSignals();
  const caffe2rt::EscapedOutput out(std::cout), err(std::cerr);
  try {
    const int code = caffe2rt::Main(argc, argv);
    caffe2rt::FinishOutput(out);
    return code;
  } catch (const caffe2rt::UsageError& error) {
    caffe2rt::PrintError(error.what());
    return caffe2rt::kUsage;
  } catch (...) {
    caffe2rt::PrintError(caffe2rt::CurrentExceptionMessage());
    return caffe2rt::kFailure;
  }
}
