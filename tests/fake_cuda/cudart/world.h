#pragma once

// The state of the fake machine, and the prologue of every API call.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cudart/arena.h"
#include "cudart/happens_before.h"
#include "cudart/stream.h"
#include "fake_cuda/fake_cuda.h"

namespace fakecuda {

constexpr int kMaxDevices = 64;

struct Event;
struct Graph;
struct GraphExec;
struct MemPool;

enum class BlockKind { kDevice, kPinned, kRegistered, kManaged };

// One allocation, or one registered range of host memory.
struct Block {
  size_t bytes = 0;
  int device = 0;
  BlockKind kind = BlockKind::kDevice;
  unsigned flags = 0;
  MemPool* pool = nullptr;  // the pool it came from, null for cudaMalloc
};

struct Device {
  size_t limit = 0;
  size_t used = 0;
  size_t peak = 0;
  bool has_context = false;  // the primary context
  cudaError_t sticky = cudaSuccess;
  unsigned flags = 0;
  std::set<int> peers;           // devices whose memory this one may access
  std::unique_ptr<Arena> arena;  // created on first use
  StreamP legacy;
  std::vector<StreamP> streams;     // all other live streams, including per-thread ones and lanes
  std::vector<StreamP> closed;      // destroyed, with unfinished work
  std::vector<OpP> ended_blocking;  // last operations of destroyed streams, for the legacy stream
  char ended = 0;                   // token: the work of destroyed streams
  MemPool* default_pool = nullptr;
  MemPool* pool = nullptr;
  std::map<size_t, size_t> limits;  // cudaDeviceSetLimit

  std::once_flag arena_once;
  void MakeArena();
  void OpenMemory();
};

struct Fault {
  int after = 0;
  int times = 0;
  cudaError_t error = cudaSuccess;
  bool sticky = false;
};

// The handles of one kind of object. The handle freed last is reused first, so that a program that
// keeps a stale handle accesses another object.
template <class Object>
class Handles {
 public:
  void* Add(Object object) {
    void* handle;
    if (free_.empty()) {
      memory_.push_back(std::make_unique<uint64_t>());
      handle = memory_.back().get();
    } else {
      handle = free_.back();
      free_.pop_back();
    }
    live_[handle] = std::move(object);
    return handle;
  }
  // Returns null if the handle is not live.
  Object* Find(const void* handle) {
    const auto it = live_.find(const_cast<void*>(handle));
    return it == live_.end() ? nullptr : &it->second;
  }
  void Remove(const void* handle) {
    if (live_.erase(const_cast<void*>(handle)) > 0) free_.push_back(const_cast<void*>(handle));
  }
  void RemoveAll() {
    for (const auto& [handle, object] : live_) free_.push_back(handle);
    live_.clear();
  }
  const std::map<void*, Object>& live() const { return live_; }

 private:
  std::map<void*, Object> live_;
  std::vector<void*> free_;
  std::vector<std::unique_ptr<uint64_t>> memory_;
};

// One mutex guards everything. No user code, operation or wait runs while it is held.
// Never destroyed, so that calls after main() still work.
struct World {
  std::mutex mutex;
  uint64_t epoch = 1;  // incremented by fakecuda_reset, which invalidates the state of all threads
  bool no_driver = false;
  bool built = false;    // the devices have been created
  bool started = false;  // a call was made
  bool unloading = false;
  bool forked = false;  // this is a child of a process that had started CUDA
  int driver_version = CUDART_VERSION;  // 0: no driver
  int capability = 90;
  int peer_group = kMaxDevices;

  std::vector<std::unique_ptr<Device>> devices;
  std::map<uintptr_t, Block> blocks;
  Handles<StreamP> streams;
  Handles<std::shared_ptr<Event>> events;
  Handles<std::shared_ptr<MemPool>> pools;
  std::vector<std::shared_ptr<MemPool>> default_pools;
  std::vector<std::shared_ptr<MemPool>> made_pools;  // and destroyed ones: blocks point to them
  Handles<std::shared_ptr<Graph>> graphs;
  Handles<std::shared_ptr<GraphExec>> execs;
  std::vector<std::shared_ptr<Capture>> captures;  // in progress
  unsigned long long next_id = 1;
  int workers = 0;
  std::condition_variable worker_ended;

