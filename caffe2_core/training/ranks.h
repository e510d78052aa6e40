#pragma once
// The ranks of a training: several processes, each with the same net, that divide every batch.
//
//   const RankPlace place = FindRank({}, {}, &EnvironmentText);   // from torchrun, mpirun or srun

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct RankPlace {
  int rank = 0;
  int size = 1;
  std::string source = "";  // for messages: "RANK and WORLD_SIZE"; "" if nothing names a rank
};

// The value of an environment variable, or nothing.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> EnvironmentText(const char* name);

// Finds rank and number of ranks: those given, or else those of a launcher: RANK and WORLD_SIZE
// (torchrun), OMPI_COMM_WORLD_RANK and _SIZE (mpirun), SLURM_PROCID and SLURM_NTASKS (srun; the variables
// of a batch script, without SLURM_STEP_ID, do not count). The first launcher counts. THROWS if one of two
// is missing, if a value is not a number or out of range, or if a later launcher started more processes than the first one.
RankPlace FindRank(const std::optional<int>& rank, const std::optional<int>& size,
                   const EnvironmentLookup& lookup);

// The name of their world (operators/distributed).
inline constexpr char kTrainWorldName[] = "train_world_op";

struct RankOptions {
  int rank = 0;
  int size = 1;
  std::string store = "";   // a folder that all ranks see
  std::string run_id = "";  // the same on all ranks; its own in each run on a store
  std::string interface = "";
  int timeout_ms = 30000;  // to find the other ranks, and in each operation

  bool several() const { return size > 1; }
};

// The records of a step that a rank trains on: of `batch` records those with the numbers rank, rank +
// size and so on.
int64_t RecordsOfRank(int64_t batch, const RankOptions& ranks);

}  // namespace caffe2rt
#pragma GCC visibility pop
