// The functions that libFuzzer calls, for all targets. A finding is a crash, a report of a
// sanitizer, an exception other than EnforceNotMet, a tensor that changes when it is written and
// read again, or access to a file outside the scratch folder.
#include "tests/fuzz/targets/target.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_input.h"
#include "tests/fuzz/prepare_process.h"
#include "tests/fuzz/random.h"
#include "tests/support/shared.h"

// libFuzzer's own mutations of bytes: those of its dictionary and of values that were compared.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace caffe2rt::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMemoryLimitBytes = size_t{512} << 20;
// Small, because many short runs find more than a few long ones.
constexpr WorkBudget kBudget = {.flops = 2'000'000, .elements = 100'000, .operators = 200};

class Session {
 public:
  Session() {
    PrepareProcess(kMemoryLimitBytes);
    corpus_.AddFolder(SourcePath("binaries/demo"));
    weights_ = corpus_.FindByLabel("stripes-predict_net.pb");
    // Discard what Print operators write; libFuzzer writes to stderr.
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
  }

  void Run(const std::string& bytes) {
    folders_.Renew();
    fs::current_path(folders_.scratch());
    const ExerciseResult result = ExerciseAs(KindOfInput(bytes), bytes, weights_, kBudget);
    fs::current_path(home_);
    folders_.CheckBaits();
    if (result.outcome == Outcome::kFailed) {
      std::fprintf(stderr, "the library failed: %s\n", result.error.c_str());
      std::abort();
    }
  }

  const std::string& home() const { return home_; }

 private:
  const std::string home_ = fs::current_path().string();
  HostileFiles folders_;
  Corpus corpus_;
  const CorpusFile* weights_ = nullptr;
};

Session& GetSession() {
  static Session session;
  return session;
}

// libFuzzer saves a finding while the scratch folder is the current folder, so the paths of findings
// must be absolute. By default they are saved to the folder in which the target was started.
std::vector<char*> WithAbsolutePaths(int argc, char** argv) {
  static std::vector<std::string> args(argv, argv + argc);  // libFuzzer keeps pointers
  const std::string folder = GetSession().home() + "/";
  args.insert(args.begin() + 1, "-artifact_prefix=" + folder);
  std::vector<char*> pointers;
  for (std::string& arg : args) {
    for (const std::string_view name : {"-artifact_prefix=", "-exact_artifact_path="}) {
      if (arg.starts_with(name) && arg.substr(name.size(), 1) != "/") {
        arg.insert(name.size(), folder);
      }
    }
    pointers.push_back(arg.data());
  }
  return pointers;
}

size_t Mutate(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Random random(seed);
  const std::string input(reinterpret_cast<const char*>(data), size);
  const BytesMutator mutate_bytes = [max_size](Random* r, std::string* bytes) {
    if (r->OneIn(3)) return MutateBytes(std::string(*bytes), r, bytes);
    const size_t old_size = bytes->size();
    bytes->resize(std::max(max_size, old_size));
    bytes->resize(
        LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes->data()), old_size, bytes->size()));
  };
  std::string output = MutateInput(KindOfInput(input), input, &random, mutate_bytes);
  if (output.size() > max_size) {  // a message would be cut off
    output = input;
    mutate_bytes(&random, &output);
  }
  output.resize(std::min(output.size(), max_size));
  std::memcpy(data, output.data(), output.size());
  return output.size();
}

}  // namespace
}  // namespace caffe2rt::test

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static std::vector<char*> args = caffe2rt::test::WithAbsolutePaths(*argc, *argv);
  *argc = static_cast<int>(args.size());
  args.push_back(nullptr);
  *argv = args.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  caffe2rt::test::GetSession().Run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return caffe2rt::test::Mutate(data, size, max_size, seed);
}
