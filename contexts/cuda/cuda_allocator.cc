#include "contexts/cuda/cuda_allocator.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <exception>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_async_pool.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/pinned_allocator.h"

namespace caffe2rt {
namespace {

// The upstream and the pool of one device.
struct DeviceMemory {
  std::unique_ptr<CudaUpstream> upstream;
  std::unique_ptr<Pool> pool;
};

struct AllDevices {
  Mutex mutex;  // serializes writers; readers load a device atomically
  std::array<std::atomic<DeviceMemory*>, kCompileTimeMaxGpus> devices{};
};
AllDevices& All() {
  static AllDevices* const all = new AllDevices;
  return *all;
}

size_t MegabytesOrMax(int64_t megabytes) {
  return megabytes <= 0 || megabytes > (int64_t{1} << 40) ? SIZE_MAX
                                                          : static_cast<size_t>(megabytes) << 20;
}

std::unique_ptr<DeviceMemory> MakeDevice(int device) {
  const CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  const std::string name = MakeString("CUDA ", device);
  const size_t limit = MegabytesOrMax(options.limit_mb);
  auto memory = std::make_unique<DeviceMemory>();
  if (options.pool == CudaMemoryPoolType::ASYNC) {
    auto upstream = std::make_unique<CudaAsyncUpstream>(device);
    memory->pool = NewCudaAsyncPool(*upstream, {.device = name, .limit_bytes = limit});
    memory->upstream = std::move(upstream);
    return memory;
  }
  memory->upstream = std::make_unique<CudaDeviceUpstream>(device);
  switch (options.pool) {
    case CudaMemoryPoolType::NONE:
      memory->pool = NewDirectPool(*memory->upstream, {.device = name, .limit_bytes = limit});
      break;
    case CudaMemoryPoolType::CUB:
      memory->pool =
          NewCubPool(*memory->upstream,
                     {.device = name,
                      .limit_bytes = limit,
                      .bin_growth = static_cast<unsigned>(std::max(options.cub_bin_growth, 0)),
                      .min_bin = static_cast<unsigned>(std::max(options.cub_min_bin, 0)),
                      .max_bin = static_cast<unsigned>(std::max(options.cub_max_bin, 0)),
                      .max_cached_bytes = MegabytesOrMax(options.cub_max_managed_mb)});
      break;
    default: {
      // The driver maps memory in pieces of this size, so smaller segments would waste the rest.
      constexpr size_t kMappedBytes = size_t{2} << 20;
      ThcPoolOptions thc;
      thc.device = name;
      thc.limit_bytes = limit;
      thc.small_granule_bytes = thc.large_granule_bytes = thc.small_segment_bytes = kMappedBytes;
      memory->pool = NewThcPool(*memory->upstream, thc);
    }
  }
  return memory;
}

void Grant(const DeviceMemory& memory, int peer) {
  auto* const driver = dynamic_cast<CudaAsyncUpstream*>(memory.upstream.get());
  if (driver != nullptr) driver->GrantAccess(peer);
}

DeviceMemory& Of(int device) {
  EnforceCudaDevice(device);
  std::atomic<DeviceMemory*>& place = All().devices[static_cast<size_t>(device)];
  DeviceMemory* memory = place.load(std::memory_order_acquire);
  if (__builtin_expect(memory != nullptr, 1)) return *memory;
  InitializeCuda();
  const MutexLock lock(All().mutex);
  memory = place.load(std::memory_order_relaxed);
  if (memory == nullptr) {
    std::unique_ptr<DeviceMemory> made = MakeDevice(device);
    internal::WithPeers(device, [&](const std::vector<int>& peers) {
      for (const int peer : peers) Grant(*made, peer);
      memory = made.release();
      place.store(memory, std::memory_order_release);
    });
  }
  return *memory;
}

// Calls `visit` for each device whose pool exists.
template <class Visit>
void ForEachUsed(Visit visit) {
  for (int device = 0; device < NumCudaDevices(); ++device) {
    DeviceMemory* const memory =
        All().devices[static_cast<size_t>(device)].load(std::memory_order_acquire);
    if (memory != nullptr) visit(device, *memory);
  }
}

template <class Member>
std::vector<long> BytesByGpu(Member member) {
  std::vector<long> bytes(static_cast<size_t>(NumCudaDevices()), 0);
  ForEachUsed([&](int device, const DeviceMemory& memory) {
    bytes[static_cast<size_t>(device)] = static_cast<long>(memory.pool->Statistics().*member);
  });
  return bytes;
}

// If the calling thread's current device is not `device`, returns the current stream there, which
// may have copied memory of `device`; else null. A thread that has streams on no other device makes
// no CUDA call.
CudaStream* FindStreamElsewhere(int device) {
  const int devices = NumCudaDevices();
  bool has_other = false;
  for (int i = 0; i < devices; ++i) has_other |= i != device && FindCurrentStream(i) != nullptr;
  if (!has_other) return nullptr;
  int now = device;
  if (!LogCudaError(cudaGetDevice(&now), "cudaGetDevice")) return nullptr;
  return now != device && now < devices ? FindCurrentStream(now) : nullptr;
}

// The deleters: one function per device, so that the deleter's state can be the block's token.
template <int kDevice>
void FreeOn(void* data, void* token) noexcept {
  if (CudaIsUnloading() || CudaIsLostByFork()) return;
  if (CudaGraph* const recording = RecordingOfThread(); recording != nullptr) {
    recording->Refuse("device memory is freed");
  }
  StreamIndex index = kNoStream;
  CudaStream* const stream = FindCurrentStream(kDevice);
  try {
    if (stream != nullptr) index = Of(kDevice).upstream->IndexOf(*stream);
    if (CudaStream* const elsewhere = FindStreamElsewhere(kDevice); elsewhere != nullptr) {
      Of(kDevice).pool->RecordUse({data, token}, Of(kDevice).upstream->IndexOf(*elsewhere));
    }
  } catch (const std::exception& e) {
    LOG(ERROR) << "memory of CUDA " << kDevice << ": " << e.what();
  }
  FreePoolBlock(data, token, index);
}

template <int... kDevices>
MemoryDeleter::Function DeleterOf(int device, std::integer_sequence<int, kDevices...>) {
  static constexpr MemoryDeleter::Function kAll[] = {&FreeOn<kDevices>...};
  return kAll[device];
}

// The bytes in use when they were reported last.
struct Reported {
  Mutex mutex;
  long bytes ABSL_GUARDED_BY(mutex) = 0;
};

void ReportGrowth() {
  static Reported reported;
  long total = 0;
  const std::vector<long> by_gpu = TotalMemoryByGpu();
  for (const long bytes : by_gpu) total += bytes;
  const CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  {
    const MutexLock lock(reported.mutex);
    if (total - reported.bytes < long{options.report_interval_mb} << 20) return;
    reported.bytes = total;
  }
  // Without the lock: a log sink may allocate memory.
  LOG(INFO) << "CUDA memory in use: " << (total >> 20) << " MiB, bytes by device "
            << absl::StrJoin(by_gpu, ", ") << ", peak " << absl::StrJoin(MaxMemoryByGpu(), ", ");
}

}  // namespace

void InitializeCuda() {
  static std::atomic<bool> done{false};
  EnforceCudaIsNotLostByFork();
  if (__builtin_expect(done.load(std::memory_order_acquire), 1)) return;
  static Mutex mutex;
  const CudaMachine machine = TheCudaMachine();
  {
    const MutexLock lock(mutex);
    if (done.load(std::memory_order_relaxed)) return;
    CAFFE_ENFORCE_GT(machine.devices, 0, machine.message, "; run on the CPU");
    if (GlobalCudaMemoryOptions().pinned_cpu) SetCPUAllocator(new PinnedCPUAllocator);
    done.store(true, std::memory_order_release);
  }
  // Without the lock: a log sink may use CUDA.
  if (!machine.message.empty()) LOG(WARNING) << machine.message;
}

std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes) {
  InitializeCuda();
  return NewCudaMemory(nbytes, CurrentStream(CaffeCudaGetDevice()));
}

