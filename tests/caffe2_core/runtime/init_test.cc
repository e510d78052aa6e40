#include "caffe2_core/runtime/init.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/blob_serialization.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::init_test {
namespace {

using test::ExpectThrows;

std::vector<std::string>& Order() {
  static std::vector<std::string> order;
  return order;
}
bool Early(int*, char***) {
  Order().push_back("early");
  return true;
}
bool Late(int*, char***) {
  Order().push_back("late");
  return GlobalInit();  // a nested call does nothing
}
bool Failing(int*, char***) { return false; }
REGISTER_CAFFE2_INIT_FUNCTION(InitTestLate, &Late, "late");
REGISTER_CAFFE2_EARLY_INIT_FUNCTION(InitTestEarly, &Early, "early")

void InitWith(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  char** pointer = argv.data();
  EXPECT_TRUE(GlobalInit(&argc, &pointer));
  EXPECT_EQ(argc, 1);
}

TEST(InitTest, RunsEarlyFunctionsFirstAndEachOnceHoweverOftenItIsCalled) {
  EXPECT_TRUE(GlobalInit());
  InitWith({});
  EXPECT_EQ(Order(), (std::vector<std::string>{"early", "late"}));
  EXPECT_TRUE(GlobalInitAlreadyRun());
}

TEST(InitTest, NamesAFunctionThatFailsAndRunsWhatIsRegisteredLater) {
  RegisterInitFunction(&Failing, false, "of a module");
  ExpectThrows(
      [] { GlobalInit(); },
      "Failed to run some init functions for caffe2: init function \"of a module\" failed");
  EXPECT_TRUE(GlobalInit());
}

TEST(InitTest, FlagsSetTheOptionsOfTheLibrary) {
  InitWith({"--caffe2_log_level=1", "--caffe2_keep_on_shrink=false", "--caffe2_tensor_chunk_size",
            "77", "--caffe2_omp_num_threads=2", "--caffe2_cpu_allocator_do_zero_fill=0",
            "--caffe2_report_cpu_memory_usage"});
  EXPECT_EQ(LogThreshold(), 1);
  EXPECT_FALSE(GlobalTensorShrinkOptions().keep_on_shrink);
  EXPECT_EQ(GlobalSerializationSettings().tensor_chunk_size, 77);
  EXPECT_EQ(GetNumThreads(), 2);
  EXPECT_EQ(GlobalCPUMemoryOptions().fill, CPUMemoryFill::kNone);
  EXPECT_TRUE(GlobalCPUMemoryOptions().report_usage);
  InitWith({"--caffe2_log_level=2", "--caffe2_keep_on_shrink=true", "--caffe2_tensor_chunk_size",
            "1000000", "--caffe2_omp_num_threads=1", "--caffe2_cpu_allocator_do_zero_fill=1",
            "--nocaffe2_report_cpu_memory_usage"});
  EXPECT_EQ(GlobalCPUMemoryOptions().fill, CPUMemoryFill::kZero);
}

TEST(InitTest, FillsNewMemoryWithAPatternByCaffe2sFlag) {
  // As the original's tests pass them.
  InitWith({"--caffe2_cpu_allocator_do_zero_fill=0", "--caffe2_cpu_allocator_do_junk_fill=1"});
  EXPECT_EQ(GlobalCPUMemoryOptions().fill, CPUMemoryFill::kJunk);
  InitWith({"--caffe2_cpu_allocator_do_junk_fill=0"});
  EXPECT_EQ(GlobalCPUMemoryOptions().fill, CPUMemoryFill::kZero);
  InitWith({"--caffe2_cpu_allocator_do_zero_fill=0", "--caffe2_cpu_allocator_do_junk_fill=0"});
  EXPECT_EQ(GlobalCPUMemoryOptions().fill, CPUMemoryFill::kNone);
  InitWith({"--caffe2_cpu_allocator_do_zero_fill=1"});
}

// Programs of Caffe2's front end pass them.
TEST(InitTest, AcceptsFlagsOfTheLoggingLibrary) {
  InitWith({"--v=0", "--minloglevel=2", "--logtostderr=1"});
  EXPECT_EQ(LogThreshold(), 2) << "caffe2_log_level sets it";
}

TEST(InitTest, HelpListsTheFlagsAndEndsTheProgram) {
  const auto help = [] {
    static int batch = 4;
    RegisterFlag("init_test_batch", &batch, "images per batch", __FILE__);
    SetUsageMessage("classifies images");
    dup2(STDERR_FILENO, STDOUT_FILENO);  // which the death test reads
    InitWith({"--init_test_batch=8", "--help"});
  };
  EXPECT_EXIT(help(), testing::ExitedWithCode(0),
              testing::AllOf(
                  testing::HasSubstr("classifies images\nArguments:\n"),
                  testing::HasSubstr("\n    init_test_batch: (int, default 4) images per batch\n"),
                  testing::HasSubstr("\n    caffe2_keep_on_shrink: (bool, default ")));
}

TEST(InitTest, AcceptsOtherFlagsOfCaffe2WithoutEffectAndRejectsUnknownOnes) {
  InitWith(
      {"--caffe2_disable_chaining", "--caffe2_cuda_memory_pool=cub", "--caffe2_streams_per_gpu=4"});
  ExpectThrows([] { InitWith({"--caffe2_streams_per_gpu=many"}); }, "\"many\" is not an integer");
  ExpectThrows([] { InitWith({"--caffe2_log_levle=1"}); }, "close: --caffe2_log_level");
  ExpectThrows([] { InitWith({"--caffe2_omp_num_threads=-1"}); }, "want 0 (no change) to 1024");
}

TEST(InitTest, RunsAllFunctionsAndReportsEveryProblemAtOnce) {
  static int late = 0, early = 0;
  RegisterInitFunction(&Failing, true, "early one");
  RegisterInitFunction([](int*, char***) { return ++early > 0; }, true, "counts");
  RegisterInitFunction(&Failing, false, "late one");
  RegisterInitFunction([](int*, char***) { return ++late > 0; }, false, "counts");
  std::vector<std::string> words = {"program", "--caffe2_log_level=x", "rest"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = 3;
  char** pointer = argv.data();
  ExpectThrows([&] { GlobalInit(&argc, &pointer); },
               "Failed to run some init functions for caffe2: init function \"early one\" failed; "
               "flag --caffe2_log_level: \"x\" is not an integer; init function \"late one\" "
               "failed");
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 1);
  EXPECT_EQ(argc, 2) << "the flag is removed";
  EXPECT_STREQ(argv[1], "rest");
  InitWith({});  // nothing is left to run
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 1);
}

