#pragma once

// Streams: a queue of operations each, executed by a worker thread, and waits between streams.

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

// The work of an operation. `run` is called on a worker, hidden from ThreadSanitizer, without any
// lock, and more than once for a graph. If it returns an error, the error sticks to the device.
struct Work {
  const char* name = "";
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::function<cudaError_t()> run = {};
  // Devices whose memory is accessible while it runs.
  DeviceSet devices = 0;
  // A kernel: instead, its own device and the peers that the device has enabled are accessible.
  bool kernel = false;
};

// One operation in a stream. Guarded by the world's mutex, except `work.run` and the tokens, which
// belong to the worker while it runs the operation.
struct Op {
  Work work;
  OpP wait_for;  // instead of work: the stream waits until that operation is done
  bool done = false;
  std::chrono::steady_clock::time_point finished;    // as events measure it
  std::shared_ptr<std::condition_variable> changed;  // notified when done
  char start = 0;                                    // tokens of happens_before.h
  char finish = 0;
};

// A queue and its worker. The worker starts with the first operation and ends some time after
// Close. Guarded by the world's mutex.
// Invariants: `last` is the operation enqueued last, done or not; operations complete in the order
// of the queue; nothing is enqueued on a capturing stream.
struct Stream {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  bool legacy = false;
  bool internal = false;  // a lane of a graph: exempt from the order of the legacy stream

  std::deque<OpP> queue;
  OpP last;
  bool paused = false;
  bool closing = false;    // the worker ends when the queue is empty
  bool abandoned = false;  // the worker ends now; queued operations count as done
  bool started = false;
  bool in_host_function = false;
  std::condition_variable arrived;
  std::shared_ptr<std::condition_variable> changed = std::make_shared<std::condition_variable>();

  // Operations of other streams that this one waits for already: the legacy stream's last one, or,
  // for the legacy stream, the last one of each blocking stream.
  std::unordered_map<const Stream*, OpP> waited;

  std::shared_ptr<Capture> capture;
  std::vector<size_t> capture_tail;  // nodes that the next captured operation depends on

  bool blocking() const { return !internal && (flags & cudaStreamNonBlocking) == 0; }
};

// The functions below REQUIRE the world's mutex unless stated otherwise.

StreamP MakeStream(int device, unsigned flags, int priority);

// Append to the queue directly: no capture, no order relative to the legacy stream.
OpP Push(const StreamP& stream, Work work);
void PushWait(const StreamP& stream, const OpP& op);

// Appends an operation in the order that CUDA requires, or captures it. Unless `op` is null, `*op`
// is set to the operation, or to null if it was captured.
cudaError_t Submit(const StreamP& stream, Work work, OpP* op = nullptr);
// Makes the stream wait for the legacy stream, or the legacy stream for all blocking streams.
void OrderWithLegacy(const StreamP& stream);

// Lets the worker end when its work is done.
void Close(const StreamP& stream);

// Blocks the calling thread until `op`, which may be null, is done. REQUIRES: the mutex is not
// held.
void HostWait(const OpP& op);

// The stream of a handle, or null if the handle is not live. Default streams are created on demand,
// for the current device of the calling thread.
StreamP Resolve(cudaStream_t handle);

// The last operations of all streams of a device, or of all devices.
std::vector<OpP> LastOps(int device);
std::vector<OpP> AllLastOps();

// The number of running workers. REQUIRES: the mutex is not held.
int RunningWorkers();
// Closes all streams and waits for their workers. The streams finish their work first, or with
// `abandon` drop it; then the wait is limited to two seconds. REQUIRES: the mutex is not held.
void Quiesce(bool abandon);

}  // namespace fakecuda
