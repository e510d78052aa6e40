#pragma once
// LoopGate: lets Gloo's loop thread, which reads and writes the connections of a device, wait for another
// thread.
//
// A thread that starts a transfer holds the lock of the connection, and writes data for a millisecond or so.
// The data that arrive meanwhile wake the loop thread, which only tries the lock, and again and again: epoll
// reports the same data each time. Where a rank has one core, the loop thread takes it from the thread that
// it waits for, until the end of its time slice: 3 to 4 ms for each transfer. While the gate is closed, its
// descriptor is readable, so that the loop thread calls it, too, and waits there.

#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/loop.h>

#include <chrono>
#include <memory>
#include <optional>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "operators/distributed/connections.h"

namespace caffe2rt {

class LoopGate final : public ::gloo::transport::tcp::Handler {
 public:
  explicit LoopGate(std::shared_ptr<::gloo::transport::tcp::Device> device);
  ~LoopGate() override;
  LoopGate(const LoopGate&) = delete;
  LoopGate& operator=(const LoopGate&) = delete;

  enum class Mode {
    // The loop thread does not disturb this one, for a millisecond at a time: a thread that closes a connection
    // waits for the next turn of the loop.
    kClosed,
    // The loop thread is at rest: it handles no event. This thread must close no connection.
    kAtRest,
  };

  // Keeps the gate closed while it exists.
  class Hold {
   public:
    explicit Hold(LoopGate* gate, Mode mode = Mode::kClosed) : gate_(*gate), turn_(gate->turn_) {
      gate_.Close(mode);
    }
    ~Hold() { gate_.Release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    LoopGate& gate_;
    const MutexLock turn_;
  };

  // On the loop thread.
  void handleEvents(int events) override;

 private:
  void Close(Mode mode);
  void Release();

  const std::shared_ptr<::gloo::transport::tcp::Device> device_;
  const UniqueFd descriptor_;  // readable while the gate is closed
  Mutex turn_;                 // of the threads that close it; before mutex_
  Mutex mutex_;
  ConditionVariable changed_;
  std::optional<Mode> mode_ ABSL_GUARDED_BY(mutex_);  // while it is closed
  bool is_waiting_ ABSL_GUARDED_BY(mutex_) = false;   // the loop thread
};

}  // namespace caffe2rt
