#pragma once
// The simulated hardware of the counting device: two devices whose memory the CPU cannot read, with
// streams that are worker threads, and counters. There is no separate driver. counting_context.h
// makes it a device of the runtime.
//
// Each device's memory is one reserved address range. The memory is accessible only while an
// operation of either device runs. Code that reads a device pointer at any other time dies by
// SIGSEGV at once.
//
// Everything is thread safe. Devices and their workers live as long as the process.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt::test {

inline constexpr int kCountingDevices = 2;
inline constexpr size_t kCountingMemoryBytes = size_t{64} << 20;  // of each device

// Counts of what a device has done since the process started.
struct CountingCounts {
  int64_t allocations = 0;
  int64_t frees = 0;
  int64_t bytes_in_use = 0;
  int64_t operations = 0;  // copies and kernels, which access memory
  int64_t waits = 0;       // waits of the host for a stream
  int64_t copies_from_cpu = 0;
  int64_t copies_to_cpu = 0;
  int64_t copies_same_device = 0;
  int64_t graphs = 0;  // graph launches
  int64_t uses = 0;    // recorded uses of its memory by streams of other devices
};

// The address ranges of both devices. They are accessible while any operation runs.
class CountingArena {
 public:
  static CountingArena& Get();
  CountingArena(const CountingArena&) = delete;
  CountingArena& operator=(const CountingArena&) = delete;

  // Calls of Open and Close come in pairs. The ranges are accessible while at least one pair is
  // open.
  void Open();
  void Close();
  char* base(int device) const {
    return base_ + static_cast<size_t>(device) * kCountingMemoryBytes;
  }

 private:
  CountingArena();

  char* base_ = nullptr;
  Mutex mutex_;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A queue of work that one thread performs in order. The first error is kept: later operations are
// skipped until Finish reports it, and marks in between receive it.
class CountingStream {
 public:
  CountingStream();
  CountingStream(const CountingStream&) = delete;
  CountingStream& operator=(const CountingStream&) = delete;

  // Launch enqueues work that accesses device memory; it returns false if the work was recorded
  // instead. Then enqueues work that does not (marks, waits, gates): it receives the stream's
  // error, is never skipped, and any exception it throws becomes the stream's error.
  bool Launch(std::function<void()> operation);
  void Then(std::function<void(const std::string& error)> step);

  // From this call on, operations are recorded until EndCapture returns them. Work that cannot be
  // recorded THROWS in between, and EndCapture stores the reason.
  void BeginCapture();
  std::vector<std::function<void()>> EndCapture(std::string* reason);
  // THROWS while the stream is recording.
  void EnforceNotCapturing(const char* what);

  // Waits for all work enqueued so far. THROWS the stream's error, once.
  void Finish();
  bool IsFree() const;

  // The number of pieces of work enqueued so far, and whether the piece with this number is
  // finished.
  int64_t enqueued() const;
  bool IsPast(int64_t number) const;

 private:
  struct Task {
    std::function<void()> operation;  // set unless `step` is
    std::function<void(const std::string&)> step;
  };
  void Enqueue(Task task);
  void Work();
  void RunOne(const Task& task);

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  int64_t enqueued_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t over_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string error_ ABSL_GUARDED_BY(mutex_);
  bool capturing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> captured_ ABSL_GUARDED_BY(mutex_);
  std::string refused_ ABSL_GUARDED_BY(mutex_);  // why the recording is invalid
};

class CountingDevice {
 public:
  // THROWS when the device does not exist.
  static CountingDevice& Get(int id);
  // The calling thread's current device, initially 0.
  static int Current();
  static void SetCurrent(int id);
  // The device that owns the memory, or -1 for other memory.
  static int Of(const void* data);

  // Returns memory filled with 0xCC and aligned to 256 bytes, or null for 0 bytes. A freed block is
  // reused once all work that was enqueued before the free is finished, on every stream of the
  // device and on the streams that RecordUse named. THROWS when the memory is exhausted.
  std::pair<void*, MemoryDeleter> New(size_t nbytes);
  // Records that a stream of `user` uses memory that New returned, on this device or another.
  static void RecordUse(const MemoryDeleter& memory, const CountingDevice& user,
                        CountingStream* stream);
  // Creates the stream on first use.
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
  void Reclaim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Take(size_t size, size_t* offset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int id_;
  mutable Mutex mutex_;
  std::map<int, std::unique_ptr<CountingStream>> streams_ ABSL_GUARDED_BY(mutex_);
  std::map<size_t, size_t> free_ ABSL_GUARDED_BY(mutex_);  // offset to size; neighbours are merged
  std::vector<std::unique_ptr<Block>> freed_ ABSL_GUARDED_BY(mutex_);
  CountingCounts counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt::test
