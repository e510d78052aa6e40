#include "caffe2_core/runtime/carried_state.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/model/given_values.h"
#include "caffe2_core/runtime/running_net.h"
#include "caffe2_core/runtime/shared_operator_def.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/shape_only.h"

namespace caffe2rt::test::carried_state_test {
namespace {

class CountedTurn final : public Turn {
 public:
  void GiveBack() override { ++given_back; }
  void TakeAgain() override { ++taken; }
  int given_back = 0, taken = 0;
};

// Whether the effects of all scopes are seen on the calling thread.
struct Seen {
  bool transient_writes = TransientWrites::active();
  bool overwritten_memory = OverwrittenMemory::active();
  bool files_are_off = FileAccessScope::Current().is_off();
  bool stopped = IsStopped();
  bool running_net = RunsNet();
  bool turn = t_thread_state.turn != nullptr;
  bool shape_only = IsShapeOnly();
  int nested_records = t_thread_state.nested_records;
  int nested_step_nets = t_thread_state.nested_step_nets;
  friend bool operator==(const Seen&, const Seen&) = default;

 private:
  static bool IsStopped() {
    try {
      ThrowIfStopped();
      return false;
    } catch (const RunStopped&) {
      return true;
    }
  }
  static bool RunsNet() { return t_thread_state.running_net != nullptr; }
  static bool IsShapeOnly() {
    try {
      ShapeOnlyScope::BeforeAllocation(100, false);
      return false;
    } catch (const NoElements&) {
      return true;
    }
  }
};

TEST(CarriedStateTest, GoesWithTheWorkToAnotherThread) {
  const Seen nothing;
  const auto def = std::make_shared<const OperatorDef>();
  const FileAccess off = FileAccess::Off();
  const std::string name = "n";
  const std::vector<OperatorBase*> operators;
  const size_t position = 0;

  const TransientWrites transient_writes;
  const OverwrittenMemory overwritten_memory;
  const FileAccessScope file_access(off);
  const StopScope stop([] { return true; });
  const RunningNet running(name, operators, position);
  CountedTurn turn;
  const ShapeOnlyScope shape_only(10);
  const SharedOperatorDef shared(def);
  const GivenValues given(*def, Tensor({2}, CPU));
  t_thread_state.nested_records = 3;
  t_thread_state.nested_step_nets = 4;

  const Seen here;
  const CarriedState carried;
  std::thread worker([&] {
    EXPECT_EQ(Seen(), nothing);
    EXPECT_NE(SharedOperatorDef::ShareOrCopy(*def), def);
    EXPECT_FALSE(GivenValues::Take(*def).IsShaped());
    {
      const CarriedState::Scope scope(carried);
      EXPECT_EQ(Seen(), here);
      EXPECT_EQ(SharedOperatorDef::ShareOrCopy(*def), def);
      EXPECT_TRUE(GivenValues::Take(*def).IsShaped());
      const WaitingThread waiting;
      EXPECT_EQ(turn.given_back, 1);
    }
    EXPECT_EQ(turn.taken, 1);
    EXPECT_EQ(Seen(), nothing);
  });
  worker.join();
  t_thread_state.nested_records = t_thread_state.nested_step_nets = 0;
  EXPECT_TRUE(here.transient_writes && here.overwritten_memory && here.files_are_off &&
              here.stopped && here.running_net && here.turn && here.shape_only);
  EXPECT_EQ(here.nested_records, 3);
}

}  // namespace
}  // namespace caffe2rt::test::carried_state_test
