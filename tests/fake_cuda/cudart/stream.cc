#include "cudart/stream.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "cudart/graph.h"
#include "cudart/world.h"

namespace fakecuda {
namespace {

// How many last operations of destroyed streams are kept for the order of the legacy stream.
constexpr size_t kRemembered = 1024;

// The worker of one stream.
class Worker {
 public:
  explicit Worker(StreamP stream) : stream_(std::move(stream)) {}

  void Run() {
    Hidden hidden;
    World& world = TheWorld();
    std::unique_lock<std::mutex> lock(world.mutex);
    for (;;) {
      stream_->arrived.wait(lock, [&] {
        return stream_->abandoned || (!stream_->paused && !stream_->queue.empty()) ||
               (stream_->closing && stream_->queue.empty());
      });
      if (stream_->abandoned || stream_->queue.empty()) break;
      const OpP op = stream_->queue.front();
      stream_->queue.pop_front();
      if (op->wait_for) {
        const OpP other = std::exchange(op->wait_for, nullptr);
        other->changed->wait(lock, [&] { return other->done || stream_->abandoned; });
        Acquire(&other->finish);
        Release(&op->finish);
      } else {
        Execute(op, lock);
      }
      Finish(op);
    }
    std::deque<OpP> dropped;
    dropped.swap(stream_->queue);
    for (const OpP& op : dropped) Finish(op);
    lock.unlock();
    dropped.clear();  // releases arguments of user code
    lock.lock();
    Device& device = *world.devices[static_cast<size_t>(stream_->device)];
    Release(&device.ended);
    std::erase(device.closed, stream_);
    --world.workers;
    world.worker_ended.notify_all();
  }

 private:
  void Finish(const OpP& op) {
    op->finished = std::chrono::steady_clock::now() + TheWorld().spent;
    op->done = true;
    op->changed->notify_all();
  }

  // The error with which the operation fails instead of running, or cudaSuccess.
  cudaError_t Verdict(const Device& device) {
    World& world = TheWorld();
    if (device.sticky != cudaSuccess) return device.sticky;
    if (world.async_after < 0 || world.async_after-- > 0) return cudaSuccess;
    return world.async_error;
  }

  void Execute(const OpP& op, std::unique_lock<std::mutex>& lock) {
    World& world = TheWorld();
    Device& device = *world.devices[static_cast<size_t>(stream_->device)];
    // Operations without work, such as event records, cannot fail.
    cudaError_t error = op->work.run ? Verdict(device) : cudaSuccess;
    const DeviceSet wanted = op->work.kernel ? Reach(stream_->device) : op->work.devices;
    stream_->in_host_function = op->work.type == cudaGraphNodeTypeHost;
    lock.unlock();
    Acquire(&op->start);
    if (op->work.run && error == cudaSuccess) {
      if (wanted != open_) {
        CloseDevices(std::exchange(open_, wanted));
        OpenDevices(open_);
      }
      error = op->work.run();
    }
    op->work.run = nullptr;  // release arguments of user code before the operation is seen as done
    Release(&op->finish);
    lock.lock();
    stream_->in_host_function = false;
    if (error != cudaSuccess && device.sticky == cudaSuccess) device.sticky = error;
    // Memory stays open between two operations that need the same devices; changing its protection
    // costs microseconds.
    const bool keep =
        !stream_->paused && !stream_->queue.empty() && !stream_->queue.front()->wait_for &&
        stream_->queue.front()->work.run &&
        (stream_->queue.front()->work.kernel ? Reach(stream_->device)
                                             : stream_->queue.front()->work.devices) == open_;
    if (!keep) CloseDevices(std::exchange(open_, 0));
  }

