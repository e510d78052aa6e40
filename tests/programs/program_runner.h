#pragma once
// Runs a built program and keeps what it says.
//
//   const ProgramResult result = RunCaffe2({"ops", "Convv"});
//   EXPECT_EQ(result.code, 1);
//   EXPECT_THAT(result.err, HasSubstr("did you mean Conv?"));

#include <string>
#include <vector>

namespace caffe2rt::test {

struct ProgramResult {
  int code = -1;  // -1: it did not end by itself
  std::string out;
  std::string err;
  size_t peak_resident_bytes = 0;  // of the program, or of this process when that had more
};

struct ProgramSetup {
  // Where the standard output goes. Empty: to a file that becomes ProgramResult::out.
  std::string out = {};
  // RLIMIT_FSIZE; 0: no limit.
  size_t max_file_bytes = 0;
};

// The program `caffe2` of this build, with no terminal and an empty input. THROWS when it cannot be
// started.
ProgramResult RunCaffe2(const std::vector<std::string>& args, const ProgramSetup& setup = {});

// Another program.
ProgramResult RunProgram(const std::string& program, const std::vector<std::string>& args,
                         const ProgramSetup& setup = {});

// The demo's nets in the source tree.
std::string DemoFile(const std::string& name);
// Options that name them.
std::vector<std::string> WithDemo(std::vector<std::string> args);

}  // namespace caffe2rt::test
