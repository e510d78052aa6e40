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
#include <gloo/context.h>
#include <gloo/reduce.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "operators/distributed/collective_engine.h"

namespace caffe2rt {
namespace {

using std::chrono::milliseconds;

// The tags of Gloo's own operations begin with smaller numbers.
constexpr uint64_t kMessageSlot = uint64_t{0x7f} << 56;

class GlooContext final : public ::gloo::Context {
 public:
  GlooContext(const TransportOptions& options, TransportBootstrap& bootstrap)
      : Context(options.rank, options.size) {
    // Gloo waits five times as long for a connection.
    setTimeout(std::max(options.timeout / 5, milliseconds(1)));
    ::gloo::transport::tcp::attr attributes(options.address.c_str());
    device_ = ::gloo::transport::tcp::CreateDevice(attributes);
    transportContext_ = device_->createContext(rank, size);
    transportContext_->setTimeout(getTimeout());
    std::vector<std::string> addresses(static_cast<size_t>(size));
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::vector<char> address = transportContext_->createPair(peer)->address().bytes();
      addresses[static_cast<size_t>(peer)].assign(address.begin(), address.end());
    }
    const std::vector<std::string> peers = bootstrap.Exchange(addresses);
    bootstrap.OnLoss([this] { Abort(); });
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      const std::string& address = peers[static_cast<size_t>(peer)];
      transportContext_->getPair(peer)->connect(std::vector<char>(address.begin(), address.end()));
    }
  }

  void Abort() {
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank) transportContext_->getPair(peer)->close();
    }
  }
};

class GlooTransport final : public CollectiveTransport {
 public:
  GlooTransport(const TransportOptions& options, std::shared_ptr<GlooContext> context)
      : context_(std::move(context)), timeout_(options.timeout * 3) {}

  // The ring: each rank adds its part of the elements of all ranks, in the order of the ring, and the
  // sums are then copied around. So the bytes are the same on all ranks and in each run.
  void Allreduce(void* data, size_t count, const ElementSum& sum, uint32_t tag) override {
    ::gloo::AllreduceOptions options(context_);
    options.setAlgorithm(::gloo::AllreduceOptions::Algorithm::RING);
    SetOutput(&options, data, count, sum.bytes);
    options.setReduceFunction(sum.add);
    Finish(&options, tag);
    ::gloo::allreduce(options);
  }

  void Reduce(void* data, size_t count, const ElementSum& sum, int root, uint32_t tag) override {
    ::gloo::ReduceOptions options(context_);
    SetOutput(&options, data, count, sum.bytes);
    options.setReduceFunction(sum.add);
    options.setRoot(root);
    Finish(&options, tag);
    ::gloo::reduce(options);
  }

  void Broadcast(void* data, size_t bytes, int root, uint32_t tag) override {
    ::gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(data), bytes);
    options.setRoot(root);
    Finish(&options, tag);
    ::gloo::broadcast(options);
  }

  void Allgather(const void* in, void* out, size_t bytes, uint32_t tag) override {
    ::gloo::AllgatherOptions options(context_);
    options.setInput(static_cast<char*>(const_cast<void*>(in)), bytes);
    options.setOutput(static_cast<char*>(out), bytes * static_cast<size_t>(context_->size));
    Finish(&options, tag);
    ::gloo::allgather(options);
  }

  void Send(const void* data, size_t bytes, int peer, uint32_t number) override {
    const auto buffer = context_->createUnboundBuffer(const_cast<void*>(data), bytes);
    buffer->send(peer, SlotOf(context_->rank, number), 0, bytes);
    buffer->waitSend(timeout_);
  }

  void Receive(void* data, size_t bytes, int peer, uint32_t number) override {
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

std::unique_ptr<CollectiveTransport> ConnectGloo(const TransportOptions& options, TransportBootstrap& bootstrap) {
  CAFFE_ENFORCE(options.transport == "tcp", "transport is \"", options.transport, "\", want \"tcp\" for engine GLOO");
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
