#include "caffe2_core/runtime/init.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/debug_options.h"
#include "caffe2_core/runtime/executor_overrides.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

struct InitEntry {
  InitFunction function;
  bool early;
  bool done;
  std::string description;
};

struct InitState {
  RecursiveMutex running;  // an init function may call GlobalInit
  bool in_progress ABSL_GUARDED_BY(running) = false;
  bool run ABSL_GUARDED_BY(running) = false;
  Mutex mutex;
  std::vector<InitEntry> functions ABSL_GUARDED_BY(mutex);
  std::atomic<bool> print_version{false};  // any thread may set the flag
};

InitState& TheState() {
  static InitState* const state = new InitState;
  return *state;
}

void SetThreads(const std::string& text) {
  const int64_t threads = ParseFlagInteger(text);
  CAFFE_ENFORCE(threads >= 0 && threads <= 1024, threads, " threads, want 0 (no change) to 1024");
  if (threads > 0) SetNumThreads(static_cast<int>(threads));
}

// Registers the flags that set options of the library.
void RegisterOptionFlags() {
  const char* file = __FILE__;
  RegisterFlag({"caffe2_version", "bool", "false", "print the version", file, "logging"},
               [](const std::string& text) { TheState().print_version = ParseFlagBool(text); });
  RegisterFlag(
      {"caffe2_log_level", "int", "2", "lowest severity that is logged: INFO 0, WARNING 1, ERROR 2",
       file, "logging"},
      [](const std::string& text) { SetLogThreshold(static_cast<int>(ParseFlagInteger(text))); });
  for (const char* name : {"caffe2_omp_num_threads", "caffe2_mkl_num_threads"}) {
    RegisterFlag({name, "int", "0", "threads that run one operator; 0 keeps the default, 1", file,
                  "threads"},
                 &SetThreads);
  }
  RegisterFlag("caffe2_keep_on_shrink", &GlobalTensorShrinkOptions().keep_on_shrink,
               "keep the memory of a tensor that shrinks", file, "memory");
  RegisterFlag("caffe2_max_keep_on_shrink_memory",
               &GlobalTensorShrinkOptions().max_keep_on_shrink_bytes,
               "maximum unused bytes that a tensor keeps after it has shrunk", file, "memory");
  RegisterFlag("caffe2_tensor_chunk_size", &GlobalSerializationSettings().tensor_chunk_size,
               "number of tensor elements in one record of a saved tensor", file, "files");
  RegisterFlag("caffe2_serialize_fp16_as_bytes", &GlobalSerializationSettings().fp16_as_bytes,
               "write float16 as bytes", file, "files");
  RegisterFlag(
      {"caffe2_override_executor", "string", "",
       "run nets of a type as another one: pairs of net types, such as dag,simple", file, "nets"},
      &SetExecutorOverrides);
  DebugOptions& debug = GlobalDebugOptions();
  RegisterFlag("caffe2_print_blob_sizes_at_exit", &debug.print_blob_sizes_at_exit,
               "print the sizes of a workspace's tensors when it is destroyed", file, "nets");
  RegisterFlag("caffe2_dag_net_collect_stats", &debug.collect_dag_statistics,
               "log the times of nets of type dag when they are destroyed, at level 0", file,
               "nets");
  RegisterFlag("caffe2_operator_throw_if_fp_exceptions", &debug.throw_if_fp_exceptions,
               "fail if an operator on the CPU divides by zero, overflows or computes NaN", file,
               "nets");
}

// Registers flags of Caffe2 that have no effect in this library, so that existing command lines
// stay valid.
void RegisterIdleFlags() {
  struct Idle {
    const char* name;
    const char* type;
    const char* value;
    const char* reason = nullptr;  // why, or what has the effect
  };
  static constexpr char kPool[] = "--threads (SetNumThreads) sets the threads of all nets";
  static constexpr char kStreams[] =
      "one thread starts the operators of a net on devices, on several streams if the net type "
      "allows it";
  static constexpr char kWaits[] = "where a net waits follows from its dependencies";
  static constexpr char kLog[] = "caffe2_log_level sets what is logged";
  static constexpr Idle kIdle[] = {
      {"v", "int", "0", kLog},
      {"minloglevel", "int", "0", kLog},
      {"logtostderr", "bool", "true", "messages are always written to stderr"},
      {"caffe2_use_fatal_for_enforce", "bool", "false"},
      {"caffe2_print_stacktraces", "bool", "false"},
      {"caffe2_quit_on_unsupported_cpu_feature", "bool", "false"},
      {"caffe2_max_tensor_serializer_threads", "int", "16"},
      {"caffe2_operator_max_engine_name_length", "int", "10"},
      {"caffe2_disable_implicit_engine_preference", "bool", "false"},
      {"caffe2_handle_executor_threads_exceptions", "bool", "false",
       "errors of all threads are reported"},
      {"caffe2_disable_chaining", "bool", "false",
       "chains only decide how operators are handed to threads"},
      {"caffe2_streams_per_gpu", "int", "1", kStreams},
      {"caffe2_net_async_finish_chain", "bool", "false", kWaits},
      {"caffe2_net_async_always_schedule_child", "bool", "false", kWaits},
      {"caffe2_net_async_max_gpus", "int", "16", kPool},
      {"caffe2_net_async_max_numa_nodes", "int", "8", kPool},
      {"caffe2_net_async_cpu_pool_size", "int", "0", kPool},
      {"caffe2_net_async_thread_pool_size", "int", "0", kPool},
      {"caffe2_net_async_check_stream_status", "bool", "false", kStreams},
      {"caffe2_threads_per_gpu", "int", "1", kStreams},
      {"caffe2_use_nvtx", "bool", "false"},
      {"caffe2_async_dag_use_multiple_streams", "bool", "false", kStreams},
      {"caffe2_rnn_executor", "bool", "true"},
      {"caffe2_force_shared_col_buffer", "bool", "false"},
      {"caffe2_workspace_stack_debug", "bool", "false"},
      {"caffe2_leveldb_block_size", "int", "65536"},
      {"caffe2_rocksdb_block_size", "int", "65536"},
      {"caffe2_threadpool_force_inline", "bool", "false"},
      {"caffe2_threadpool_android_cap", "bool", "true"},
      {"caffe2_threadpool_ios_cap", "bool", "true"},
      {"caffe2_nnpack_num_threads", "int", "1"},
      {"caffe2_nnpack_use_mkl_num_threads", "bool", "true"},
      {"caffe2_profile_nnpack", "bool", "false"},
      {"caffe2_htrace_span_log_path", "string", ""},
      {"caffe2_mkl_memonger_in_use", "bool", "false"},
      {"caffe2_mkl_implicit_layout_change", "bool", "false"},
  };
  for (const Idle& flag : kIdle) {
    Flag idle = IdleFlag(flag.name, flag.type, flag.value, __FILE__);
    if (flag.reason != nullptr) idle.info.help += std::string(": ") + flag.reason;
    RegisterFlag(std::move(idle.info), std::move(idle.set));
  }
}