  const StreamP stream_;
  DeviceSet open_ = 0;
};

void StartWorker(const StreamP& stream) {
  stream->started = true;
  ++TheWorld().workers;
  // Detached, because a join would add an edge that CUDA does not guarantee. Quiesce waits until
  // the number of workers is 0.
  std::thread([stream] { Worker(stream).Run(); }).detach();
}

OpP Append(const StreamP& stream, OpP op) {
  op->changed = stream->changed;
  Release(&op->start);
  stream->queue.push_back(op);
  stream->last = op;
  if (!stream->started) StartWorker(stream);
  stream->arrived.notify_all();
  return op;
}

StreamP LegacyStream(int device_id) {
  Device& device = *TheWorld().devices[static_cast<size_t>(device_id)];
  if (!device.legacy) {
    device.legacy = MakeStream(device_id, cudaStreamDefault, 0);
    device.legacy->legacy = true;
    device.streams.pop_back();  // the legacy stream is kept in its own member
  }
  return device.legacy;
}

// Makes `stream` wait for the last operation of `other`, unless it does already.
void WaitForLast(const StreamP& stream, const StreamP& other) {
  if (!other->last) return;
  OpP& waited = stream->waited[other.get()];
  if (waited == other->last) return;
  waited = other->last;
  PushWait(stream, other->last);
}

}  // namespace

StreamP MakeStream(int device, unsigned flags, int priority) {
  World& world = TheWorld();
  auto stream = std::make_shared<Stream>();
  stream->device = device;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = world.next_id++;
  world.devices[static_cast<size_t>(device)]->streams.push_back(stream);
  return stream;
}

OpP Push(const StreamP& stream, Work work) {
  auto op = std::make_shared<Op>();
  op->work = std::move(work);
  return Append(stream, std::move(op));
}

void PushWait(const StreamP& stream, const OpP& other) {
  auto op = std::make_shared<Op>();
  op->wait_for = other;
  Append(stream, std::move(op));
}

void OrderWithLegacy(const StreamP& stream) {
  Device& device = *TheWorld().devices[static_cast<size_t>(stream->device)];
  if (stream->legacy) {
    for (const OpP& op : device.ended_blocking) PushWait(stream, op);
    device.ended_blocking.clear();
    for (const StreamP& other : device.streams) {
      if (other->blocking()) WaitForLast(stream, other);
    }
  } else if (stream->blocking() && device.legacy) {
    WaitForLast(stream, device.legacy);
  }
}

cudaError_t Submit(const StreamP& stream, Work work, OpP* op) {
  if (op != nullptr) *op = nullptr;
  if (stream->capture) return CaptureWork(*stream, std::move(work));
  if (stream->legacy) {
    const cudaError_t error = ForbidImplicitDependency(stream->device);
    if (error != cudaSuccess) return error;
  }
  OrderWithLegacy(stream);
  OpP pushed = Push(stream, std::move(work));
  if (op != nullptr) *op = std::move(pushed);
  return cudaSuccess;
}

void Close(const StreamP& stream) {
  Device& device = *TheWorld().devices[static_cast<size_t>(stream->device)];
  stream->closing = true;
  stream->arrived.notify_all();
  if (stream->blocking() && stream->last) {
    auto& ended = device.ended_blocking;
    if (ended.size() >= kRemembered) std::erase_if(ended, [](const OpP& op) { return op->done; });
    ended.push_back(stream->last);
  }
  if (device.legacy) device.legacy->waited.erase(stream.get());
  if (stream->started) device.closed.push_back(stream);
  std::erase(device.streams, stream);
}

void HostWait(const OpP& op) {
  if (!op) return;
  std::unique_lock<std::mutex> lock(TheWorld().mutex);
  op->changed->wait(lock, [&] { return op->done; });
  lock.unlock();
  Acquire(&op->finish);
}

StreamP Resolve(cudaStream_t handle) {
  World& world = TheWorld();
  ThreadState& me = Me();
  if (handle == nullptr || handle == cudaStreamLegacy) return LegacyStream(me.device);
  if (handle == cudaStreamPerThread) {
    StreamP& own = me.own_streams[me.device];
    if (!own) own = MakeStream(me.device, cudaStreamDefault, 0);
    return own;
  }
  const StreamP* found = world.streams.Find(handle);
  return found == nullptr ? nullptr : *found;
}

std::vector<OpP> LastOps(int device_id) {
  std::vector<OpP> ops;
  const Device& device = *TheWorld().devices[static_cast<size_t>(device_id)];
  for (const StreamP& stream : device.streams) {
    if (stream->last) ops.push_back(stream->last);
  }
  for (const StreamP& stream : device.closed) {
    if (stream->last) ops.push_back(stream->last);
  }
  if (device.legacy && device.legacy->last) ops.push_back(device.legacy->last);
  return ops;
}

std::vector<OpP> AllLastOps() {
  std::vector<OpP> all;
  for (size_t i = 0; i < TheWorld().devices.size(); ++i) {
    const std::vector<OpP> ops = LastOps(static_cast<int>(i));
    all.insert(all.end(), ops.begin(), ops.end());
  }
  return all;
}

int RunningWorkers() {
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  return TheWorld().workers;
}

void Quiesce(bool abandon) {
  World& world = TheWorld();
  std::unique_lock<std::mutex> lock(world.mutex);
  for (const auto& device : world.devices) {
    std::vector<StreamP> streams = device->streams;
    if (device->legacy) streams.push_back(device->legacy);
    streams.insert(streams.end(), device->closed.begin(), device->closed.end());
    for (const StreamP& stream : streams) {
      stream->paused = false;
      stream->closing = true;
      stream->abandoned = abandon;
      stream->arrived.notify_all();
      stream->changed->notify_all();
    }
  }
  if (!abandon) {
    world.worker_ended.wait(lock, [&] { return world.workers == 0; });
    return;
  }
  // The process ends. A worker in a callback that never returns must not keep it alive.
  for (int i = 0; i < 2000 && world.workers > 0; ++i) {
    lock.unlock();
    usleep(1000);
    lock.lock();
  }
}

}  // namespace fakecuda
