// caffe2_oracle: replays the recorded cases of a folder and reports those with other results.
// README.md describes what is compared.
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/isolate.h"
#include "tests/oracle/report.h"

namespace caffe2rt::test {
namespace {

constexpr char kUsage[] =
    R"(caffe2_oracle: replays recorded operator, gradient and sequence cases

usage: caffe2_oracle DIR [options]
  --op TYPE           only cases of this operator type
  --case ID           only this case
  --device DEVICE     cpu (default) or cuda; copies inputs to the device and outputs back
  --engine NAME       only operators that have this engine, with it, e.g. CUDNN
  --native            only the library's own kernels, no engines
  --json              prints counts per type and every failure as JSON on stdout; the last line goes to stderr
  --verbose           prints a table per type, and shows what operators print
  --timeout SECONDS   per case (default 30)
  --known-wrong FILE  cases in which the original is wrong (default: tests/oracle/known_wrong.tsv)
  --no-isolate        runs in one process, for a debugger

examples:
  caffe2_oracle ../shared/oracle --op Conv
  caffe2_oracle ../shared/oracle --case Dropout-01c6087ab157 --verbose
)";

struct Options {
  std::string folder;
  CaseFilter filter;
  ReplayTarget target;
  IsolationOptions isolation;
  std::string known_wrong = CAFFE2RT_SOURCE_DIR "/tests/oracle/known_wrong.tsv";
  bool known_wrong_given = false;
  bool json = false;
  bool verbose = false;
};

[[noreturn]] void UsageError(const std::string& message) {
  std::cerr << "caffe2_oracle: " << message << "; --help shows the usage\n";
  std::exit(2);
}

DeviceType ParseDevice(const std::string& name) {
  if (name == "cpu") return CPU;
  if (name == "cuda") return CUDA;
  UsageError("--device " + name);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    std::string value;
    const size_t equals = name.find('=');
    const bool joined = name.starts_with("--") && equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const auto next = [&] {
      if (joined) return value;
      if (i + 1 >= argc) UsageError("option " + name + " needs a value");
      return std::string(argv[++i]);
    };
    if (name == "--help" || name == "-h") {
      std::cout << kUsage;
      std::exit(0);
    } else if (name == "--op") {
      options.filter.op = next();
    } else if (name == "--case") {
      options.filter.id = next();
    } else if (name == "--device") {
      options.target.device = ParseDevice(next());
    } else if (name == "--native") {
      options.target.native = true;
    } else if (name == "--engine") {
      options.target.engine = next();
    } else if (name == "--json") {
      options.json = true;
    } else if (name == "--verbose") {
      options.verbose = true;
    } else if (name == "--no-isolate") {
      options.isolation.fork = false;
    } else if (name == "--known-wrong") {
      options.known_wrong = next();
      options.known_wrong_given = true;
    } else if (name == "--timeout") {
      const std::string text = next();
      char* end = nullptr;
      const long seconds = std::strtol(text.c_str(), &end, 10);
      if (*end != '\0' || seconds < 1 || seconds > 86400) UsageError("--timeout " + text);
      options.isolation.timeout_s = static_cast<unsigned>(seconds);
    } else if (name.starts_with("-")) {
      UsageError("unknown option " + name);
    } else if (options.folder.empty()) {
      options.folder = name;
    } else {
      UsageError("got a second folder \"" + name + "\", want one");
    }
  }
  if (options.folder.empty()) UsageError("a folder of cases is missing");
  options.isolation.quiet = !options.verbose;
  return options;
}

void ShowProgress(const std::string& path, size_t done, size_t count) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\r\033[K" << done << '/' << count << ' '
            << std::filesystem::path(path).stem().string() << std::flush;
  if (done == count) std::cerr << "\r\033[K";
}

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  KnownWrong known_wrong;
  if (options.known_wrong_given || std::filesystem::exists(options.known_wrong)) {
    known_wrong = ReadKnownWrong(options.known_wrong);
  }
  // Only checks that the device is registered. It must not be started in this process, because the
  // cases run in forked children.
  GetStaticContext(options.target.device);
  if (options.target.native) SetGlobalEnginePref({});  // otherwise CUDNN is preferred to ""
  Report report(std::move(known_wrong), options.target.device != CPU);
  EnsureBuiltinOperators();
  const std::vector<std::string> paths = ListCaseFiles(options.folder);
  int64_t unread = 0;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::vector<CaseEntry> entries;
    try {
      entries = ReadCaseFile(paths[i], options.filter, options.target);
    } catch (const EnforceNotMet& error) {
      std::cerr << "caffe2_oracle: " << error.message() << std::endl;
      ++unread;
    }
    const std::vector<CaseResult> results = RunCases(entries, options.isolation);
    for (size_t k = 0; k < entries.size(); ++k) report.Add(entries[k], results[k]);
    ShowProgress(paths[i], i + 1, paths.size());
    if (!options.json) report.PrintNews(std::cout);
  }
  if (options.json) report.PrintJson(std::cout);
  if (options.verbose && !options.json) report.PrintTable(std::cout);
  (options.json ? std::cerr : std::cout) << report.Summary() << std::endl;
  return report.failed() > 0 || unread > 0 ? 1 : 0;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // write fails with EFBIG instead
  try {
    return caffe2rt::test::Main(argc, argv);
  } catch (const std::exception&) {
    std::cerr << "caffe2_oracle: " << caffe2rt::CurrentExceptionMessage() << '\n';
    return 1;
  }
}
