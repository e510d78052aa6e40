#pragma once
// The memory that a net needs, derived from its definition before anything is allocated. Shown by
// `caffe2 inspect --memory`.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct MemoryReport {
  struct BlobUse {
    std::string name;
    std::string shape;      // as ShapeText; of the last value that the net writes
    int64_t bytes = 0;      // of the largest value
    bool planned = false;   // shares the arena; otherwise it has memory of its own
    int64_t offset = 0;     // in the arena
    uint32_t first_op = 0;  // positions of the first and last operator that use the blob
    uint32_t last_op = 0;
  };
  struct UnknownBlob {
    std::string name;
    std::string problem;
    bool is_input = false;  // its shape was not given
  };

  // --- The parts of the peak, in bytes. They saturate at INT64_MAX. ---
  int64_t weight_bytes = 0;    // parameters
  int64_t prepared_bytes = 0;  // weights in the layouts that operators prepare, as far as known
  int64_t input_bytes = 0;     // other blobs that the net reads first
  int64_t arena_bytes = 0;     // activations that share planned memory
  int64_t own_bytes = 0;       // activations that do not: outputs, kept blobs, state
  int64_t scratch_bytes = 0;   // temporary memory of operators, for all threads
  // The sum of the parts.
  int64_t peak_bytes = 0;

  int64_t live_bytes = 0;        // a lower bound of arena_bytes
  int64_t activation_bytes = 0;  // what the activations need without a plan
  std::vector<BlobUse> blobs;    // the blobs that the net writes, largest first
  // The blobs whose sizes are not known. If there are any, the peak does not include them.
  std::vector<UnknownBlob> unknown;
  // The positions of the operators whose prepared weights are not known, and not in the peak.
  std::vector<size_t> unknown_prepared;
};

// Reports on `net`. Shapes are inferred through `init_nets` first; `seeds` and `parameter_names` are
// those of SummarizeNet (net_summary.h). `kept` are blobs that are read after a run, besides the
// outputs of the net. THROWS if the size of a blob overflows; the message names the blob.
MemoryReport ReportMemory(const std::vector<const NetDef*>& init_nets, const NetDef& net,
                          const ShapeMap& seeds, const std::set<std::string>& parameter_names,
                          const std::set<std::string>& kept, int threads);

// Replaces what is said of prepared weights by what a net really holds (PreparedBytesOf in
// model/net_report.h), and adds up the peak.
void SetPreparedBytes(int64_t bytes, std::vector<size_t> unknown, MemoryReport* report);

}  // namespace caffe2rt
#pragma GCC visibility pop
