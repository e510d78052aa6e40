#pragma once
// The hardware of the tests' own device type: two devices whose memory the CPU cannot read, with
// streams that are worker threads, and counters. It has no driver; this is it. counting_context.h
// makes it a device of the runtime.
//
// Each device's memory is one reserved range of addresses that may be touched only while one of its
// operations runs: code that reads a device pointer elsewhere dies by SIGSEGV at once.
//
// Everything is thread safe. Devices and their workers live as long as the process.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caffe2_core/device/memory.h"

namespace caffe2rt::test {

inline constexpr int kCountingDevices = 2;
inline constexpr size_t kCountingMemoryBytes = size_t{64} << 20;  // of each device

// What a device did since the process began.
struct CountingCounts {
  int64_t allocations = 0;
  int64_t frees = 0;
  int64_t bytes_in_use = 0;
  int64_t operations = 0;  // that touch memory: copies and kernels
  int64_t waits = 0;       // of the host for a stream
  int64_t copies_from_cpu = 0;
  int64_t copies_to_cpu = 0;
  int64_t copies_same_device = 0;
  int64_t graphs = 0;  // started
  int64_t uses = 0;    // of its memory by streams of other devices, as told
};

// The addresses of both devices. Open while somebody runs an operation, closed otherwise.
class CountingArena {
 public:
  static CountingArena& Get();
  CountingArena(const CountingArena&) = delete;
  CountingArena& operator=(const CountingArena&) = delete;

  // Pairs; the range is open while any pair is.
  void Open();
  void Close();
  char* base(int device) const {
    return base_ + static_cast<size_t>(device) * kCountingMemoryBytes;
  }

 private:
  CountingArena();

  char* base_ = nullptr;
  std::mutex mutex_;
  int open_ = 0;
};

// A queue of work in order, done by one thread. The first error stays: later operations are left
// out until Finish reports it, and marks in between see it.
class CountingStream {
 public:
  CountingStream();
  CountingStream(const CountingStream&) = delete;
  CountingStream& operator=(const CountingStream&) = delete;

  // Work that touches device memory, and work that does not (marks, waits, gates). The second kind
  // is given the stream's error and is never left out; what it throws becomes the stream's error.
  // False: it was recorded.
  bool Launch(std::function<void()> operation);
  void Then(std::function<void(const std::string& error)> step);

  // From here on operations are recorded, until EndCapture gives them back. What cannot be recorded
  // THROWS in between, and EndCapture gives its reason.
  void BeginCapture();
  std::vector<std::function<void()>> EndCapture(std::string* reason);
  // THROWS while the stream records.
  void EnforceNotCapturing(const char* what);

  // Waits for everything enqueued so far. THROWS the stream's error, once.
  void Finish();
  bool IsFree() const;

  // Numbers of what was enqueued and of what is over.
  int64_t enqueued() const;
  bool IsPast(int64_t number) const;

 private:
  struct Task {
    std::function<void()> operation;  // or
    std::function<void(const std::string&)> step;
  };
  void Enqueue(Task task);
  void Work();
  void RunOne(const Task& task);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  int64_t enqueued_ = 0;
  int64_t over_ = 0;
  std::string error_;
  bool capturing_ = false;
  std::vector<std::function<void()>> captured_;
  std::string refused_;  // why the recording is void
};

class CountingDevice {
 public:
  // THROWS when there is no such device.
  static CountingDevice& Get(int id);
  // The calling thread's current device, 0 at first.
  static int Current();
  static void SetCurrent(int id);
  // The device whose memory this is; -1 for other memory.
  static int Of(const void* data);

  // Memory full of 0xCC, aligned to 256 bytes; null for no bytes. A freed piece is given out again
  // when the work that was enqueued before it was freed, on any stream of the device and on those
  // that RecordUse named, is over. THROWS when there is
  // no more.
  std::pair<void*, MemoryDeleter> New(size_t nbytes);
  // A stream of `user` uses memory that New gave, on this device or another.
  static void RecordUse(const MemoryDeleter& memory, const CountingDevice& user,
                        CountingStream* stream);
  // Made on first use.
  CountingStream& stream(int id);

  CountingCounts counts() const;
  // counts().*counter += n.
  void Count(int64_t CountingCounts::*counter, int64_t n = 1);
  int id() const { return id_; }

 private:
  struct Block {
    CountingDevice* device;
    size_t offset;
    size_t size;
    std::vector<CountingStream*> users;                         // of other devices
    std::vector<std::pair<CountingStream*, int64_t>> last_use;  // once freed
  };
  explicit CountingDevice(int id) : id_(id) { free_[0] = kCountingMemoryBytes; }
  static void Free(void* data, void* state);
  // With mutex_ held.
  void Reclaim();
  bool Take(size_t size, size_t* offset);

  const int id_;
  mutable std::mutex mutex_;
  std::map<int, std::unique_ptr<CountingStream>> streams_;
  std::map<size_t, size_t> free_;  // offset to size; neighbours are merged
  std::vector<std::unique_ptr<Block>> freed_;
  CountingCounts counts_;
};

}  // namespace caffe2rt::test
