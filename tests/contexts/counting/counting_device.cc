#include "tests/contexts/counting/counting_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {
namespace {

constexpr size_t kGranule = 256;
thread_local int t_current = 0;

}  // namespace

constexpr size_t kArenaBytes = kCountingMemoryBytes * kCountingDevices;

CountingArena& CountingArena::Get() {
  static CountingArena* const arena = new CountingArena;  // outlives every tensor
  return *arena;
}

CountingArena::CountingArena() {
  void* range =
      mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CAFFE_ENFORCE(range != MAP_FAILED, "cannot reserve ", kArenaBytes, " bytes of addresses");
  base_ = static_cast<char*>(range);
}

void CountingArena::Open() {
  const MutexLock lock(mutex_);
  if (open_++ > 0) return;
  CAFFE_ENFORCE_EQ(mprotect(base_, kArenaBytes, PROT_READ | PROT_WRITE), 0,
                   "opening device memory");
}

void CountingArena::Close() {
  const MutexLock lock(mutex_);
  if (--open_ > 0) return;
  CAFFE_ENFORCE_EQ(mprotect(base_, kArenaBytes, PROT_NONE), 0, "closing device memory");
}

CountingStream::CountingStream() {
  std::thread([this] { Work(); }).detach();  // runs until the process ends
}

bool CountingStream::Launch(std::function<void()> operation) {
  {
    const MutexLock lock(mutex_);
    if (capturing_) {
      captured_.push_back(std::move(operation));
      return false;
    }
  }
  Enqueue({std::move(operation), nullptr});
  return true;
}

void CountingStream::BeginCapture() {
  EnforceNotCapturing("a second recording");
  const MutexLock lock(mutex_);
  capturing_ = true;
}

std::vector<std::function<void()>> CountingStream::EndCapture(std::string* reason) {
  const MutexLock lock(mutex_);
  capturing_ = false;
  *reason = std::exchange(refused_, "");
  return std::exchange(captured_, {});
}

void CountingStream::EnforceNotCapturing(const char* what) {
  const MutexLock lock(mutex_);
  if (!capturing_) return;
  refused_ = MakeString(what, " cannot be recorded");
  CAFFE_THROW(refused_);
}

void CountingStream::Then(std::function<void(const std::string&)> step) {
  EnforceNotCapturing("an event");
  Enqueue({nullptr, std::move(step)});
}

void CountingStream::Enqueue(Task task) {
  const MutexLock lock(mutex_);
  tasks_.push_back(std::move(task));
  ++enqueued_;
  changed_.NotifyAll();
}

void CountingStream::Finish() {
  EnforceNotCapturing("a wait of the host");
  std::string error;
  {
    const MutexLock lock(mutex_);
    const int64_t last = enqueued_;
    while (over_ < last) changed_.Wait(mutex_);
    error.swap(error_);
  }
  CAFFE_ENFORCE(error.empty(), error);
}

bool CountingStream::IsFree() const { return IsPast(enqueued()); }

int64_t CountingStream::enqueued() const {
  const MutexLock lock(mutex_);
  return enqueued_;
}

bool CountingStream::IsPast(int64_t number) const {
  const MutexLock lock(mutex_);
  return over_ >= number;
}

