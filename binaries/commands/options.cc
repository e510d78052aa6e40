// The options shared by several subcommands.

#include "binaries/commands/command.h"
#include "binaries/commands/file_policy.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/module.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt {

std::vector<Option> JoinOptions(std::initializer_list<std::vector<Option>> lists) {
  std::vector<Option> all;
  for (const std::vector<Option>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const std::vector<Option>& ModelOptions() {
  static const std::vector<Option> options = {
      {"init-net", "FILE", "", "net that fills the weights; may be given again", true},
      {"predict-net", "FILE", "", "net to run"},
      {"predictor", "DB", "", "database of predictor_exporter, in place of the two"},
      {"db-type", "TYPE", "", "its type: minidb, leveldb, lmdb (told by content)"},
      {"device", "NAME", "auto",
       "auto: as the net asks, the CPU where that is not here; cpu; cuda:N"},
      {"root", "DIR", ".", "where relative `db` paths are sought, then beside the net"},
      kAllowFilesOption,
      {"cuda-sync", "", "", "wait for the device after each operator: an error names the operator"},
      {"cuda-graph", "", "", "record a device's operators, start them together from the third run"},
  };
  return options;
}

const std::vector<Option>& InputOptions() {
  static const std::vector<Option> options = {
      {"input", "BLOB=VALUE", "", "FILE (.npy, .npz, TensorProto, picture) or d0,d1,... (random)",
       true},
      {"image", "FILE|DIR", "", "picture(s) for the net's one input, or BLOB=FILE"},
      {"mean", "M[,M,M]", "0", "taken off each channel, in the net's order"},
      {"scale", "S[,S,S]", "1", "factor after that"},
      {"bgr", "", "", "channels blue, green, red"},
      {"grey", "", "", "one channel, the brightness"},
      {"resize", "N", "0", "shorter side of pictures in pixels; 0: as it is"},
      {"crop", "N", "0", "square cut out of the middle; 0: none"},
      {"seed", "N", "1", "of random inputs and, when given, of the nets"},
  };
  return options;
}

const std::vector<Option>& ProcessOptions() {
  static const std::vector<Option> options = {
      {"threads", "N", "1", "threads of one operator"},
      {"memory-limit", "BYTES", "0",
       "of C++ objects and tensors, such as 512M; 0: half of the machine"},
      {"module", "FILE.so", "", "brings operators; may be given again", true},
  };
  return options;
}

void ApplyProcessOptions(const CommandLine& line) {
  if (line.Has("threads")) SetNumThreads(static_cast<int>(line.Integer("threads", 1, 1024)));
  if (line.Has("memory-limit")) {
    GlobalCPUMemoryOptions().limit_bytes = static_cast<size_t>(line.Bytes("memory-limit"));
  }
  for (const std::string& file : line.All("module")) LoadModule("", file);
}

void CheckPositional(const CommandLine& line, size_t least, size_t most, const char* what) {
  const size_t count = line.positional().size();
  if (count < least) throw UsageError(std::string("want ") + what + ", see --help");
  if (count > most) {
    throw UsageError(
        "argument \"" + line.positional()[most] + "\" is one too many" +
        (most == 0 ? "; files are given by options here, see --help" : ", see --help"));
  }
}

}  // namespace caffe2rt
