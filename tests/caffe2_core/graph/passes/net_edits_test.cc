#include "caffe2_core/graph/passes/net_edits.h"

#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::net_edits_test {
namespace {

OperatorDef OperatorOf(const std::string& type) {
  OperatorDef op;
  op.set_type(type);
  return op;
}

// The edits, and what is known of each operator without them.
struct Edited {
  explicit Edited(int size) {
    for (int i = 0; i < size; ++i) *net.add_op() = OperatorOf("Op" + std::to_string(i));
    for (const OperatorDef& op : net.op()) types.push_back(op.type());
    changed.resize(types.size());
    removed.resize(types.size());
  }
  void Expect(const NetEdits& edits) const {
    for (size_t i = 0; i < types.size(); ++i) {
      EXPECT_EQ(edits.op(i).type(), types[i]) << i;
      EXPECT_EQ(edits.is_removed(i), removed[i]) << i;
      EXPECT_EQ(edits.is_changed(i), changed[i] || removed[i]) << i;
    }
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!removed[i]) left.push_back(types[i]);
    }
    return left;
  }
  NetDef net;
  std::vector<std::string> types;
  std::vector<bool> changed, removed;
};

TEST(NetEditsTest, AreSeenAtOnceAndChangeTheNetAtTheEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    Edited want(static_cast<int>(random() % 8));
    const std::string before = want.net.DebugString();
    NetEdits edits(&want.net);
    want.Expect(edits);
    for (size_t step = 0; !want.types.empty() && step < random() % 20; ++step) {
      const size_t at = random() % want.types.size();
      const uint32_t kind = random() % 4;
      if (kind == 0) {
        edits.Remove(at);
        want.removed[at] = true;
      } else if (kind == 1) {
        want.types[at] = "Put" + std::to_string(step);
        edits.Put(at, OperatorOf(want.types[at]));
        want.changed[at] = true;
        want.removed[at] = false;
      } else {
        OperatorDef* const op = edits.Change(at);
        EXPECT_EQ(op->type(), want.types[at]);
        want.types[at] += "+";
        op->set_type(want.types[at]);
        want.changed[at] = true;
      }
      want.Expect(edits);
    }
    EXPECT_EQ(want.net.DebugString(), before);
    edits.Apply();
    std::vector<std::string> types;
    for (const OperatorDef& op : want.net.op()) types.push_back(op.type());
    EXPECT_EQ(types, want.Left());
  }
}

}  // namespace
}  // namespace caffe2rt::net_edits_test
