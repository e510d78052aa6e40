#pragma once
// CarriedState: what a thread carries for its work, for work that it hands to another thread.
//
//   const CarriedState carried;                         // of the thread that runs the net
//   std::thread worker([&] {
//     const CarriedState::Scope scope(carried);
//     op->Run();                                        // as on that thread
//   });
//
// Carried are ThreadState (caffe2_core/base/thread_state.h), TransientWrites and OverwrittenMemory.
// Other thread_local variables of the library are caches, or mean the thread itself; a test lists
// them (tests/style/thread_rules.h).

#include <optional>

#include "caffe2_core/base/overwritten_memory.h"
#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {

class CarriedState {
 public:
  // That of the calling thread. The scopes that are open must outlive the use of this object.
  CarriedState()
      : state_(t_thread_state),
        transient_writes_(TransientWrites::active()),
        overwritten_memory_(OverwrittenMemory::active()) {}

  // While it exists, the calling thread has the state instead of its own. Create it on the stack.
  class Scope {
   public:
    explicit Scope(const CarriedState& carried) : before_(t_thread_state) {
      t_thread_state = carried.state_;
      if (carried.transient_writes_) transient_writes_.emplace();
      if (carried.overwritten_memory_) overwritten_memory_.emplace();
    }
    ~Scope() { t_thread_state = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ThreadState before_;
    std::optional<TransientWrites> transient_writes_;
    std::optional<OverwrittenMemory> overwritten_memory_;
  };

 private:
  ThreadState state_;
  bool transient_writes_;
  bool overwritten_memory_;
};

}  // namespace caffe2rt
