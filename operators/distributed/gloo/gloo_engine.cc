// The engine GLOO: collectives of the library Gloo over TCP (libcaffe2_gloo.so).
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
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/loop.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "operators/distributed/collective_engine.h"

namespace caffe2rt {
namespace {

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

// Lets Gloo's loop thread sleep while another thread starts a transfer.
//
// Such a thread holds the lock of the connection, and writes data for a millisecond or so. The data that
// arrive meanwhile wake the loop thread, which only tries the lock, and again and again: epoll reports the
// same data each time. Where a rank has one core, the loop thread takes it from the thread that it waits
// for, until the end of its time slice: 3 to 4 ms for each transfer. While the gate is closed, its
// descriptor is readable, so that the loop thread calls it, too, and waits there.
class LoopGate final : public ::gloo::transport::tcp::Handler {
 public:
  explicit LoopGate(std::shared_ptr<::gloo::transport::tcp::Device> device)
      : device_(std::move(device)), descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CAFFE_ENFORCE(descriptor_ >= 0, "eventfd failed: ", std::strerror(errno));
    device_->registerDescriptor(descriptor_, EPOLLIN, this);
  }
  ~LoopGate() override {
    device_->unregisterDescriptor(descriptor_, this);
    close(descriptor_);
  }
  LoopGate(const LoopGate&) = delete;
  LoopGate& operator=(const LoopGate&) = delete;

  // Closed as long as this exists.
  class Closed {
   public:
    explicit Closed(LoopGate* gate) : gate_(*gate), turn_(gate->turn_) {
      gate_.SetClosed(true);
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(gate_.descriptor_, &one, sizeof(one));
    }
    ~Closed() {
      uint64_t closed;
      [[maybe_unused]] const ssize_t n = read(gate_.descriptor_, &closed, sizeof(closed));
      gate_.SetClosed(false);
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    LoopGate& gate_;
    const MutexLock turn_;
  };

  // On the loop thread. A thread that closes a connection waits for the next turn of the loop, so the wait
  // here must end.
  void handleEvents(int /*events*/) override {
    const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
    const MutexLock lock(mutex_);
    while (closed_ && opened_.WaitUntil(mutex_, deadline)) continue;
  }

 private:
  static constexpr milliseconds kLongestWait{1};

  void SetClosed(bool closed) {
    const MutexLock lock(mutex_);
    closed_ = closed;
    if (!closed) opened_.NotifyAll();
  }

  const std::shared_ptr<::gloo::transport::tcp::Device> device_;
  const int descriptor_;  // readable while the gate is closed
  Mutex turn_;            // of the threads that start transfers; before mutex_
  Mutex mutex_;
  ConditionVariable opened_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

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
  AbortableContext(std::shared_ptr<::gloo::transport::Context> context,
                   std::shared_ptr<::gloo::transport::tcp::Device> device)
      : Context(context->rank, context->size),
        context_(std::move(context)),
        gate_(std::move(device)) {}

  LoopGate* gate() { return &gate_; }

  std::unique_ptr<::gloo::transport::Pair>& getPair(int peer) override {
    return context_->getPair(peer);
  }
  std::unique_ptr<::gloo::transport::Pair>& createPair(int peer) override {
    return context_->createPair(peer);
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* data, size_t bytes) override {
    return std::make_unique<AbortableBuffer>(this, context_->createUnboundBuffer(data, bytes));
  }

  // When a wait times out, Gloo gives all connections of the context an exception.
  void Abort() {
    if (aborted_.exchange(true)) return;
    char byte = 0;
    const std::unique_ptr<UnboundBuffer> nothing = context_->createUnboundBuffer(&byte, 1);
    try {
      nothing->waitRecv(nullptr, milliseconds(0));
    } catch (const std::exception&) {  // it always times out
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
  const std::shared_ptr<::gloo::transport::Context> context_;
  LoopGate gate_;
  std::atomic<bool> aborted_{false};
  Mutex mutex_;
  std::set<AbortableBuffer*> buffers_ ABSL_GUARDED_BY(mutex_);
};

AbortableBuffer::AbortableBuffer(AbortableContext* context, std::unique_ptr<UnboundBuffer> buffer)
    : UnboundBuffer(buffer->ptr, buffer->size), context_(*context), buffer_(std::move(buffer)) {
  context_.Add(this);
}
AbortableBuffer::~AbortableBuffer() { context_.Remove(this); }

void AbortableBuffer::send(int to, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Closed closed(context_.gate());
  buffer_->send(to, slot, offset, bytes);
}
void AbortableBuffer::recv(int from, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Closed closed(context_.gate());
  buffer_->recv(from, slot, offset, bytes);
}
void AbortableBuffer::recv(std::vector<int> from, uint64_t slot, size_t offset, size_t bytes) {
  const LoopGate::Closed closed(context_.gate());
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
    // Gloo waits five times as long for a connection: twice the timeout of the world, whose monitor ends it.
    setTimeout(std::max(options.timeout * 2 / 5, milliseconds(1)));
    ::gloo::transport::tcp::attr attributes(options.address.c_str());
    device_ = ::gloo::transport::tcp::CreateDevice(attributes);
    const auto device = std::dynamic_pointer_cast<::gloo::transport::tcp::Device>(device_);
    CAFFE_ENFORCE(device != nullptr, "Gloo made no device of its transport tcp");
    const std::shared_ptr<::gloo::transport::Context> plain = device_->createContext(rank, size);
    plain->setTimeout(getTimeout());
    abortable_ = std::make_shared<AbortableContext>(plain, device);
    transportContext_ = abortable_;
    std::vector<std::string> addresses(static_cast<size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> address = transportContext_->createPair(peer)->address().bytes();
      addresses[static_cast<size_t>(peer)].assign(address.begin(), address.end());
    }
    const std::vector<std::string> peers = bootstrap.Exchange(addresses);
    // The constructor may throw before the function is replaced.
    bootstrap.OnLoss([abortable = abortable_] {
      const WithoutPipeSignals no_signals;
      abortable->Abort();
    });
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::string& address = peers[static_cast<size_t>(peer)];
      transportContext_->getPair(peer)->connect(std::vector<char>(address.begin(), address.end()));
    }
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

std::unique_ptr<CollectiveTransport> ConnectGloo(const TransportOptions& options,
                                                 TransportBootstrap& bootstrap) {
  CAFFE_ENFORCE(options.transport == "tcp", "transport is \"", options.transport,
                "\", want \"tcp\" for engine GLOO");
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

constexpr CollectiveEngine kGlooEngine{.describe = &DescribeGloo, .connect = &ConnectGloo};

}  // namespace

#pragma GCC visibility push(default)
extern "C" const CollectiveEngine* caffe2rt_gloo_engine() { return &kGlooEngine; }
#pragma GCC visibility pop

}  // namespace caffe2rt
