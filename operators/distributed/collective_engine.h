#pragma once
// CollectiveEngine: what moves the data of a CommonWorld. An engine is a module, a shared library that
// is opened when a net names it. The module of an engine named GLOO is libcaffe2_gloo.so. It is
// searched for as that of a device (caffe2_core/device/device_module.h), also by the environment
// variable CAFFE2_GLOO_MODULE, and exports one function:
//
//   extern "C" const caffe2rt::CollectiveEngine* caffe2rt_gloo_engine();
//
// README.md beside this file explains how to add one. All functions of this header are thread safe. A
// failure to load is final for the process. A module is never unloaded.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operators/distributed/element_sum.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The engine's connections between the ranks of a world, shared by its clones. When a function is
// called, all ranks have agreed on the operation. Functions may be called at the same time with
// different tags. They THROW any std::exception if the connections fail. After Abort they must throw
// soon, and need not be able to work again.
class CollectiveTransport {
 public:
  virtual ~CollectiveTransport() = default;

  // `count` is above 0, and the number of ranks above 1. All ranks must get the same bytes, which may
  // only depend on the data and on the number of ranks.
  virtual void Allreduce(void* data, size_t count, const ElementSum& sum, uint32_t tag) = 0;
  virtual void Reduce(void* data, size_t count, const ElementSum& sum, int root, uint32_t tag) = 0;
  // `bytes` is above 0.
  virtual void Broadcast(void* data, size_t bytes, int root, uint32_t tag) = 0;
  virtual void Allgather(const void* in, void* out, size_t bytes, uint32_t tag) = 0;
  // Message number `number` from this rank to `peer`, and from `peer` to this one.
  virtual void Send(const void* data, size_t bytes, int peer, uint32_t number) = 0;
  virtual void Receive(void* data, size_t bytes, int peer, uint32_t number) = 0;

  // Makes operations under way on other threads, and all later ones, throw. May be called by any
  // thread, several times. Must not wait for other ranks.
  virtual void Abort() = 0;
};

struct TransportOptions {
  int rank;
  int size;
  std::string world;      // for messages
  std::string address;    // IP address of this machine for the connections
  std::string transport;  // one that has_transport accepts
  std::chrono::milliseconds timeout;
};

// What connects the ranks before the engine does.
class TransportBootstrap {
 public:
  // Sends messages[r] to each rank r, and returns what they sent; the entry of this rank is ignored, and
  // is empty in the result. All ranks must call it equally often. THROWS RanksLost.
  virtual std::vector<std::string> Exchange(const std::vector<std::string>& messages) = 0;
  // `abort` is called by another thread when a rank is lost, also while `connect` runs. Replaces an
  // earlier function; an empty one removes it, and returns when it no longer runs.
  virtual void OnLoss(std::function<void()> abort) = 0;

 protected:
  ~TransportBootstrap() = default;
};

inline constexpr int kCollectiveEngineInterface = 2;

// What a module provides, as plain functions.
struct CollectiveEngine {
  // The interface version of the headers that the module was built with.
  int interface = kCollectiveEngineInterface;
  // What `caffe2 devices` prints: the engine's library, and its transports. Must not connect.
  std::string (*describe)() = nullptr;
  // Whether `connect` accepts the transport, which is asked before the ranks meet. Null: any.
  bool (*has_transport)(const std::string& transport) = nullptr;
  // Connects the ranks. Called by all ranks of a world at the same time.
  std::unique_ptr<CollectiveTransport> (*connect)(const TransportOptions& options,
                                                  TransportBootstrap& bootstrap) = nullptr;
};

// The engine of that name. THROWS the reason if it is not available.
const CollectiveEngine& EnforceCollectiveEngine(const std::string& name);

// Makes an engine known that is linked into the program, such as one of a test.
void RegisterCollectiveEngine(const std::string& name, const CollectiveEngine* engine);

// What `caffe2 devices` prints about engines that the library knows, and those that are registered.
struct CollectiveEnginePresence {
  std::string name;
  bool available;
  std::string detail;  // its description, or why it is not available
  std::string path;    // of the module, if it is one
};
std::vector<CollectiveEnginePresence> FindCollectiveEngines();

}  // namespace caffe2rt
#pragma GCC visibility pop
