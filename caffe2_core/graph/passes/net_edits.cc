#include "caffe2_core/graph/passes/net_edits.h"

namespace caffe2rt {

void NetEdits::Apply() {
  auto* const ops = net_.mutable_op();
  int left = 0;
  for (int i = 0; i < ops->size(); ++i) {
    const auto position = static_cast<size_t>(i);
    if (removed_[position]) continue;
    if (const auto changed = changed_.find(position); changed != changed_.end()) {
      ops->Mutable(i)->Swap(&changed->second);
    }
    if (i != left) ops->SwapElements(i, left);
    ++left;
  }
  ops->DeleteSubrange(left, ops->size() - left);
}

}  // namespace caffe2rt