  std::unordered_map<std::string, Fault> faults;
  std::unordered_map<std::string, long> calls;
  std::unordered_map<std::string, long> values;  // fakecuda_set
  std::unordered_map<std::string, std::pair<void (*)(void*), void*>> hooks;
  int async_after = -1;
  cudaError_t async_error = cudaSuccess;
  std::chrono::microseconds spent{0};  // fakecuda_spend
};

World& TheWorld();
// Creates the devices. REQUIRES: the mutex is held, no stream runs.
void BuildDevices(const FakeCudaConfig* config);

struct Launch {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

// CUDA's state of a thread.
struct ThreadState {
  uint64_t epoch = 0;
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::map<int, StreamP> own_streams;  // cudaStreamPerThread, by device
  std::vector<Launch> launches;
  ~ThreadState();
};

// The state of the calling thread, reset if it is from an earlier epoch.
ThreadState& Me();
Device& CurrentDevice();
bool ValidDevice(int device);

// Sets whether the calling thread runs an operation of a stream, which must not make API calls.
void SetInOperation(bool in_operation);

enum CallOption : unsigned {
  kPlain = 0,
  kIgnoresSticky = 1,  // works on a device that has failed
  kNoDevice = 2,       // works without any device
  kUnsafeInCapture = 4,
  kNoContext = 8  // creates no context on the thread's current device
};

// One API call. Hides it from ThreadSanitizer, counts it, and refuses it if a test injected a
// failure or the machine is in a state in which CUDA fails every call. Holds the world's mutex from
// construction on.
class Call {
 public:
  explicit Call(const char* name, unsigned options = kPlain);
  ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool refused() const { return error_ != cudaSuccess; }
  // Ends the call. Stores an error as the thread's last error.
  cudaError_t Return(cudaError_t error);
  cudaError_t Refuse() { return Return(error_); }

  // For waits and user code during a call.
  void Unlock() { lock_.unlock(); }
  void Lock() { lock_.lock(); }
  // Waits for operations, then returns the device's error if it has one.
  cudaError_t WaitFor(const std::vector<OpP>& ops, int device);

  // For calls that allocate or free memory; see memory_wait.cc. Such a call fails if it would wait
  // for a stream that a test holds, and the reason is printed.
  // Waits for the work that a free waits for. Returns cudaErrorNotPermitted if it is held.
  cudaError_t WaitToFree(const std::vector<OpP>& ops);
  // Waits for the device, or for all devices if it is -1, if the value "allocation_waits" is set.
  // Returns cudaErrorNotPermitted if work is held, or the error of work that failed.
  cudaError_t WaitToAllocate(int device);

 private:
  cudaError_t Check(const char* name, unsigned options);

  const char* const name_;
  Hidden hidden_;
  std::unique_lock<std::mutex> lock_;
  cudaError_t error_ = cudaSuccess;
};

// Begins a call. Returns from the function if the call is refused.
#define FAKECUDA_CALL(options)                \
  ::fakecuda::Call call(__func__, (options)); \
  if (call.refused()) return call.Refuse()

// The functions below REQUIRE the world's mutex.
Block* FindBlock(const void* ptr, uintptr_t* begin = nullptr);
void Count(const char* name);
long ValueOf(const char* name, long otherwise);  // as fakecuda_get
DeviceSet Reach(int device);  // the device and the peers it has enabled
// Open and close the memory of devices. These need no lock: devices exist until a reset.
void OpenDevices(DeviceSet devices);
void CloseDevices(DeviceSet devices);
// Fails a call that captures forbid, unless they are relaxed, and invalidates them; see capture.cc.
cudaError_t ForbidInCapture();

// Takes ownership of an argument of user code. Calls `release` once, shown to ThreadSanitizer.
std::shared_ptr<void> OwnArgument(void* arg, void (*release)(void*));

// Installs a signal handler that reports forbidden accesses to device memory; see fault.cc.
void InstallFaultReport();

// Returns cached memory above each pool's threshold to its device. Called at every wait.
void TrimPoolsAfterWait();
cudaError_t AllocateDevice(void** ptr, size_t bytes, int device, MemPool* pool);
void ReleaseDevice(uintptr_t address);

}  // namespace fakecuda
