// caffe2_oracle: replays the recorded cases of a folder and reports those with other results.
// README.md describes what is compared.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/device_differences.h"
#include "tests/oracle/isolate.h"
#include "tests/oracle/report.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

// A new process costs more than the cases of most files, above all with a sanitizer or a device.
constexpr size_t kFilesPerProcess = 64;

struct Options {
  std::string folder;
  CaseFilter filter;
  ReplayTarget target;
  IsolationOptions isolation;
  std::string known_wrong = SourcePath("tests/oracle/known_wrong.tsv");
  bool known_wrong_given = false;
  bool json = false;
  bool verbose = false;
};

DeviceType ParseDevice(const std::string& name) {
  if (name == "cpu") return CPU;
  if (name == "cuda") return CUDA;
  throw UsageError("option --device is \"" + name + "\", want cpu or cuda" +
                   DidYouMean(name, {"cpu", "cuda"}));
}

Options OptionsOf(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one folder of cases");
  Options options;
  options.folder = line.positional()[0];
  options.filter = {.op = line.Text("op"), .id = line.Text("case")};
  options.target = {.device = ParseDevice(line.Text("device")),
                    .engine = line.Text("engine"),
                    .native = line.Has("native")};
  options.isolation.fork = !line.Has("no-isolate");
  options.isolation.quiet = !line.Has("verbose");
  if (options.target.device == CUDA) options.isolation.why_unusable = WhyCudaIsUnusable;
  options.isolation.timeout_s = static_cast<unsigned>(line.Integer("timeout", 1, 86400));
  options.known_wrong_given = line.Has("known-wrong");
  if (options.known_wrong_given) options.known_wrong = line.Text("known-wrong");
  options.json = line.Has("json");
  options.verbose = line.Has("verbose");
  return options;
}

void ShowProgress(const std::string& path, size_t done, size_t count) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\r\033[K" << done << '/' << count << ' '
            << std::filesystem::path(path).stem().string() << std::flush;
  if (done == count) std::cerr << "\r\033[K";
}

int Replay(const CommandLine& line) {
  const Options options = OptionsOf(line);
  Reasons known_wrong;
  if (options.known_wrong_given || std::filesystem::exists(options.known_wrong)) {
    known_wrong = ReadKnownWrong(options.known_wrong);
  }
  // Only checks that the device is registered. It must not be started in this process, because the
  // cases run in forked children.
  GetStaticContext(options.target.device);
  if (options.target.native) SetGlobalEnginePref({});  // otherwise CUDNN is preferred to ""
  Report report(std::move(known_wrong), DifferencesOn(options.target),
                options.target.device != CPU);
  EnsureBuiltinOperators();
  const std::vector<std::string> paths = ListCaseFiles(options.folder);
  int64_t unread = 0;
  std::vector<CaseEntry> entries;
  for (size_t i = 0; i < paths.size(); ++i) {
    try {
      for (CaseEntry& entry : ReadCaseFile(paths[i], options.filter, options.target)) {
        entries.push_back(std::move(entry));
      }
    } catch (const EnforceNotMet& error) {
      std::cerr << "caffe2_oracle: " << error.message() << std::endl;
      ++unread;
    }
    if ((i + 1) % kFilesPerProcess != 0 && i + 1 < paths.size()) continue;
    const std::vector<CaseResult> results = RunCases(entries, options.isolation);
    for (size_t k = 0; k < entries.size(); ++k) report.Add(entries[k], results[k]);
    entries.clear();
    ShowProgress(paths[i], i + 1, paths.size());
    if (!options.json) report.PrintNews(std::cout);
  }
  if (options.json) report.PrintJson(std::cout);
  if (options.verbose && !options.json) report.PrintTable(std::cout);
  (options.json ? std::cerr : std::cout) << report.Summary() << std::endl;
  return report.failed() > 0 || unread > 0 ? 1 : 0;
}

const Program& Oracle() {
  static const Program program = {
      .name = "caffe2_oracle",
      .purpose = "replays recorded operator, gradient and sequence cases",
      .usage = "DIR [options]",
      .options =
          {{"op", "TYPE", "", "only cases of this operator type", true},
           {"case", "ID", "", "only this case", true},
           {"device", "DEVICE", "cpu", "cpu or cuda; copies inputs to the device and outputs back",
            true},
           {"engine", "NAME", "", "only operators that have this engine, with it, e.g. CUDNN",
            true},
           {"native", "", "", "only the library's own kernels, no engines"},
           {"json", "", "",
            "prints counts per type and every failure as JSON on stdout; the last line goes to "
            "stderr"},
           {"verbose", "", "", "prints a table per type, and shows what operators print"},
           {"timeout", "SECONDS", "30", "per case", true},
           {"known-wrong", "FILE", "",
            "cases in which the original is wrong (default: tests/oracle/known_wrong.tsv)", true},
           {"no-isolate", "", "", "runs in one process, for a debugger"}},
      .notes =
          "examples:\n"
          "  caffe2_oracle ../shared/oracle --op Conv\n"
          "  caffe2_oracle ../shared/oracle --case Dropout-01c6087ab157 --verbose\n",
      .run = &Replay};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  // Zeros would hide that an operator does not write all of its output.
  caffe2rt::GlobalCPUMemoryOptions().fill = caffe2rt::CPUMemoryFill::kJunk;
  return caffe2rt::ProgramMain(caffe2rt::test::Oracle(), argc, argv);
}
