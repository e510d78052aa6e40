#include "caffe2_core/runtime/init.h"

#include <gmock/gmock.h>
#include <unistd.h>

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

}  // namespace
}  // namespace caffe2rt::init_test