// Registers flags of devices whose modules are not loaded yet. The modules read them when they are
// loaded.
void RegisterDeviceFlags() {
  for (const DeviceDescriptor* device : DeviceDescriptors()) {
    if (device->flags == nullptr) continue;
    for (Flag& flag : device->flags()) RegisterDeferredFlag(std::move(flag.info));
  }
}

// Whether the arguments before a lone "--" ask for help, and no flag of the program is called so.
bool AsksForHelp(int argc, char** argv) {
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (flag.name == "help") return false;
  }
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--help") return true;
  }
  return false;
}

// Prints the usage message and the flags, those of the program first. Flags without effect are left
// out.
void PrintFlags() {
  if (!UsageMessage().empty()) std::printf("%s\n", UsageMessage().c_str());
  for (const bool of_program : {true, false}) {
    bool first = true;
    for (const FlagInfo& flag : RegisteredFlags()) {
      if (flag.idle || flag.group.empty() != of_program) continue;
      if (std::exchange(first, false))
        std::printf("%s\n", of_program ? "Arguments:" : "Arguments of the library:");
      std::printf("    %s: (%s, default %s) %s\n", flag.name.c_str(), flag.type.c_str(),
                  flag.default_value.c_str(), flag.help.c_str());
    }
  }
}

// Runs the early functions, or the others, that have not run yet. Returns one message for each that
// failed.
std::vector<std::string> RunFunctions(bool early, int* argc, char*** argv) {
  InitState& state = TheState();
  std::vector<std::string> failed;
  for (size_t i = 0;; ++i) {
    InitEntry entry;
    {
      const MutexLock lock(state.mutex);
      if (i >= state.functions.size()) return failed;
      entry = state.functions[i];
      if (entry.early != early || entry.done) continue;
      state.functions[i].done = true;
    }
    if (!entry.function(argc, argv))
      failed.push_back("init function \"" + entry.description + "\" failed");
  }
}

}  // namespace

void RegisterInitFunction(InitFunction function, bool early, const char* description) {
  InitState& state = TheState();
  const MutexLock lock(state.mutex);
  state.functions.push_back({function, early, false, description});
}

bool GlobalInit(int* argc, char*** argv) try {
  CAFFE_ENFORCE(argc != nullptr && argv != nullptr && (*argc == 0 || *argv != nullptr),
                "argument argc or argv of GlobalInit is null");
  InitState& state = TheState();
  const RecursiveMutexLock lock(state.running);
  if (state.in_progress) return true;
  static const bool flags_known = [] {
    RegisterOptionFlags();
    RegisterIdleFlags();
    RegisterDeviceFlags();
    RegisterContextFlags();
    return true;
  }();
  (void)flags_known;
  state.in_progress = true;
  struct Done {
    InitState& state;
    ~Done() { state.in_progress = false; }
  } done{state};
  std::vector<std::string> problems = RunFunctions(true, argc, argv);
  if (AsksForHelp(*argc, *argv)) {
    PrintFlags();
    std::exit(0);
  }
  try {
    ParseCommandLineFlags(argc, argv);
  } catch (const EnforceNotMet& error) {
    problems.push_back(error.message());
  }
  if (state.print_version) std::printf("Caffe2 build configuration: caffe2rt\n");
  for (std::string& problem : RunFunctions(false, argc, argv))
    problems.push_back(std::move(problem));
  state.run = true;
  CAFFE_ENFORCE(problems.empty(),
                "Failed to run some init functions for caffe2: ", absl::StrJoin(problems, "; "));
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool GlobalInit() try {
  char name[] = "caffe2";
  char* list[] = {name, nullptr};
  char** argv = list;
  int argc = 1;
  return GlobalInit(&argc, &argv);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool GlobalInitAlreadyRun() {
  InitState& state = TheState();
  const RecursiveMutexLock lock(state.running);
  return state.run;
}

}  // namespace caffe2rt
