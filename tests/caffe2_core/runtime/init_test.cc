#include "caffe2_core/runtime/init.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/debug_options.h"
#include "caffe2_core/runtime/executor_overrides.h"
#include "caffe2_core/tensor/tensor.h"
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

TEST(InitTest, OtherFlagsSetTheirOptions) {
  auto& shrink = GlobalTensorShrinkOptions();
  auto& settings = GlobalSerializationSettings();
  DebugOptions& debug = GlobalDebugOptions();
  const int64_t kept = shrink.max_keep_on_shrink_bytes;
  InitWith({"--caffe2_max_keep_on_shrink_memory=123", "--caffe2_serialize_fp16_as_bytes",
            "--caffe2_print_blob_sizes_at_exit=true", "--caffe2_dag_net_collect_stats=1",
            "--caffe2_operator_throw_if_fp_exceptions=yes", "--caffe2_mkl_num_threads=3"});
  EXPECT_EQ(shrink.max_keep_on_shrink_bytes, 123);
  EXPECT_TRUE(settings.fp16_as_bytes);
  EXPECT_TRUE(debug.print_blob_sizes_at_exit);
  EXPECT_TRUE(debug.collect_dag_statistics);
  EXPECT_TRUE(debug.throw_if_fp_exceptions);
  EXPECT_EQ(GetNumThreads(), 3);
  InitWith({"--caffe2_omp_num_threads=0"});  // no change
  EXPECT_EQ(GetNumThreads(), 3);
  InitWith({MakeString("--caffe2_max_keep_on_shrink_memory=", kept),
            "--nocaffe2_serialize_fp16_as_bytes", "--caffe2_print_blob_sizes_at_exit=false",
            "--caffe2_dag_net_collect_stats=0", "--caffe2_operator_throw_if_fp_exceptions=no",
            "--caffe2_omp_num_threads=1"});
  EXPECT_EQ(shrink.max_keep_on_shrink_bytes, kept);
  EXPECT_FALSE(settings.fp16_as_bytes);
  EXPECT_FALSE(debug.print_blob_sizes_at_exit);
  EXPECT_FALSE(debug.collect_dag_statistics);
  EXPECT_FALSE(debug.throw_if_fp_exceptions);
  EXPECT_EQ(GetNumThreads(), 1);
  const auto type_of = [] {
    return WithOverriddenType(
               std::make_shared<const NetDef>(test::ParseNet(R"(name: "n" type: "dag")")))
        ->type();
  };
  InitWith({"--caffe2_override_executor=dag,simple"});
  EXPECT_EQ(type_of(), "simple");
  InitWith({"--caffe2_override_executor="});
  EXPECT_EQ(type_of(), "dag");
  testing::internal::CaptureStdout();
  InitWith({"--caffe2_version"});
  InitWith({"--caffe2_version=false"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "Caffe2 build configuration: caffe2rt\n");
}

// They have the types and defaults that Caffe2's have, and say why they do nothing.
TEST(InitTest, IdleFlagsAreOfTheirTypes) {
  InitWith({});
  std::map<std::string, FlagInfo> flags;
  for (const FlagInfo& flag : RegisteredFlags()) flags[flag.name] = flag;
  const struct {
    const char *name, *type, *value, *wrong;
  } rows[] = {{"caffe2_streams_per_gpu", "int", "1", "one"},
              {"caffe2_max_tensor_serializer_threads", "int", "16", "1.5"},
              {"caffe2_rnn_executor", "bool", "true", "maybe"},
              {"caffe2_disable_chaining", "bool", "false", "2x"},
              {"logtostderr", "bool", "true", "x"},
              {"caffe2_htrace_span_log_path", "string", "", nullptr}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(flags.contains(row.name));
    EXPECT_TRUE(flags[row.name].idle);
    EXPECT_EQ(flags[row.name].type, row.type);
    EXPECT_EQ(flags[row.name].default_value, row.value);
    InitWith({MakeString("--", row.name, "=", *row.value == '\0' ? "any" : row.value)});
    if (row.wrong == nullptr) continue;
    EXPECT_ANY_THROW(InitWith({MakeString("--", row.name, "=", row.wrong)}));
  }
  EXPECT_THAT(flags["v"].help, testing::HasSubstr("caffe2_log_level sets what is logged"));
  EXPECT_FALSE(flags["caffe2_log_level"].idle);
}

// Every flag of Caffe2's core with its default, so that its command lines stay valid.
TEST(InitTest, KnowsTheFlagsOfCaffe2) {
  InitWith({});
  std::map<std::string, FlagInfo> flags;
  for (const FlagInfo& flag : RegisteredFlags()) flags[flag.name] = flag;
  const struct {
    const char* defaults;  // "name=value ..."
    const char* type;
    bool idle;
  } rows[] = {
      {"caffe2_version=false caffe2_keep_on_shrink=true caffe2_print_blob_sizes_at_exit=false "
       "caffe2_report_cpu_memory_usage=false caffe2_cpu_allocator_do_zero_fill=true "
       "caffe2_serialize_fp16_as_bytes=false caffe2_dag_net_collect_stats=false "
       "caffe2_operator_throw_if_fp_exceptions=false",
       "bool", false},
      {"caffe2_log_level=2 caffe2_omp_num_threads=0 caffe2_mkl_num_threads=0 "
       "caffe2_tensor_chunk_size=1000000 caffe2_max_keep_on_shrink_memory=9223372036854775807",
       "int", false},
      {"caffe2_override_executor=", "string", false},
      {"logtostderr=true caffe2_use_fatal_for_enforce=false caffe2_print_stacktraces=false "
       "caffe2_quit_on_unsupported_cpu_feature=false "
       "caffe2_disable_implicit_engine_preference=false "
       "caffe2_handle_executor_threads_exceptions=false caffe2_disable_chaining=false "
       "caffe2_net_async_finish_chain=false caffe2_net_async_always_schedule_child=false "
       "caffe2_net_async_check_stream_status=false caffe2_use_nvtx=false "
       "caffe2_async_dag_use_multiple_streams=false caffe2_rnn_executor=true "
       "caffe2_force_shared_col_buffer=false caffe2_workspace_stack_debug=false "
       "caffe2_threadpool_force_inline=false caffe2_threadpool_android_cap=true "
       "caffe2_threadpool_ios_cap=true caffe2_nnpack_use_mkl_num_threads=true "
       "caffe2_profile_nnpack=false caffe2_mkl_memonger_in_use=false "
       "caffe2_mkl_implicit_layout_change=false",
       "bool", true},
      {"v=0 minloglevel=0 caffe2_max_tensor_serializer_threads=16 "
       "caffe2_operator_max_engine_name_length=10 caffe2_streams_per_gpu=1 "
       "caffe2_net_async_max_gpus=16 caffe2_net_async_max_numa_nodes=8 "
       "caffe2_net_async_cpu_pool_size=0 caffe2_net_async_thread_pool_size=0 "
       "caffe2_threads_per_gpu=1 caffe2_leveldb_block_size=65536 caffe2_rocksdb_block_size=65536 "
       "caffe2_nnpack_num_threads=1",
       "int", true},
      {"caffe2_htrace_span_log_path=", "string", true},
  };
  for (const auto& row : rows) {
    std::istringstream words(row.defaults);
    for (std::string word; words >> word;) {
      SCOPED_TRACE(word);
      const size_t equal = word.find('=');
      const auto found = flags.find(word.substr(0, equal));
      ASSERT_NE(found, flags.end());
      EXPECT_EQ(found->second.default_value, word.substr(equal + 1));
      EXPECT_EQ(found->second.type.substr(0, std::strlen(row.type)), row.type);
      EXPECT_EQ(found->second.idle, row.idle);
      EXPECT_NE(found->second.help, "");
    }
  }
}

// Those of devices are known before a module is loaded, each with its type and default.
TEST(InitTest, KnowsEveryFlagOfTheDevices) {
  InitWith({});
  std::map<std::string, FlagInfo> flags;
  for (const FlagInfo& flag : RegisteredFlags()) flags[flag.name] = flag;
  for (const DeviceDescriptor* device : DeviceDescriptors()) {
    if (device->flags == nullptr) continue;
    const std::vector<Flag> own = device->flags();
    EXPECT_FALSE(own.empty());
    for (const Flag& flag : own) {
      SCOPED_TRACE(flag.info.name);
      ASSERT_TRUE(flags.contains(flag.info.name));
      EXPECT_EQ(flags[flag.info.name].type, flag.info.type);
      EXPECT_EQ(flags[flag.info.name].default_value, flag.info.default_value);
      EXPECT_EQ(flags[flag.info.name].idle, flag.info.idle);
    }
  }
}

// A program with a flag of this name shows its own help.
TEST(InitDeathTest, HelpOfTheProgramPrecedes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto help = [] {
    static bool wanted = false;
    RegisterFlag("help", &wanted, "help of the program", __FILE__);
    InitWith({"--help"});
    std::exit(wanted ? 7 : 8);
  };
  EXPECT_EXIT(help(), testing::ExitedWithCode(7), "");
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
                  testing::HasSubstr("\nArguments of the library:\n"),
                  testing::HasSubstr("\n    caffe2_keep_on_shrink: (bool, default "),
                  testing::Not(testing::HasSubstr("caffe2_disable_chaining:")),
                  testing::Truly([](const std::string& text) {
                    const size_t of_library = text.find("Arguments of the library:");
                    return text.find("init_test_batch:") < of_library &&
                           text.find("caffe2_keep_on_shrink:") > of_library &&
                           text.find("Arguments of the library:", of_library + 1) == text.npos;
                  })));
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

TEST(InitDeathTest, HelpIsAWordBeforeALoneDashAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // After "--" nothing is a flag. In a process of its own, because the help ends the program with 0.
  const auto init = [](std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    int argc = static_cast<int>(words.size());
    char** pointer = argv.data();
    const bool good = GlobalInit(&argc, &pointer);
    std::exit(good ? 10 + argc : 9);
  };
  EXPECT_EXIT(init({"program", "--", "--help"}), testing::ExitedWithCode(13), "");
  EXPECT_EXIT(init({"program", "--", "a", "--help"}), testing::ExitedWithCode(14), "");
  EXPECT_EXIT(init({"program", "--help", "--"}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(init({"--help"}), testing::ExitedWithCode(11), "");  // the name of the program
}

}  // namespace
}  // namespace caffe2rt::init_test
