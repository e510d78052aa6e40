// caffe2_fuzz: damages nets, plans and databases at random and runs them. Each must end in an error
// or in a normal run.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/work_budget.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

constexpr char kUsage[] =
    R"(caffe2_fuzz: runs damaged nets, plans and databases; each must end in an error or in a normal run

usage: caffe2_fuzz --runs N [options]
  --runs N              number of inputs (default 1000)
  --seed S              random seed (default 1); run i depends only on S and i
  --first I             number of the first run (default 0)
  --corpus DIR          files to damage; may be repeated (default: the shipped nets, and models c2_* beside the repository);
                        generated plans and predictor nets are damaged too
  --memory-limit BYTES  limit for tensors and C++ objects (default 512MB; suffixes KB, MB, GB)
  --timeout SECONDS     per input (default 10)
  --save DIR            folder for inputs that fail (default: the current folder)
  --replay FILE         runs one saved input
  --json                prints the summary as JSON
  --verbose             prints a line for each input

examples:
  caffe2_fuzz --runs 2000 --seed 1
  caffe2_fuzz --replay fuzz-1-37-c2_squeezenet-predict_net.pb --verbose
)";

struct Options {
  uint64_t runs = 1000, seed = 1, first = 0;
  std::vector<std::string> corpus;
  size_t memory_limit_bytes = size_t{512} << 20;
  unsigned timeout_s = 10;
  std::string save = std::filesystem::current_path().string();
  std::string replay;
  bool json = false, verbose = false;
};

[[noreturn]] void UsageError(const std::string& message) {
  std::cerr << "caffe2_fuzz: " << message << "; --help shows the usage\n";
  std::exit(2);
}

uint64_t ParseNumber(const std::string& name, const std::string& text) {
  size_t end = 0;
  uint64_t value = 0;
  try {
    value = std::stoull(text, &end);
  } catch (const std::exception&) {
    UsageError(name + " \"" + text + "\" is not a number");
  }
  const std::string suffix = text.substr(end);
  const int shift = suffix.empty()   ? 0
                    : suffix == "KB" ? 10
                    : suffix == "MB" ? 20
                    : suffix == "GB" ? 30
                                     : -1;
  if (shift < 0 || value > (UINT64_MAX >> shift))
    UsageError(name + " \"" + text + "\" is not a number");
  return value << shift;
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto next = [&] {
      if (i + 1 >= argc) UsageError("option " + name + " needs a value");
      return std::string(argv[++i]);
    };
    if (name == "--help") {
      std::cout << kUsage;
      std::exit(0);
    } else if (name == "--runs") {
      options.runs = ParseNumber(name, next());
    } else if (name == "--seed") {
      options.seed = ParseNumber(name, next());
    } else if (name == "--first") {
      options.first = ParseNumber(name, next());
    } else if (name == "--corpus") {
      options.corpus.push_back(next());
    } else if (name == "--memory-limit") {
      options.memory_limit_bytes = ParseNumber(name, next());
    } else if (name == "--timeout") {
      options.timeout_s = static_cast<unsigned>(ParseNumber(name, next()));
    } else if (name == "--save") {
      options.save = std::filesystem::absolute(next()).string();
    } else if (name == "--replay") {
      options.replay = std::filesystem::absolute(next()).string();
    } else if (name == "--json") {
      options.json = true;
    } else if (name == "--verbose") {
      options.verbose = true;
    } else {
      UsageError("unknown option " + name);
    }
  }
  return options;
}

Corpus ReadCorpus(const Options& options) {
  Corpus corpus;
  for (const std::string& folder : options.corpus) corpus.AddFolder(folder);
  if (options.corpus.empty()) {
    corpus.AddFolder(SourcePath("binaries/demo"));
    const std::string models = SharedPath("models");
    if (std::filesystem::is_directory(models)) {
      for (const auto& entry : std::filesystem::directory_iterator(models)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("c2_")) corpus.AddFolder(entry.path().string());
      }
    }
  }
  CAFFE_ENFORCE(!corpus.files().empty(), "there are no files to damage");
  corpus.AddGenerated();
  return corpus;
}

// Parses the file, damages fields, and serializes it again in its original format.
template <class Message, class Mutate>
bool MutateFields(const CorpusFile& file, Random* random, Mutate mutate, std::string* bytes) {
  Message message;
  const bool text = LooksLikeText(file.bytes);
  if (!(text ? ParseProtoFromText(file.bytes, &message)
             : ParseProtoFromLargeString(file.bytes, &message))) {
    return false;
  }
  mutate(random, &message);
  *bytes = text ? ProtoToText(message) : message.SerializePartialAsString();
  return true;
}

std::string MakeInput(const Corpus& corpus, const CorpusFile& file, Random* random) {
  std::string bytes;
  bool done = false;
  // Generated plans are hostile even without damage.
  if (file.kind == FileKind::kPlanDef && random->OneIn(3)) return file.bytes;
  if (!random->OneIn(5) && file.kind == FileKind::kNetDef) {
    done = MutateFields<NetDef>(file, random, MutateNet, &bytes);
  } else if (random->Below(3) > 0 && file.kind == FileKind::kPlanDef) {
    done = MutateFields<PlanDef>(file, random, MutatePlan, &bytes);
  } else if (random->Below(3) > 0 && file.kind == FileKind::kMetaNetDef) {
    done = MutateFields<MetaNetDef>(file, random, MutateMetaNet, &bytes);
  }
  if (!done || random->OneIn(32)) {
    if (!done) bytes = file.bytes;
    MutateBytes(corpus.files()[random->Below(corpus.files().size())].bytes, random, &bytes);
  }
  return bytes;
}

