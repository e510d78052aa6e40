// The engine GLOO: collectives of the library Gloo (libcaffe2_gloo.so), over its transport tcp.
//
// The ranks of a world have one Gloo context, a connection between each two of them, which its clones
// share: the tag of an operation keeps the data of clones apart. Gloo never sees operations that differ
// between ranks, which would end the process in its input thread, because the ranks agree before.
//
// Gloo's timeouts are longer than those of the world, whose monitor ends an operation by closing the
// connections.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>
#include <gloo/context.h>
#include <gloo/reduce.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "operators/distributed/collective_engine.h"
#include "operators/distributed/gloo/connected_pair.h"
#include "operators/distributed/gloo/data_connections.h"
#include "operators/distributed/gloo/loop_gate.h"

namespace caffe2rt {
namespace {

namespace tcp = ::gloo::transport::tcp;
using std::chrono::milliseconds;

// The tags of Gloo's own operations begin with smaller numbers.
constexpr uint64_t kMessageSlot = uint64_t{0x7f} << 56;

// Gloo writes to connections that the other side may have closed, which sends SIGPIPE to the thread. Blocks it
// in the calling thread, and in the threads that it starts.
class WithoutPipeSignals {
 public:
  WithoutPipeSignals() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignals() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &now) > 0) continue;
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignals(const WithoutPipeSignals&) = delete;
  WithoutPipeSignals& operator=(const WithoutPipeSignals&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_;
};

using ::gloo::transport::UnboundBuffer;

class AbortableContext;

// A buffer whose waits end when the context is aborted. Gloo itself leaves those waiting whose data were on the
// way when their connection closed.
class AbortableBuffer final : public UnboundBuffer {
 public:
  AbortableBuffer(AbortableContext* context, std::unique_ptr<UnboundBuffer> buffer);
  ~AbortableBuffer() override;
  bool waitRecv(int* source, milliseconds timeout) override;
  bool waitSend(int* destination, milliseconds timeout) override;
  void abortWaitRecv() override { buffer_->abortWaitRecv(); }
  void abortWaitSend() override { buffer_->abortWaitSend(); }
  void send(int to, uint64_t slot, size_t offset, size_t bytes) override;
  void recv(int from, uint64_t slot, size_t offset, size_t bytes) override;
  void recv(std::vector<int> from, uint64_t slot, size_t offset, size_t bytes) override;

 private:
  AbortableContext& context_;
  const std::unique_ptr<UnboundBuffer> buffer_;
};

// A transport context that makes such buffers. It outlives them.
class AbortableContext final : public ::gloo::transport::Context {
 public:
  AbortableContext(std::shared_ptr<tcp::Context> context, std::shared_ptr<tcp::Device> device)
      : Context(context->rank, context->size),
        device_(device),
        context_(std::move(context)),
        gate_(std::move(device)) {}

  LoopGate* gate() { return &gate_; }

  void AddPair(int peer, UniqueFd connection) {
    const MutexLock lock(pairs_mutex_);
    ThrowIfAborted();
    context_->getPair(peer) =
        MakeConnectedPair(context_.get(), device_.get(), &gate_, peer, std::move(connection));
  }
  std::unique_ptr<::gloo::transport::Pair>& getPair(int peer) override {
    return context_->getPair(peer);
  }
  std::unique_ptr<::gloo::transport::Pair>& createPair(int /*peer*/) override {
    CAFFE_THROW("the pairs of a world are made with their connections");
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* data, size_t bytes) override {
    return std::make_unique<AbortableBuffer>(this, context_->createUnboundBuffer(data, bytes));
  }

  // When a wait times out, Gloo gives all connections of the context an exception.
  void Abort() {
    if (aborted_.exchange(true)) return;
    {
      const MutexLock lock(pairs_mutex_);
      char byte = 0;
      const std::unique_ptr<UnboundBuffer> nothing = context_->createUnboundBuffer(&byte, 1);
      try {
        nothing->waitRecv(nullptr, milliseconds(0));
      } catch (const std::exception&) {  // it always times out
      }
    }
    const MutexLock lock(mutex_);
    for (AbortableBuffer* const buffer : buffers_) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }
  void ThrowIfAborted() const {
    if (aborted_) throw ::gloo::IoException("the world failed");
  }

