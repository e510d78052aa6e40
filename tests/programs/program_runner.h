#pragma once
// Runs a program of this build and records its output and exit code.
//
//   const ProgramResult result = RunCaffe2({"ops", "Convv"});
//   EXPECT_EQ(result.code, 1);
//   EXPECT_THAT(result.err, HasSubstr("did you mean Conv?"));

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace caffe2rt::test {

struct ProgramResult {
  int code = -1;   // the exit code; -1 if a signal ended the program
  int signal = 0;  // the signal that ended the program; 0 if none did
  std::string out;
  std::string err;
  size_t peak_resident_bytes = 0;  // of the program, or of this process if that is larger
};

struct ProgramSetup {
  // The file for the standard output. Empty: a temporary file, read into ProgramResult::out.
  std::string out = {};
  // RLIMIT_FSIZE; 0 means no limit.
  size_t max_file_bytes = 0;
  // The file for the standard input.
  std::string in = "/dev/null";
};

// Runs the program `caffe2` of this build, without a terminal and, by default, with empty input.
// THROWS if it cannot be started.
ProgramResult RunCaffe2(const std::vector<std::string>& args, const ProgramSetup& setup = {});

// Runs `caffe2` and sends it SIGINT once it has printed exactly `printed` to stderr. Does not return
// before the program ends; if that happens before the signal, GoogleTest's expectation fails.
ProgramResult InterruptCaffe2(const std::vector<std::string>& args, const std::string& printed);

// Runs another program in the same way.
ProgramResult RunProgram(const std::string& program, const std::vector<std::string>& args,
                         const ProgramSetup& setup = {});

// Sets environment variables for the programs that run, until the end of the scope.
class Environment {
 public:
  Environment() = default;
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void Set(const std::string& name, const std::string& value);
  // No program finds CUDA, even if this machine has it.
  void HideCuda() { Set("CAFFE2_CUDA_MODULE", "/no/such/module.so"); }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

// The path of one of the demo's files in the source tree.
std::string DemoFile(const std::string& name);
// `args` with the options that name the demo's nets.
std::vector<std::string> WithDemo(std::vector<std::string> args);

}  // namespace caffe2rt::test