// Picks a generated file one time in three. Big files take long and find little, so they are picked
// sixteen times less often.
const CorpusFile& PickFile(const Corpus& corpus, Random* random) {
  const auto& files = corpus.files();
  const bool generated = random->OneIn(3);
  while (true) {
    const CorpusFile& file = files[random->Below(files.size())];
    if (generated != file.label.starts_with("generated-")) continue;
    if (file.bytes.size() <= (256 << 10) || random->OneIn(16)) return file;
  }
}

size_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

class Driver {
 public:
  Driver(const Options& options, const HostileFiles& folders)
      : options_(options), folders_(folders), corpus_(ReadCorpus(options)) {}

  void RunOne(const std::string& name, const std::string& bytes, const CorpusFile* origin) {
    folders_.Renew();
    GuardInput(name, bytes);
    const ExerciseResult result =
        Exercise(bytes, origin != nullptr ? origin->kind : FileKind::kUnknown, origin);
    ++counts_[static_cast<int>(result.outcome)];
    static const char* const kNames[] = {"ran", "refused", "over budget", "FAILED"};
    if (options_.verbose || result.outcome == Outcome::kFailed) {
      std::fprintf(stderr, "%s: %s%s%s\n", name.c_str(), kNames[static_cast<int>(result.outcome)],
                   result.error.empty() ? "" : ": ", result.error.c_str());
    }
    if (result.outcome == Outcome::kFailed) SaveInput();
    ReleaseInput();
  }

  void RunAll() {
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < options_.runs; ++i) {
      const uint64_t number = options_.first + i;
      Random random(options_.seed * 0x9e3779b97f4a7c15u + number);
      random.Next();
      const CorpusFile& file = PickFile(corpus_, &random);
      const std::string bytes = MakeInput(corpus_, file, &random);
      RunOne(MakeString("fuzz-", options_.seed, '-', number, '-', file.label), bytes, &file);
      if (isatty(STDERR_FILENO) != 0 && (i % 50 == 49 || i + 1 == options_.runs)) {
        std::fprintf(stderr, "\r\033[K%llu of %llu", static_cast<unsigned long long>(i + 1),
                     static_cast<unsigned long long>(options_.runs));
      }
    }
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void Replay() {
    std::string bytes;
    CAFFE_ENFORCE(ReadStringFromFile(options_.replay.c_str(), &bytes), "cannot read \"",
                  options_.replay, "\"");
    RunOne(std::filesystem::path(options_.replay).filename().string(), bytes,
           corpus_.FindByLabel(options_.replay));
  }

  void PrintSummary() const {
    const CPUMemoryUsage memory = GetCPUMemoryUsage();
    std::printf(
        options_.json
            ? "{\"files\": %zu, \"ran\": %d, \"refused\": %d, \"over_budget\": %d, \"failed\": %d, "
              "\"seconds\": %.1f, \"tensor_peak_bytes\": %zu, \"resident_peak_bytes\": %zu}\n"
            : "%zu files; %d ran, %d refused, %d over budget, %d failed; %.1f s; "
              "peak: counted %zu bytes, process %zu bytes\n",
        corpus_.files().size(), counts_[0], counts_[1], counts_[2], counts_[3], seconds_,
        memory.peak_bytes, PeakResidentBytes());
  }
  bool failed() const { return counts_[static_cast<int>(Outcome::kFailed)] > 0; }

 private:
  const Options options_;
  const HostileFiles& folders_;
  const Corpus corpus_;
  int counts_[4] = {};
  double seconds_ = 0;
};

int Main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  GlobalCPUMemoryOptions().limit_bytes = options.memory_limit_bytes;
  SetLogThreshold(3);
  EnsureBuiltinOperators();
  // Plans create nets themselves, so nets are watched through an observer creator.
  AddGlobalNetObserverCreator([](NetBase* net) -> std::unique_ptr<ObserverBase<NetBase>> {
    WatchNet(net);
    return nullptr;
  });
  const HostileFiles folders;
  Driver driver(options, folders);
  std::filesystem::current_path(folders.scratch());
  // Discard what Print operators write.
  const int console = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  InstallGuard(options.save, options.timeout_s);
  if (options.replay.empty()) {
    driver.RunAll();
  } else {
    driver.Replay();
  }
  std::filesystem::current_path("/");
  std::fflush(stdout);
  dup2(console, STDOUT_FILENO);
  driver.PrintSummary();
  folders.CheckBaits();
  return driver.failed() ? 1 : 0;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // write fails with EFBIG instead
  try {
    return caffe2rt::test::Main(argc, argv);
  } catch (const std::exception&) {
    std::cerr << "caffe2_fuzz: " << caffe2rt::CurrentExceptionMessage() << '\n';
    return 1;
  }
}