  void Add(AbortableBuffer* buffer) {
    const MutexLock lock(mutex_);
    buffers_.insert(buffer);
  }
  void Remove(AbortableBuffer* buffer) {
    const MutexLock lock(mutex_);
    buffers_.erase(buffer);
  }

 private:
  const std::shared_ptr<tcp::Device> device_;
  const std::shared_ptr<tcp::Context> context_;
  LoopGate gate_;
  std::atomic<bool> aborted_{false};
  Mutex pairs_mutex_;  // held while a pair is added
  Mutex mutex_;
  std::set<AbortableBuffer*> buffers_ ABSL_GUARDED_BY(mutex_);
};

AbortableBuffer::AbortableBuffer(AbortableContext* context, std::unique_ptr<UnboundBuffer> buffer)
    : UnboundBuffer(buffer->ptr, buffer->size), context_(*context), buffer_(std::move(buffer)) {
  context_.Add(this);
}
AbortableBuffer::~AbortableBuffer() { context_.Remove(this); }

void AbortableBuffer::send(int to, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Hold hold(context_.gate());
  buffer_->send(to, slot, offset, bytes);
}
void AbortableBuffer::recv(int from, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Hold hold(context_.gate());
  buffer_->recv(from, slot, offset, bytes);
}
void AbortableBuffer::recv(std::vector<int> from, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Hold hold(context_.gate());
  buffer_->recv(std::move(from), slot, offset, bytes);
}

bool AbortableBuffer::waitRecv(int* source, milliseconds timeout) {
  context_.ThrowIfAborted();
  const bool done = buffer_->waitRecv(source, timeout);
  context_.ThrowIfAborted();
  return done;
}
bool AbortableBuffer::waitSend(int* destination, milliseconds timeout) {
  context_.ThrowIfAborted();
  const bool done = buffer_->waitSend(destination, timeout);
  context_.ThrowIfAborted();
  return done;
}

class GlooContext final : public ::gloo::Context {
 public:
  GlooContext(const TransportOptions& options, TransportBootstrap& bootstrap)
      : Context(options.rank, options.size) {
    setTimeout(options.timeout * 3);
    // Gloo never connects, so that its device needs no address that others reach.
    const tcp::attr attributes("127.0.0.1");
    device_ = tcp::CreateDevice(attributes);
    const auto device = std::dynamic_pointer_cast<tcp::Device>(device_);
    CAFFE_ENFORCE(device != nullptr, "Gloo made no device of its transport tcp");
    const auto plain = std::dynamic_pointer_cast<tcp::Context>(device_->createContext(rank, size));
    CAFFE_ENFORCE(plain != nullptr, "Gloo made no context of its transport tcp");
    plain->setTimeout(getTimeout());
    abortable_ = std::make_shared<AbortableContext>(plain, device);
    transportContext_ = abortable_;
    // The constructor may throw before the function is replaced.
    bootstrap.OnLoss([abortable = abortable_] {
      const WithoutPipeSignals no_signals;
      abortable->Abort();
    });
    std::vector<UniqueFd> connections =
        ConnectData(options, bootstrap, [this] { abortable_->ThrowIfAborted(); });
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank)
        abortable_->AddPair(peer, std::move(connections[static_cast<size_t>(peer)]));
    }
    abortable_->ThrowIfAborted();
  }

  void Abort() {
    const WithoutPipeSignals no_signals;
    abortable_->Abort();
  }

 private:
  std::shared_ptr<AbortableContext> abortable_;  // the same as transportContext_
};

class GlooTransport final : public CollectiveTransport {
 public:
  GlooTransport(const TransportOptions& options, std::shared_ptr<GlooContext> context)
      : context_(std::move(context)), timeout_(options.timeout * 3) {}

