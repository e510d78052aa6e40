// caffe2_fuzz: damages nets, plans and databases at random and runs them. Each must end in an error
// or in a normal run.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "binaries/program_main.h"
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

struct Options {
  uint64_t runs, seed, first;
  std::vector<std::string> corpus;
  size_t memory_limit_bytes;
  unsigned timeout_s;
  std::string save = std::filesystem::current_path().string();
  std::string replay = "";
  bool json, verbose;
};

Options OptionsOf(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const auto number = [&](const char* name, int64_t least) {
    return static_cast<uint64_t>(line.Integer(name, least, INT64_MAX));
  };
  Options options{.runs = number("runs", 0),
                  .seed = number("seed", 0),
                  .first = number("first", 0),
                  .corpus = line.All("corpus"),
                  .memory_limit_bytes = static_cast<size_t>(line.Bytes("memory-limit")),
                  .timeout_s = static_cast<unsigned>(line.Integer("timeout", 0, 86400)),
                  .json = line.Has("json"),
                  .verbose = line.Has("verbose")};
  if (line.Has("save")) options.save = std::filesystem::absolute(line.Text("save")).string();
  if (line.Has("replay")) options.replay = std::filesystem::absolute(line.Text("replay")).string();
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
    const size_t files = corpus_.files().size(), counted = GetCPUMemoryUsage().peak_bytes;
    if (options_.json) {
      const nlohmann::ordered_json json = {{"files", files},
                                           {"ran", counts_[0]},
                                           {"refused", counts_[1]},
                                           {"over_budget", counts_[2]},
                                           {"failed", counts_[3]},
                                           {"seconds", seconds_},
                                           {"tensor_peak_bytes", counted},
                                           {"resident_peak_bytes", PeakResidentBytes()}};
      std::cout << json.dump() << std::endl;
      return;
    }
    std::printf(
        "%zu files; %d ran, %d refused, %d over budget, %d failed; %.1f s; "
        "peak: counted %zu bytes, process %zu bytes\n",
        files, counts_[0], counts_[1], counts_[2], counts_[3], seconds_, counted,
        PeakResidentBytes());
  }
  bool failed() const { return counts_[static_cast<int>(Outcome::kFailed)] > 0; }

 private:
  const Options options_;
  const HostileFiles& folders_;
  const Corpus corpus_;
  int counts_[4] = {};
  double seconds_ = 0;
};

int Fuzz(const CommandLine& line) {
  const Options options = OptionsOf(line);
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

const Program& Fuzzer() {
  static const Program program = {
      .name = "caffe2_fuzz",
      .purpose =
          "runs damaged nets, plans and databases; each must end in an error or in a normal "
          "run",
      .usage = "--runs N [options]",
      .options =
          {{"runs", "N", "1000", "number of inputs", true},
           {"seed", "S", "1", "random seed; run i depends only on S and i", true},
           {"first", "I", "0", "number of the first run", true},
           {"corpus", "DIR", "",
            "files to damage; may be repeated (default: the shipped nets, and models c2_* beside "
            "the repository); generated plans and predictor nets are damaged too",
            true},
           {"memory-limit", "BYTES", "512MB", "limit for tensors and C++ objects", true},
           {"timeout", "SECONDS", "10", "per input; 0: none", true},
           {"save", "DIR", "", "folder for inputs that fail (default: the current folder)", true},
           {"replay", "FILE", "", "runs one saved input", true},
           {"json", "", "", "prints the summary as JSON"},
           {"verbose", "", "", "prints a line for each input"}},
      .notes =
          "examples:\n"
          "  caffe2_fuzz --runs 2000 --seed 1\n"
          "  caffe2_fuzz --replay fuzz-1-37-c2_squeezenet-predict_net.pb --verbose\n",
      .run = &Fuzz};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Fuzzer(), argc, argv);
}
