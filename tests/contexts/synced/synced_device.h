#pragma once
// Synced memory between the CPU and the counting device, for tests: the contents of the device
// side, and the copies that were made.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "contexts/synced/synced_memory.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

inline SyncedContexts BothSides() { return {GetStaticContext(CPU), TheCountingStaticContext()}; }
inline SyncedContexts CpuAlone() { return {GetStaticContext(CPU), nullptr}; }

// Returns the elements in device memory, copied without the synced memory.
template <class T>
std::vector<T> OnDevice(const T* data, size_t n) {
  std::vector<T> host(n);
  CountingContext context;
  context.CopyBytesToCPU(n * sizeof(T), data, host.data());
  context.FinishDeviceComputation();
  return host;
}

// Launches a kernel that writes the values.
template <class T>
void WriteOnDevice(T* data, const std::vector<T>& values) {
  CountingContext context;
  context.Launch([data, &values] { std::copy(values.begin(), values.end(), data); });
  context.FinishDeviceComputation();
}

inline std::vector<char> Bytes(const void* data, size_t n) {
  const char* bytes = static_cast<const char*>(data);
  return {bytes, bytes + n};
}

// Creates 10 bytes of memory in the given state, with no copies left to be counted.
inline std::unique_ptr<SyncedMemory> InState(SyncedMemory::SyncedHead head) {
  auto memory = std::make_unique<SyncedMemory>(10, BothSides());
  if (head == SyncedMemory::HEAD_AT_CPU || head == SyncedMemory::SYNCED) {
    std::memset(memory->mutable_cpu_data(), 1, 10);
  }
  if (head == SyncedMemory::SYNCED) memory->gpu_data();
  if (head == SyncedMemory::HEAD_AT_GPU) {
    WriteOnDevice(static_cast<char*>(memory->mutable_gpu_data()), std::vector<char>(10, 1));
  }
  EXPECT_EQ(memory->head(), head);
  return memory;
}

template <class T>
void FillCpu(T* data, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), data);
}

// Counts the copies between the sides since the previous call of Take().
class CopyCounter {
 public:
  struct Copies {
    int64_t to_device, to_cpu, on_device;
    bool operator==(const Copies&) const = default;
  };
  CopyCounter() : before_(CountingDevice::Get(0).counts()) {}
  Copies Take() {
    const CountingCounts now = CountingDevice::Get(0).counts();
    const Copies copies = {now.copies_from_cpu - before_.copies_from_cpu,
                           now.copies_to_cpu - before_.copies_to_cpu,
                           now.copies_same_device - before_.copies_same_device};
    before_ = now;
    return copies;
  }

 private:
  CountingCounts before_;
};

inline constexpr CopyCounter::Copies kNone = {0, 0, 0};

inline void PrintTo(const CopyCounter::Copies& copies, std::ostream* out) {
  *out << copies.to_device << " to the device, " << copies.to_cpu << " to the CPU, "
       << copies.on_device << " on the device";
}

}  // namespace caffe2rt::test