  // The ring: each rank adds its part of the elements of all ranks, in the order of the ring, and the
  // sums are then copied around. So the bytes are the same on all ranks and in each run.
  void Allreduce(void* data, size_t count, const ElementSum& sum, uint32_t tag) override {
    const WithoutPipeSignals no_signals;
    ::gloo::AllreduceOptions options(context_);
    options.setAlgorithm(::gloo::AllreduceOptions::Algorithm::RING);
    SetOutput(&options, data, count, sum.bytes);
    options.setReduceFunction(sum.add);
    Finish(&options, tag);
    ::gloo::allreduce(options);
  }

  void Reduce(void* data, size_t count, const ElementSum& sum, int root, uint32_t tag) override {
    const WithoutPipeSignals no_signals;
    ::gloo::ReduceOptions options(context_);
    SetOutput(&options, data, count, sum.bytes);
    options.setReduceFunction(sum.add);
    options.setRoot(root);
    Finish(&options, tag);
    ::gloo::reduce(options);
  }

  void Broadcast(void* data, size_t bytes, int root, uint32_t tag) override {
    const WithoutPipeSignals no_signals;
    ::gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(data), bytes);
    options.setRoot(root);
    Finish(&options, tag);
    ::gloo::broadcast(options);
  }

  void Allgather(const void* in, void* out, size_t bytes, uint32_t tag) override {
    const WithoutPipeSignals no_signals;
    ::gloo::AllgatherOptions options(context_);
    options.setInput(static_cast<char*>(const_cast<void*>(in)), bytes);
    options.setOutput(static_cast<char*>(out), bytes * static_cast<size_t>(context_->size));
    Finish(&options, tag);
    ::gloo::allgather(options);
  }

  void Send(const void* data, size_t bytes, int peer, uint32_t number) override {
    const WithoutPipeSignals no_signals;
    const auto buffer = context_->createUnboundBuffer(const_cast<void*>(data), bytes);
    buffer->send(peer, SlotOf(context_->rank, number), 0, bytes);
    buffer->waitSend(timeout_);
  }

  void Receive(void* data, size_t bytes, int peer, uint32_t number) override {
    const WithoutPipeSignals no_signals;
    const auto buffer = context_->createUnboundBuffer(data, bytes);
    buffer->recv(peer, SlotOf(peer, number), 0, bytes);
    buffer->waitRecv(timeout_);
  }

  void Abort() override { context_->Abort(); }

 private:
  static uint64_t SlotOf(int source, uint32_t number) {
    return kMessageSlot | (static_cast<uint64_t>(source) << 32) | number;
  }

  // Gloo only uses the size of the type.
  template <class Options>
  static void SetOutput(Options* options, void* data, size_t count, size_t element_bytes) {
    switch (element_bytes) {
      case 1:
        return options->setOutput(static_cast<uint8_t*>(data), count);
      case 2:
        return options->setOutput(static_cast<uint16_t*>(data), count);
      case 4:
        return options->setOutput(static_cast<uint32_t*>(data), count);
      default:
        return options->setOutput(static_cast<uint64_t*>(data), count);
    }
  }

  template <class Options>
  void Finish(Options* options, uint32_t tag) const {
    options->setTag(tag);
    options->setTimeout(timeout_);
  }

  const std::shared_ptr<GlooContext> context_;  // Gloo's options hold it, too
  const milliseconds timeout_;
};

std::string DescribeGloo() { return "Gloo, transport tcp"; }

bool HasTransport(const std::string& transport) { return transport == "tcp"; }

std::unique_ptr<CollectiveTransport> ConnectGloo(const TransportOptions& options,
                                                 TransportBootstrap& bootstrap) {
  const WithoutPipeSignals no_signals;
  std::shared_ptr<GlooContext> context;
  try {
    context = std::make_shared<GlooContext>(options, bootstrap);
  } catch (...) {
    bootstrap.OnLoss({});
    throw;
  }
  return std::make_unique<GlooTransport>(options, std::move(context));
}

constexpr CollectiveEngine kGlooEngine{
    .describe = &DescribeGloo, .has_transport = &HasTransport, .connect = &ConnectGloo};

}  // namespace

#pragma GCC visibility push(default)
extern "C" const CollectiveEngine* caffe2rt_gloo_engine() { return &kGlooEngine; }
#pragma GCC visibility pop

}  // namespace caffe2rt
