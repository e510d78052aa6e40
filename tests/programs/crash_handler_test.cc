// A crash in a user's operator prints the stack, and the process dies by the signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::crash_handler_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProgramResult RunAndCrash(const std::string& way) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(op { type: "CrashTest" output: "y" })");
  return RunCaffe2({"run", "--module", BuildPath(CRASH_MODULE), "--predict-net", net,
                    "--crash_test_way=" + way});
}

TEST(CrashHandlerTest, PrintsTheStackAndDiesByTheSignal) {
  struct Row {
    const char* way;
    int signal;
    const char* name;
  };
  for (const Row& row : {Row{"null pointer", SIGSEGV, "SIGSEGV"},
                         {"division by zero", SIGFPE, "SIGFPE"},
                         {"trap", SIGILL, "SIGILL"},
                         {"abort", SIGABRT, "SIGABRT"},
                         {"bus error", SIGBUS, "SIGBUS"}}) {
    SCOPED_TRACE(row.way);
    const ProgramResult result = RunAndCrash(row.way);
    EXPECT_EQ(result.signal, row.signal);
    // The operator's function, and its callers in the library and in the program.
    EXPECT_THAT(result.err, AllOf(HasSubstr(row.name), HasSubstr("CrashTestOp::RunOnDevice()"),
                                  HasSubstr("caffe2rt::NetBase::Run"), HasSubstr("main")));
    EXPECT_THAT(result.err,
                EndsWith("while running operator 0 (CrashTest, output \"y\") of net \"net\"\n"));
  }
}

TEST(CrashHandlerTest, PrintsTheStackThatOverflowed) {
  const ProgramResult result = RunAndCrash("stack overflow");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_THAT(result.err, AllOf(HasSubstr("SIGSEGV"), HasSubstr("Recurse()")));
}

TEST(SeveralModulesTest, AreAllLoaded) {
  const std::string module = BuildPath(CRASH_MODULE);
  EXPECT_EQ(RunCaffe2({"ops", "CrashTest"}).code, 1);
  for (const std::vector<std::string>& modules :
       {std::vector<std::string>{module}, {module, module}}) {
    std::vector<std::string> args = {"ops", "CrashTest"};
    for (const std::string& name : modules) args.insert(args.end(), {"--module", name});
    EXPECT_EQ(RunCaffe2(args).code, 0) << modules.size();
    args.insert(args.end(), {"--module", "/no/such/module.so"});
    const ProgramResult missing = RunCaffe2(args);
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.err, HasSubstr("/no/such/module.so"));
  }
  const ProgramResult first =
      RunCaffe2({"ops", "CrashTest", "--module", "/no/such/module.so", "--module", module});
  EXPECT_EQ(first.code, 1);
  EXPECT_THAT(first.err, HasSubstr("/no/such/module.so"));
}

TEST(CrashHandlerTest, PrintsNothingWithoutACrash) {
  const ProgramResult ended = RunAndCrash("request to end");
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_THAT(ended.err, IsEmpty());
  const ProgramResult good = RunAndCrash("");
  EXPECT_EQ(good.code, 0);
  EXPECT_THAT(good.err, IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::crash_handler_test
