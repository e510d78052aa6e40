#include "binaries/program_main.h"

#include <csignal>
#include <iostream>

#include "binaries/crash_handler.h"
#include "binaries/terminate_handler.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/signal_cleanup.h"

namespace caffe2rt {

int ProgramMain(const Program& program, int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails with EFBIG instead
  EndWithErrorWhenOutOfMemory();
  InstallCrashHandler(argv[0]);
  RemoveTemporariesOnSignals();
  try {
    const CommandLine line = ParseCommandLine(program.options, {argv + 1, argv + argc});
    if (!line.Has("help") && !line.Has("help-all")) return program.run(line);
    std::cout << HelpText(program.purpose, MakeString(program.name, " ", program.usage),
                          program.options, program.notes, HelpDetail::kAll);
    return 0;
  } catch (const UsageError& error) {
    std::cerr << program.name << ": " << error.what() << '\n';
    return 2;
  } catch (...) {
    std::cerr << program.name << ": " << CurrentExceptionMessage() << '\n';
    return 1;
  }
}

}  // namespace caffe2rt