std::pair<void*, MemoryDeleter> NewCudaMemory(size_t nbytes, CudaStream& stream) {
  if (nbytes != 0) EnforceNotRecording("device memory is allocated");
  const DeviceMemory& memory = Of(stream.device);
  const PoolBlock block = memory.pool->Allocate(nbytes, memory.upstream->IndexOf(stream));
  if (__builtin_expect(GlobalCudaMemoryOptions().tracking, 0)) ReportGrowth();
  return {block.data,
          {DeleterOf(stream.device, std::make_integer_sequence<int, kCompileTimeMaxGpus>()),
           block.token}};
}

void RecordCudaUse(const MemoryDeleter& memory, CudaStream& stream) {
  const auto is_of = [&memory](int device) {
    return memory.function() ==
           DeleterOf(device, std::make_integer_sequence<int, kCompileTimeMaxGpus>());
  };
  if (memory.state() == nullptr) return;
  int device = stream.device;
  if (__builtin_expect(!is_of(device), 0)) {
    for (device = 0; device < kCompileTimeMaxGpus && !is_of(device);) ++device;
    if (device == kCompileTimeMaxGpus) return;  // memory that these pools did not allocate
  }
  DeviceMemory& owner = Of(device);
  const StreamIndex index = owner.upstream->IndexOf(stream);
  if (Pool::HomeOf(memory.state()) == index) return;
  owner.pool->RecordUse(Pool::BlockOf(memory.state()), index);
}

void GrantCudaPoolAccess(int device, int peer) {
  const DeviceMemory* const memory =
      All().devices[static_cast<size_t>(device)].load(std::memory_order_acquire);
  if (memory != nullptr) Grant(*memory, peer);
}

Pool& CudaPool(int device) { return *Of(device).pool; }
CudaUpstream& CudaPoolUpstream(int device) { return *Of(device).upstream; }

std::vector<long> TotalMemoryByGpu() { return BytesByGpu(&PoolStatistics::in_use_bytes); }
std::vector<long> MaxMemoryByGpu() { return BytesByGpu(&PoolStatistics::peak_in_use_bytes); }

std::string CudaMemoryJson() {
  std::vector<PoolSnapshot> snapshots;
  ForEachUsed(
      [&](int, const DeviceMemory& memory) { snapshots.push_back(memory.pool->Snapshot()); });
  if (PinnedPoolIsUsed()) snapshots.push_back(PinnedPool().Snapshot());
  return SnapshotJson(snapshots);
}

size_t ReleaseCachedCudaMemory() {
  size_t bytes = 0;
  ForEachUsed([&](int, const DeviceMemory& memory) { bytes += memory.pool->ReleaseCached(); });
  return bytes;
}

}  // namespace caffe2rt