void CountingStream::Work() {
  const MutexLock lock(mutex_);
  for (;;) {
    while (tasks_.empty()) changed_.Wait(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    {
      const MutexUnlock unlocked(mutex_);
      RunOne(task);
      task = {};  // releases the captured objects before waiters are notified
    }
    ++over_;
    changed_.NotifyAll();
  }
}

void CountingStream::RunOne(const Task& task) {
  std::string error;
  {
    const MutexLock lock(mutex_);
    error = error_;
  }
  std::string fresh;
  try {
    if (task.step) task.step(error);
    if (task.operation && error.empty()) {
      CountingArena::Get().Open();
      try {
        task.operation();
      } catch (...) {
        fresh = CurrentExceptionMessage();
      }
      CountingArena::Get().Close();
    }
  } catch (...) {
    fresh = CurrentExceptionMessage();
  }
  if (fresh.empty()) return;
  const MutexLock lock(mutex_);
  if (error_.empty()) error_ = fresh;
}

CountingDevice& CountingDevice::Get(int id) {
  static CountingDevice* const devices[kCountingDevices] = {new CountingDevice(0),
                                                            new CountingDevice(1)};
  CAFFE_ENFORCE(id >= 0 && id < kCountingDevices, "counting device ", id, ", want 0 to ",
                kCountingDevices - 1);
  return *devices[id];
}

int CountingDevice::Current() { return t_current; }
void CountingDevice::SetCurrent(int id) { t_current = Get(id).id(); }

int CountingDevice::Of(const void* data) {
  for (int id = 0; id < kCountingDevices; ++id) {
    const char* base = CountingArena::Get().base(id);
    if (data >= base && data < base + kCountingMemoryBytes) return id;
  }
  return -1;
}

std::pair<void*, MemoryDeleter> CountingDevice::New(size_t nbytes) {
  if (nbytes == 0) return {nullptr, MemoryDeleter()};
  CAFFE_ENFORCE_LE(nbytes, kCountingMemoryBytes, "bytes asked of counting device ", id_);
  const size_t size = (nbytes + kGranule - 1) / kGranule * kGranule;
  size_t offset = 0;
  {
    const MutexLock lock(mutex_);
    Reclaim();
    CAFFE_ENFORCE(Take(size, &offset), "counting device ", id_, " is out of memory: ", nbytes,
                  " bytes asked, ", counts_.bytes_in_use, " of ", kCountingMemoryBytes, " in use");
    ++counts_.allocations;
    counts_.bytes_in_use += static_cast<int64_t>(size);
  }
  char* data = CountingArena::Get().base(id_) + offset;
  CountingArena::Get().Open();
  std::memset(data, 0xCC, size);
  CountingArena::Get().Close();
  return {data, MemoryDeleter(&Free, new Block{this, offset, size, {}, {}})};
}

void CountingDevice::Free(void*, void* state) {
  std::unique_ptr<Block> block(static_cast<Block*>(state));
  CountingDevice& device = *block->device;
  const MutexLock lock(device.mutex_);
  ++device.counts_.frees;
  device.counts_.bytes_in_use -= static_cast<int64_t>(block->size);
  for (const auto& [id, stream] : device.streams_) {
    block->last_use.emplace_back(stream.get(), stream->enqueued());
  }
  for (CountingStream* stream : block->users) {
    block->last_use.emplace_back(stream, stream->enqueued());
  }
  device.freed_.push_back(std::move(block));
}

void CountingDevice::RecordUse(const MemoryDeleter& memory, const CountingDevice& user,
                               CountingStream* stream) {
  if (memory.function() != &Free) return;
  Block& block = *static_cast<Block*>(memory.state());
  CountingDevice& home = *block.device;
  if (&home == &user) return;
  const MutexLock lock(home.mutex_);
  ++home.counts_.uses;
  block.users.push_back(stream);
}

void CountingDevice::Reclaim() {
  const auto over = [](const auto& use) { return use.first->IsPast(use.second); };
  const auto kept = std::partition(freed_.begin(), freed_.end(), [&](const auto& block) {
    return !std::all_of(block->last_use.begin(), block->last_use.end(), over);
  });
  for (auto block = kept; block != freed_.end(); ++block) {
    auto at = free_.emplace((*block)->offset, (*block)->size).first;
    const auto next = std::next(at);
    if (next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) continue;
    const auto before = std::prev(at);
    if (before->first + before->second != at->first) continue;
    before->second += at->second;
    free_.erase(at);
  }
  freed_.erase(kept, freed_.end());
}

bool CountingDevice::Take(size_t size, size_t* offset) {
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    if (at->second < size) continue;
    *offset = at->first;
    const size_t rest = at->second - size;
    free_.erase(at);
    if (rest > 0) free_[*offset + size] = rest;
    return true;
  }
  return false;
}

CountingStream& CountingDevice::stream(int id) {
  CAFFE_ENFORCE_GE(id, 0, "stream of a counting device");
  const MutexLock lock(mutex_);
  std::unique_ptr<CountingStream>& stream = streams_[id];
  if (stream == nullptr) stream = std::make_unique<CountingStream>();
  return *stream;
}

CountingCounts CountingDevice::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

void CountingDevice::Count(int64_t CountingCounts::*counter, int64_t n) {
  const MutexLock lock(mutex_);
  counts_.*counter += n;
}

}  // namespace caffe2rt::test
