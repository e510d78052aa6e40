#include "tests/support/fake_allocator.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {
namespace {

constexpr size_t kAlignment = 512;
size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void* FakeAllocator::Allocate(size_t nbytes) {
  if (before_allocate) before_allocate();
  const MutexLock lock(mutex_);
  CAFFE_ENFORCE_GT(nbytes, 0u, "bytes requested from the fake allocator");
  if (Enter(Call::kAllocate)) return nullptr;
  if (nbytes > options_.limit_bytes || live_bytes_ > options_.limit_bytes - nbytes) return nullptr;
  const size_t bytes = Aligned(nbytes);
  uintptr_t address = end_;
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                [&](const auto& entry) { return entry.second >= bytes; });
  if (gap != gaps_.end()) {
    address = gap->first;
    const size_t rest = gap->second - bytes;
    gaps_.erase(gap);
    if (rest != 0) gaps_.emplace(address + bytes, rest);
  } else {
    end_ += bytes;
  }
  live_.emplace(address, nbytes);
  live_bytes_ += nbytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return reinterpret_cast<void*>(address);
}

void FakeAllocator::Free(void* data, size_t nbytes) {
  uintptr_t address = reinterpret_cast<uintptr_t>(data);
  if (before_free) before_free(address, nbytes);
  const MutexLock lock(mutex_);
  const auto found = live_.find(address);
  CAFFE_ENFORCE(found != live_.end(), "fake allocator: ", data, " is not in use");
  CAFFE_ENFORCE_EQ(nbytes, found->second, "bytes freed in the fake allocator");
  live_.erase(found);
  live_bytes_ -= nbytes;
  size_t bytes = Aligned(nbytes);
  auto after = gaps_.lower_bound(address);
  if (after != gaps_.end() && after->first == address + bytes) {
    bytes += after->second;
    after = gaps_.erase(after);
  }
  if (after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == address) {
      address = before->first;
      bytes += before->second;
      gaps_.erase(before);
    }
  }
  gaps_.emplace(address, bytes);
  // Last: a device that reports the failure of earlier work has nevertheless freed the memory.
  Enter(Call::kFree);
}

Upstream::Event FakeAllocator::CreateEvent() {
  const MutexLock lock(mutex_);
  Enter(Call::kCreateEvent);
  return *events_.insert(new FakeEvent).first;
}

void FakeAllocator::DestroyEvent(Event event) noexcept {
  const MutexLock lock(mutex_);
  events_.erase(static_cast<FakeEvent*>(event));
  delete static_cast<FakeEvent*>(event);
}

void FakeAllocator::Record(Event event, StreamIndex stream) {
  const MutexLock lock(mutex_);
  Enter(Call::kRecord);
  *static_cast<FakeEvent*>(event) = {stream, StreamOf(stream).given};
}

bool FakeAllocator::IsDone(Event event) {
  const MutexLock lock(mutex_);
  Enter(Call::kIsDone);
  const FakeEvent& fake = *static_cast<FakeEvent*>(event);
  CAFFE_ENFORCE_NE(fake.stream, kNoStream, "stream of an event that was never recorded");
  return fake.position <= StreamOf(fake.stream).finished;
}

void FakeAllocator::Synchronize(StreamIndex stream) {
  if (before_synchronize) before_synchronize(stream);
  const MutexLock lock(mutex_);
  Enter(Call::kSynchronize);
  StreamOf(stream).finished = StreamOf(stream).given;
}

uint64_t FakeAllocator::Give(StreamIndex stream, uint64_t pieces) {
  const MutexLock lock(mutex_);
  return StreamOf(stream).given += pieces;
}

void FakeAllocator::Finish(StreamIndex stream, uint64_t pieces) {
  const MutexLock lock(mutex_);
  Stream& s = StreamOf(stream);
  s.finished += std::min(pieces, s.given - s.finished);
}

uint64_t FakeAllocator::Given(StreamIndex stream) const {
  const MutexLock lock(mutex_);
  const size_t i = static_cast<size_t>(stream);
  return i < streams_.size() ? streams_[i].given : 0;
}

uint64_t FakeAllocator::Finished(StreamIndex stream) const {
  const MutexLock lock(mutex_);
  const size_t i = static_cast<size_t>(stream);
  return i < streams_.size() ? streams_[i].finished : 0;
}

void FakeAllocator::Fail(Call call, uint64_t after, uint64_t count) {
  const MutexLock lock(mutex_);
  Plan& plan = plans_[call];
  plan.first = plan.calls + after;
  plan.end = plan.first + count;
  plan.refuse = false;
}

void FakeAllocator::Refuse(uint64_t after, uint64_t count) {
  Fail(Call::kAllocate, after, count);
  const MutexLock lock(mutex_);
  plans_[Call::kAllocate].refuse = true;
}

uint64_t FakeAllocator::Calls(Call call) const {
  const MutexLock lock(mutex_);
  const auto plan = plans_.find(call);
  return plan != plans_.end() ? plan->second.calls : 0;
}

size_t FakeAllocator::live_bytes() const {
  const MutexLock lock(mutex_);
  return live_bytes_;
}

size_t FakeAllocator::peak_bytes() const {
  const MutexLock lock(mutex_);
  return peak_bytes_;
}

size_t FakeAllocator::live_allocations() const {
  const MutexLock lock(mutex_);
  return live_.size();
}

size_t FakeAllocator::live_events() const {
  const MutexLock lock(mutex_);
  return events_.size();
}

bool FakeAllocator::Enter(Call call) {
  Plan& plan = plans_[call];
  const uint64_t number = plan.calls++;
  if (number < plan.first || number >= plan.end) return false;
  if (plan.refuse) return true;
  CAFFE_THROW("injected failure of the fake device");
}

FakeAllocator::Stream& FakeAllocator::StreamOf(StreamIndex stream) {
  CAFFE_ENFORCE_GE(stream, 0, "stream of the fake allocator");
  const size_t i = static_cast<size_t>(stream);
  if (i >= streams_.size()) streams_.resize(i + 1);
  return streams_[i];
}

}  // namespace caffe2rt::test
