#pragma once
// The options of `caffe2 run` that look at the values of all blobs: --check-finite, --stats and
// --fetch all. With any of them, the net runs as it is written, one operator after the other.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/json_output.h"
#include "caffe2_core/graph/blob_values.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor_stats.h"

namespace caffe2rt {

// --check-finite and --stats
const std::vector<Option>& ValueOptions();

class RunValues {
 public:
  // With any of the options, prepares `net` to be watched.
  RunValues(const CommandLine& line, NetDef* net);

  // Whether any of the options is given: the net must be created as the constructor left it.
  bool watched() const { return check_ || stats_ || all_; }
  // Whether --fetch all is given.
  bool all() const { return all_; }
  // The keys of the values to print: `outputs` and `fetched`, which are names of blobs. With --fetch
  // all: a key for each value that a blob has. The key of the last value is the name of the blob.
  std::vector<std::string> Outputs(std::vector<std::string> outputs,
                                   const std::vector<std::string>& fetched) const;

  // Watches `net`, which was created in `ws`. `fed` are the blobs that were fed. REQUIRES:
  // `net` outlives this object or the next call of StopWatching.
  void Watch(NetBase* net, const std::set<std::string>& fed, Workspace* ws);
  void StopWatching() { watch_.reset(); }
  // Call before each run. THROWS if --check-finite is given and an input has a NaN or an infinity;
  // during the run, an operator that writes one throws.
  void BeginRun();
  // The time since BeginRun that was spent on looking at values.
  float milliseconds() const { return milliseconds_; }

  // With --fetch all, after a run: the value that was kept for `key`, or null if the blob itself
  // still has it.
  const Blob* Find(const std::string& key) const;
  // `x`, or `x after operator 3` if several operators write the blob.
  std::string TitleOf(const std::string& key) const;
  // Adds the blob's name and its operator to an entry of "outputs".
  void Describe(const std::string& key, Json* json) const;

  // With --stats: prints the statistics of the last run, or adds them to `json`.
  void PrintStats() const;
  void WriteStats(Json* json) const;

 private:
  struct Row {
    const BlobValue* value;
    std::string type;  // "float [2, 3]"
    std::optional<TensorStats> stats;
  };

  const BlobValue* FindValue(const std::string& key) const;  // null without --fetch all
  void Look(const BlobValue& value, const Blob& blob);
  void Check(const BlobValue& value, const TensorStats& stats) const;
  std::string WriterOf(const BlobValue& value) const;

  const bool check_, stats_, all_;
  const NetDef net_;               // empty if nothing is watched
  std::vector<BlobValue> values_;  // in the order in which they appear
  // Indices of values_, by key, and by position and blob.
  std::map<std::string, size_t> by_key_;
  std::map<std::pair<int, std::string>, size_t> by_writer_;
  std::set<std::string> fed_;
  Workspace* ws_ = nullptr;
  std::unique_ptr<BlobWatch> watch_;
  std::map<std::string, Blob> kept_;  // by key
  std::vector<Row> rows_;
  float milliseconds_ = 0;
};

}  // namespace caffe2rt
