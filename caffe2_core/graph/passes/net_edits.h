#pragma once
// Collects the changes of a pass to the operators of a net, and applies them at the end. The net
// stays as it is until then, as analyses of it require.

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Positions are those of the original net.
class NetEdits {
 public:
  // REQUIRES: `net` outlives this object.
  explicit NetEdits(NetDef* net) : net_(*net), removed_(static_cast<size_t>(net->op_size())) {}

  // The operator, with the changes so far.
  const OperatorDef& op(size_t position) const {
    const auto changed = changed_.find(position);
    return changed != changed_.end() ? changed->second : net_.op(static_cast<int>(position));
  }
  // The operator, to be changed.
  OperatorDef* Change(size_t position) {
    return &changed_.try_emplace(position, net_.op(static_cast<int>(position))).first->second;
  }
  // Puts `def` in the place of the operator, also if that was removed.
  void Put(size_t position, OperatorDef def) {
    removed_[position] = false;
    changed_.insert_or_assign(position, std::move(def));
  }
  void Remove(size_t position) { removed_[position] = true; }

  bool is_removed(size_t position) const { return removed_[position]; }
  // Whether the operator was changed or removed.
  bool is_changed(size_t position) const {
    return removed_[position] || changed_.contains(position);
  }

  // Changes the net. Call it once, at the end.
  void Apply();

 private:
  NetDef& net_;
  std::vector<bool> removed_;
  std::unordered_map<size_t, OperatorDef> changed_;
};

}  // namespace caffe2rt
