#pragma once
// Checkpoints of a training: a minidb with the blobs that the training goes on with, and a TrainState
// under the name "!train_state". A file appears whole or not at all.
//
//   RUN/checkpoint-1204      after 1,204 steps
//   RUN/checkpoint-best      of the best epoch

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2rt/train.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// How a checkpoint differs from the workspace.
struct CheckpointChanges {
  // A blob and the blob whose value it gets.
  std::map<std::string, std::string> values_of = {};
  // The position of readers, as those of one rank that reads all records.
  std::optional<db::DBReaderPosition> reader_position = std::nullopt;
};

// Writes or replaces the file. THROWS, and leaves an earlier file as it was, if a blob does not exist
// or cannot be serialized, or if the disk is full.
void SaveCheckpoint(const std::string& path, const Workspace& ws,
                    const std::vector<std::string>& blobs, const TrainState& state,
                    const CheckpointChanges& changes = {});

// THROWS if the file is not a checkpoint.
TrainState ReadTrainState(const std::string& path);

struct CheckpointFile {
  std::string path;
  int64_t iteration = 0;
};
// The checkpoints of a folder, but not the best one: oldest first.
std::vector<CheckpointFile> CheckpointsOf(const std::string& folder);
std::string CheckpointPath(const std::string& folder, int64_t iteration);
std::string BestCheckpointPath(const std::string& folder);

// Removes all but the last `keep` checkpoints of the folder.
void RemoveOldCheckpoints(const std::string& folder, int keep);

}  // namespace caffe2rt
#pragma GCC visibility pop
