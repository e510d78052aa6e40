#pragma once
// The versions of the blobs of a list of operators: each write of a blob creates a new one.
//
//   operator             inputs         outputs
//   0: FC    x w b -> y  x:0 w:1 b:2    y:3
//   1: Relu  y -> y      y:3            y:4
//   2: Copy  y -> z      y:4            z:5
//
// Versions of all blobs are numbered together, in the order of their first use. Only inputs count
// as reads, and only outputs as writes, as in Caffe2's backward pass.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class BlobVersions {
 public:
  using Version = size_t;
  using Names = std::unordered_map<std::string_view, Version>;

  // REQUIRES: `ops` outlives this object and does not change.
  explicit BlobVersions(const google::protobuf::RepeatedPtrField<OperatorDef>& ops);

  // The number of versions.
  size_t size() const { return versions_.size(); }

  // The versions that operator `op` reads and writes, by name. If an operator lists an output
  // twice, the last one counts.
  Names inputs(size_t op) const {
    return ByName(ops_.Get(static_cast<int>(op)).input(), inputs_[op]);
  }
  Names outputs(size_t op) const {
    return ByName(ops_.Get(static_cast<int>(op)).output(), outputs_[op]);
  }
  Version input(size_t op, size_t i) const { return inputs_[op][i]; }

  // The operator that writes the version, or nothing if its value comes from outside.
  std::optional<size_t> writer(Version version) const { return versions_[version].writer; }
  // The operator that writes the next version of the same blob, or nothing if this is the last.
  std::optional<size_t> overwriter(Version version) const { return versions_[version].overwriter; }
  // Whether the version has more than one use, of which operator `op` is the first. Each input is
  // one use, also if an operator lists a blob twice.
  bool IsFirstOfSeveralUses(Version version, size_t op) const {
    return versions_[version].uses > 1 && versions_[version].first_user == op;
  }
  bool HasSeveralUses(Version version) const { return versions_[version].uses > 1; }
  // Whether any operator reads any version of the blob.
  bool IsRead(const std::string& blob) const;

  // Adds a use of the blob's last version after all operators, and returns that version. A blob
  // that no operator uses gets its first version.
  Version AddFinalUse(const std::string& blob);

 private:
  struct Uses {
    std::optional<size_t> writer, overwriter;
    size_t uses = 0;
    size_t first_user = 0;
  };
  using NameList = google::protobuf::RepeatedPtrField<std::string>;

  static Names ByName(const NameList& names, const std::vector<Version>& versions);
  Version Add();
  void AddUse(Version version, size_t user);

  const google::protobuf::RepeatedPtrField<OperatorDef>& ops_;
  std::vector<Uses> versions_;
  struct Current {
    Version version;
    bool read = false;
  };
  std::unordered_map<std::string, Current> current_;    // the last version so far
  std::vector<std::vector<Version>> inputs_, outputs_;  // by operator
};

}  // namespace caffe2rt
