#pragma once
// The ranks of `caffe2 train`: which one this process is, and the launcher of --ranks.

#include <optional>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/training/ranks.h"

namespace caffe2rt {

std::vector<Option> RankOptionTable();

// What the options and the environment state. THROWS UsageError if they contradict each other, or if
// there are several ranks without a store.
RankOptions RanksOf(const CommandLine& line);
// The folder of --store file:DIR, or "". THROWS UsageError for another kind of store.
std::string StoreFolder(const CommandLine& line);
// The ranks that an error of an operator says are lost (TrainingCallbacks::lost_ranks).
std::optional<std::vector<int>> LostRanksOf(const EnforceNotMet& error);

// Whether this process starts the ranks: --ranks is above 1.
bool LaunchesRanks(const CommandLine& line);
// For the checks of the launcher: rank 0 of them, with a store that is not used.
RankOptions PlannedRanks(const CommandLine& line);
// Starts the ranks on this machine, which go on in the folder, and waits for them. Each line that they print
// begins with the number of its rank. Passes SIGINT and SIGHUP on. Returns 0 if all of them do, else 1.
int LaunchRanks(const CommandLine& line, const std::string& folder);

}  // namespace caffe2rt
