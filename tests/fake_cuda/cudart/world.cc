#include "cudart/world.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cudart/graph.h"
#include "cudart/mem_pool.h"

namespace fakecuda {
namespace {

thread_local bool t_in_operation = false;

// Called when the process exits. From now on every call fails with cudaErrorCudartUnloading.
void EndOfProcess() {
  Hidden hidden;
  World& world = TheWorld();
  {
    std::lock_guard<std::mutex> lock(world.mutex);
    world.unloading = true;
    if (world.forked) return;
  }
  if (getenv("FAKECUDA_LEAKS") != nullptr) {
    fakecuda_leaks([](void*, const char* line) { fprintf(stderr, "[fakecuda] alive: %s\n", line); },
                   nullptr);
  }
  Quiesce(true);
}

void BeforeFork() { TheWorld().mutex.lock(); }
void AfterForkInParent() { TheWorld().mutex.unlock(); }

// A child process has no workers. If CUDA was started before the fork, it does not work in the
// child.
void AfterForkInChild() {
  World& world = TheWorld();
  world.forked = world.forked || world.started;
  world.workers = 0;
  world.mutex.unlock();
}

World* MakeWorld() {
  auto* world = new World;
  atexit(EndOfProcess);
  pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  return world;
}

bool Flag(const char* name) {
  const char* text = getenv(name);
  return text != nullptr && *text != '\0' && *text != '0';
}

FakeCudaConfig FromEnvironment() {
  FakeCudaConfig config = {};
  if (const char* text = getenv("FAKECUDA_DEVICES")) {
    config.devices = atoi(text);
    if (config.devices <= 0) config.devices = -1;
  }
  if (const char* text = getenv("FAKECUDA_BYTES")) {
    config.bytes_per_device = strtoull(text, nullptr, 0);
  }
  config.no_driver = Flag("FAKECUDA_NO_DRIVER") ? 1 : 0;
  if (const char* text = getenv("FAKECUDA_DRIVER_VERSION")) config.driver_version = atoi(text);
  return config;
}

// The injected error of this call, or cudaSuccess.
cudaError_t Injected(const char* name) {
  World& world = TheWorld();
  for (const char* key : {name, "*"}) {
    const auto it = world.faults.find(key);
    if (it == world.faults.end()) continue;
    Fault& fault = it->second;
    if (fault.after > 0) {
      --fault.after;
      continue;
    }
    if (fault.times == 0) continue;
    if (fault.times > 0) --fault.times;
    if (fault.sticky && !world.devices.empty()) CurrentDevice().sticky = fault.error;
    return fault.error;
  }
  return cudaSuccess;
}

}  // namespace

World& TheWorld() {
  static World* world = MakeWorld();
  return *world;
}

void BuildDevices(const FakeCudaConfig* given) {
  World& world = TheWorld();
  const FakeCudaConfig config = given == nullptr ? FromEnvironment() : *given;
  const int count = config.devices == 0 ? 2 : std::clamp(config.devices, 0, kMaxDevices);
  const size_t bytes = config.bytes_per_device == 0 ? size_t{1} << 30 : config.bytes_per_device;
  world.driver_version = config.driver_version == 0 ? CUDART_VERSION : config.driver_version;
  if (config.no_driver != 0) world.driver_version = 0;
  world.no_driver = world.driver_version / 1000 < CUDART_VERSION / 1000;
  world.capability = config.compute_capability == 0 ? 90 : config.compute_capability;
  world.peer_group = config.peer_group == 0 ? kMaxDevices : config.peer_group;
  world.devices.clear();
  for (int i = 0; i < count && !world.no_driver; ++i) {
    world.devices.push_back(std::make_unique<Device>());
    Device& device = *world.devices.back();
    device.limit = bytes;
    world.default_pools.push_back(std::make_shared<MemPool>());
    device.pool = device.default_pool = world.default_pools.back().get();
    device.pool->device = i;
  }
  world.built = true;
}

ThreadState& Me() {
  static thread_local ThreadState state;
  const World& world = TheWorld();
  if (state.epoch != world.epoch) {
    state.own_streams.clear();
    state.launches.clear();
    state.device = 0;
    state.last_error = cudaSuccess;
    state.capture_mode = cudaStreamCaptureModeGlobal;
    state.epoch = world.epoch;
  }
  return state;
}

ThreadState::~ThreadState() {
  Hidden hidden;
  World& world = TheWorld();
  std::lock_guard<std::mutex> lock(world.mutex);
  if (epoch != world.epoch) return;
  for (const auto& [device, stream] : own_streams) Close(stream);
}

void Device::MakeArena() {
  std::call_once(arena_once, [this] {
    arena = std::make_unique<Arena>(limit);
    InstallFaultReport();
  });
}

void Device::OpenMemory() {
  MakeArena();
  arena->Open();
}

Device& CurrentDevice() { return *TheWorld().devices[static_cast<size_t>(Me().device)]; }

bool ValidDevice(int device) {
  return device >= 0 && device < static_cast<int>(TheWorld().devices.size());
}

void SetInOperation(bool in_operation) { t_in_operation = in_operation; }

Call::Call(const char* name, unsigned options) : name_(name) {
  World& world = TheWorld();
  lock_ = std::unique_lock<std::mutex>(world.mutex);
  if (!world.hooks.empty()) {
    if (auto node = world.hooks.extract(name)) {
      lock_.unlock();
      {
        Shown shown;
        node.mapped().first(node.mapped().second);
      }
      lock_.lock();
    }
  }
  if (!world.built) BuildDevices(nullptr);
  world.started = true;
  ++world.calls[name];
  error_ = Check(name, options);
}

cudaError_t Call::Check(const char* name, unsigned options) {
  World& world = TheWorld();
  if (world.unloading) return cudaErrorCudartUnloading;
  if (world.forked) return cudaErrorInitializationError;
  if (t_in_operation) return cudaErrorNotPermitted;
  if ((options & kNoDevice) == 0) {
    if (world.no_driver) return cudaErrorInsufficientDriver;
    if (world.devices.empty()) return cudaErrorNoDevice;
  }
  if ((options & (kNoDevice | kNoContext)) == 0) CurrentDevice().has_context = true;
  const cudaError_t injected = Injected(name);
  if (injected != cudaSuccess) return injected;
  if ((options & (kIgnoresSticky | kNoDevice)) == 0 && CurrentDevice().sticky != cudaSuccess) {
    return CurrentDevice().sticky;
  }
  return (options & kUnsafeInCapture) != 0 ? ForbidInCapture() : cudaSuccess;
}

cudaError_t Call::Return(cudaError_t error) {
  if (error != cudaSuccess) Me().last_error = error;
  return error;
}

cudaError_t Call::WaitFor(const std::vector<OpP>& ops, int device) {
  lock_.unlock();
  for (const OpP& op : ops) HostWait(op);
  lock_.lock();
  TrimPoolsAfterWait();
  return Return(TheWorld().devices[static_cast<size_t>(device)]->sticky);
}

void Count(const char* name) { ++TheWorld().calls[name]; }

DeviceSet Reach(int device) {
  DeviceSet devices = DeviceSet{1} << device;
  for (const int peer : TheWorld().devices[static_cast<size_t>(device)]->peers) {
    devices |= DeviceSet{1} << peer;
  }
  return devices;
}

void OpenDevices(DeviceSet devices) {
  for (size_t i = 0; devices != 0; ++i, devices >>= 1) {
    if ((devices & 1) != 0) TheWorld().devices[i]->OpenMemory();
  }
}

void CloseDevices(DeviceSet devices) {
  for (size_t i = 0; devices != 0; ++i, devices >>= 1) {
    if ((devices & 1) != 0) TheWorld().devices[i]->arena->Close();
  }
}

std::shared_ptr<void> OwnArgument(void* arg, void (*release)(void*)) {
  // The holder is never null, so that `release` is called for a null argument too.
  struct Holder {
    void* arg;
    void (*release)(void*);
    ~Holder() {
      if (release == nullptr) return;
      Shown shown;
      release(arg);
    }
  };
  return std::shared_ptr<void>(new Holder{arg, release},
                               [](void* holder) { delete static_cast<Holder*>(holder); });
}

}  // namespace fakecuda
