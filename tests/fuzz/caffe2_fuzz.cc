// caffe2_fuzz: damages nets, plans and databases at random, generates nets of random operators, and
// runs them. Each must end in an error or in a normal run.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/generate_operators.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_input.h"
#include "tests/fuzz/prepare_process.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

constexpr size_t kMemoryLimitBytes = size_t{512} << 20;

struct Options {
  uint64_t runs, seed, first;
  std::string save = {};
  std::string write_corpus;
  std::string type = {};  // part of the types of generated operators
  bool operators;         // only generated operators
  bool verbose;
};

Options OptionsOf(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const auto number = [&](const char* name) {
    return static_cast<uint64_t>(line.Integer(name, 0, INT64_MAX));
  };
  Options options{.runs = number("runs"),
                  .seed = number("seed"),
                  .first = number("first"),
                  .write_corpus = line.Text("write-corpus"),
                  .type = line.Text("type"),
                  .operators = line.Has("operators") || line.Has("type"),
                  .verbose = line.Has("verbose")};
  if (line.Has("save")) options.save = std::filesystem::absolute(line.Text("save")).string();
  return options;
}

// The shipped nets, and models beside the repository if present.
Corpus ReadCorpus() {
  Corpus corpus;
  corpus.AddFolder(SourcePath("binaries/demo"));
  const std::string models = SharedPath("models");
  if (std::filesystem::is_directory(models)) {
    for (const auto& entry : std::filesystem::directory_iterator(models)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("c2_")) corpus.AddFolder(entry.path().string());
    }
  }
  corpus.AddGenerated();
  return corpus;
}

std::string MakeInput(const Corpus& corpus, const CorpusFile& file, Random* random) {
  // Generated plans are hostile even without damage.
  if (file.kind == FileKind::kPlanDef && random->OneIn(3)) return file.bytes;
  return MutateInput(file.kind, file.bytes, random, [&](Random* r, std::string* bytes) {
    MutateBytes(corpus.files()[r->Below(corpus.files().size())].bytes, r, bytes);
  });
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

class Driver {
 public:
  Driver(const Options& options, HostileFiles* folders)
      : options_(options), folders_(folders), corpus_(ReadCorpus()) {}

  void RunAll() {
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < options_.runs; ++i) {
      RunOne(options_.first + i);
      if (isatty(STDERR_FILENO) != 0 && (i % 50 == 49 || i + 1 == options_.runs)) {
        std::fprintf(stderr, "\r\033[K%llu of %llu", static_cast<unsigned long long>(i + 1),
                     static_cast<unsigned long long>(options_.runs));
      }
    }
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void PrintSummary() const {
    std::printf("%zu files; %d ran, %d rejected, %d over budget, %d failed; %.1f s\n",
                corpus_.files().size(), counts_[0], counts_[1], counts_[2], counts_[3], seconds_);
  }
  bool failed() const { return counts_[static_cast<int>(Outcome::kFailed)] > 0; }

 private:
  // A net of generated operators, as a file that is not damaged.
  CorpusFile GenerateFile(Random* random) const {
    return {.label = "operators.pbtxt",
            .bytes = ProtoToText(GenerateOperatorNet(options_.type, random)),
            .kind = FileKind::kNetDef,
            .weights = nullptr};
  }

  void RunOne(uint64_t number) {
    Random random(options_.seed * 0x9e3779b97f4a7c15u + number);
    random.Next();
    CorpusFile generated;
    const bool generates = options_.operators || random.OneIn(4);
    if (generates) generated = GenerateFile(&random);
    const CorpusFile& file = generates ? generated : PickFile(corpus_, &random);
    const std::string bytes = generates ? file.bytes : MakeInput(corpus_, file, &random);
    const std::string name = MakeString("fuzz-", options_.seed, '-', number, '-', file.label);
    if (!options_.save.empty()) {
      const std::string path = options_.save + "/" + name;
      CAFFE_ENFORCE(WriteStringToFile(bytes, path.c_str()), "cannot write \"", path, "\"");
    }
    folders_->Renew();
    StartRun(MakeString("--seed ", options_.seed, " --first ", number, " --runs 1"));
    const ExerciseResult result = Exercise(bytes, file.kind, &file);
    EndRun();
    ++counts_[static_cast<int>(result.outcome)];
    static const char* const kNames[] = {"ran", "rejected", "over budget", "FAILED"};
    if (options_.verbose || result.outcome == Outcome::kFailed) {
      std::fprintf(stderr, "%s: %s%s%s\n", name.c_str(), kNames[static_cast<int>(result.outcome)],
                   result.error.empty() ? "" : ": ", result.error.c_str());
    }
  }

  const Options options_;
  HostileFiles* const folders_;
  const Corpus corpus_;
  int counts_[4] = {};
  double seconds_ = 0;
};

int Fuzz(const CommandLine& line) {
  const Options options = OptionsOf(line);
  PrepareProcess(kMemoryLimitBytes);
  if (!options.write_corpus.empty()) {
    WriteSeeds(options.write_corpus);
    return 0;
  }
  HostileFiles folders;
  Driver driver(options, &folders);
  std::filesystem::current_path(folders.scratch());
  // Discard what Print operators write.
  const int console = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  InstallGuard();
  driver.RunAll();
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
           {"save", "DIR", "", "write each input to a file in this folder before it is run", true},
           {"operators", "", "", "run only nets of generated operators", true},
           {"type", "PART", "", "run only generated operators whose type contains PART", true},
           {"write-corpus", "DIR", "",
            "write the first inputs of the libFuzzer targets to DIR/TARGET, and run nothing", true},
           {"verbose", "", "", "print a line for each input"}},
      .notes =
          "examples:\n"
          "  caffe2_fuzz --runs 2000 --seed 1\n"
          "  caffe2_fuzz --runs 20000 --seed 1 --type Lengths\n"
          "  caffe2_fuzz --seed 1 --first 37 --runs 1 --save findings --verbose\n",
      .run = &Fuzz};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Fuzzer(), argc, argv);
}
