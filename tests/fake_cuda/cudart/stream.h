#pragma once

// Streams as worker threads with a queue of operations, and waits between them.

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace fakecuda {

struct Capture;
struct Op;
struct Stream;
using OpP = std::shared_ptr<Op>;
using StreamP = std::shared_ptr<Stream>;

// A set of devices, bit i for device i.
using DeviceSet = uint64_t;

// What an operation does. `run` is called on a worker, hidden from ThreadSanitizer, without any
// lock; it may be called more than once (graphs). An error it returns sticks to the device.
struct Work {
  const char* name = "";
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<cudaError_t()> run = {};
  // Devices whose memory is open while it runs.
  DeviceSet devices = 0;
  // A kernel: its own device and the peers that it has enabled are open instead.
  bool kernel = false;
};

// One operation in a stream. Guarded by the world's mutex, but for `work.run` and the tokens, which
// belong to the worker while it runs the operation.
struct Op {
  Work work;
  OpP wait_for;  // instead of work: the stream stands until that one is done
  bool done = false;
  std::chrono::steady_clock::time_point finished;
  std::shared_ptr<std::condition_variable> changed;  // told when done
  char start = 0;                                    // tokens of happens_before.h
  char finish = 0;
};

// A queue and the worker that empties it; the worker starts with the first operation and ends some
// time after Close. Guarded by the world's mutex.
// Invariants: `last` is the operation enqueued last, done or not; operations are done in the order
// of the queue; a capturing stream enqueues nothing.
struct Stream {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  bool legacy = false;
  bool internal = false;  // a lane of a graph: no part in the order of the legacy stream

  std::deque<OpP> queue;
  OpP last;
  bool paused = false;
  bool closing = false;    // the worker ends when the queue is empty
  bool abandoned = false;  // the worker ends now; what is queued counts as done
  bool started = false;
  std::condition_variable arrived;
  std::shared_ptr<std::condition_variable> changed = std::make_shared<std::condition_variable>();

  // Operations of other streams that this one has been told to wait for already: the legacy
  // stream's last one, or, for the legacy stream, each blocking stream's.
  std::unordered_map<const Stream*, OpP> waited;

  std::shared_ptr<Capture> capture;
  std::vector<size_t> capture_tail;  // nodes the next captured operation depends on

  bool blocking() const { return !internal && (flags & cudaStreamNonBlocking) == 0; }
};

// The functions below REQUIRE the world's mutex, unless they say otherwise.

StreamP MakeStream(int device, unsigned flags, int priority);

// Appends to the queue as it stands: no capture, no order of the legacy stream.
OpP Push(const StreamP& stream, Work work);
void PushWait(const StreamP& stream, const OpP& op);

// Appends an operation as CUDA orders it, or captures it. `*op` (which may be null) gets the
// operation, or null when it was captured.
cudaError_t Submit(const StreamP& stream, Work work, OpP* op = nullptr);
// Puts the stream in order behind the legacy stream, or the legacy stream behind all blocking ones.
void OrderWithLegacy(const StreamP& stream);

// Lets the worker end when its work is done.
void Close(const StreamP& stream);

// Blocks the calling thread until `op`, which may be null, is done. REQUIRES: the mutex is not
// held.
void HostWait(const OpP& op);

// The stream behind a handle; null for handles that are not alive. The default streams are made on
// demand, for the current device of the calling thread.
StreamP Resolve(cudaStream_t handle);

// The last operations of all streams of a device.
std::vector<OpP> LastOps(int device);

// How many workers run; Quiesce lets all streams end (after their work, or at once) and waits for
// their workers. REQUIRES: the mutex is not held.
int RunningWorkers();
void Quiesce(bool abandon);

}  // namespace fakecuda