// An early function can define the flags that are parsed afterwards.
TEST(InitTest, EarlyFunctionsRunBeforeFlagsAreParsedAndLateOnesAfterwards) {
  static int value = 1, seen_early = -1, seen_late = -1;
  RegisterInitFunction(
      [](int* argc, char***) {
        RegisterFlag("init_test_of_early", &value, "", __FILE__);
        seen_early = *argc;
        return true;
      },
      true, "defines a flag");
  RegisterInitFunction(
      [](int* argc, char***) {
        seen_late = 10 * value + *argc;
        return true;
      },
      false, "reads it");
  InitWith({"--init_test_of_early=7"});
  EXPECT_EQ(seen_early, 2);
  EXPECT_EQ(seen_late, 71);
}

TEST(InitDeathTest, AnInitThatFailedHasRun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child starts, without an init
  const auto init = [] {
    RegisterInitFunction(&Failing, false, "first");
    if (GlobalInitAlreadyRun()) std::exit(1);
    try {
      GlobalInit();
      std::exit(2);
    } catch (const EnforceNotMet&) {
      std::exit(GlobalInitAlreadyRun() ? 0 : 3);
    }
  };
  EXPECT_EXIT(init(), testing::ExitedWithCode(0), "");
}

TEST(InitTest, HelpIsAWordBeforeALoneDashAlone) {
  // After "--" nothing is a flag: this does not end the program.
  std::vector<std::string> words = {"program", "--", "--help"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = 3;
  char** pointer = argv.data();
  EXPECT_TRUE(GlobalInit(&argc, &pointer));
  EXPECT_EQ(argc, 3);
}

}  // namespace
}  // namespace caffe2rt::init_test
