#include "contexts/cuda/cuda_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string_view>

#include "caffe2_core/base/mutex.h"
#include "contexts/cuda/cuda_allocator.h"

namespace caffe2rt {
namespace {

using State = CudaMachine::State;

CudaMachine Unusable(State state, const std::string& reason, cudaError_t code) {
  cudaGetLastError();
  return {state, 0, 0,
          MakeString("CUDA: ", reason, " (cudaGetDeviceCount: ", CudaErrorText(code), ")")};
}

// `driver` is cudaDriverGetVersion's number: 0 without a driver.
std::string DriverProblem(int driver) {
  constexpr int kMajor = CUDART_VERSION / 1000, kMinor = CUDART_VERSION % 1000 / 10;
  if (driver == 0) return "no driver on this machine";
  char text[512] = "";
  if (std::FILE* const file = std::fopen("/proc/driver/nvidia/version", "re")) {
    text[std::fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)std::fclose(file);
  }
  const std::string release = internal::DriverRelease(text);
  return MakeString("the driver", release.empty() ? "" : " " + release, " is for CUDA ",
                    driver / 1000, ".", driver % 1000 / 10, ", want one for CUDA ", kMajor,
                    ".0 or later", kMajor == 13 ? " (release 580 or later)" : "",
                    "; install it, or on a data center GPU the package cuda-compat-", kMajor, "-",
                    kMinor);
}

CudaMachine LostByFork() {
  return {State::kLostByFork, 0, 0,
          "CUDA: this process was forked after CUDA had started and cannot use it"};
}

// Properties of devices, queried on demand and never destroyed.
struct DeviceFacts {
  Mutex mutex;  // serializes writers; readers load atomically
  std::array<std::atomic<const cudaDeviceProp*>, kCompileTimeMaxGpus> properties{};
  // 0: unknown; 1: enabled; 2: not possible. peers[i][j], i < j, covers both directions.
  std::array<std::array<std::atomic<int>, kCompileTimeMaxGpus>, kCompileTimeMaxGpus> peers{};
};
DeviceFacts& Facts() {
  static DeviceFacts* const facts = new DeviceFacts;
  return *facts;
}

bool CanAccessPeer(int device, int peer) {
  if (device / kCudaMaxPeerSize != peer / kCudaMaxPeerSize) return false;
  int can = 0;
  CUDA_ENFORCE(cudaDeviceCanAccessPeer(&can, device, peer), "device ", device, ", peer ", peer);
  return can != 0;
}

void EnableOneWay(int device, int peer) {
  const DeviceGuard guard(device);
  const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // other code in this program has enabled it
    return;
  }
  CUDA_ENFORCE(code, "access of device ", device, " to the memory of device ", peer);
}

}  // namespace

// The line is "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 ...".
std::string internal::DriverRelease(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::string line = text.substr(0, text.find('\n'));
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    const size_t digits = std::min(word.find_first_not_of(kDigits), word.size());
    if (digits > 0 && digits < word.size() && word[digits] == '.') return word;
    begin = end + 1;
  }
  return "";
}

CudaMachine QueryCudaMachine() {
  if (CudaIsLostByFork()) return LostByFork();
  internal::WatchForks();
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver || code == cudaErrorStubLibrary) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
    return Unusable(State::kNoDriver, DriverProblem(driver), code);
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) {
    return Unusable(State::kNoDevice, "no device on this machine", code);
  }
  if (code != cudaSuccess) {
    return Unusable(State::kUnavailable, "the driver did not start", code);
  }
  if (count > kCompileTimeMaxGpus) {
    return {
        State::kTooMany, kCompileTimeMaxGpus, count,
        MakeString("CUDA: ", count, " devices, more than the ", kCompileTimeMaxGpus,
                   " that can be used: only devices 0 to ", kCompileTimeMaxGpus - 1, " are used")};
  }
  return {State::kReady, count, count, ""};
}

CudaMachine TheCudaMachine() {
  static const CudaMachine* const machine = new CudaMachine(QueryCudaMachine());
  return CudaIsLostByFork() ? LostByFork() : *machine;
}

int NumCudaDevices() {
  // Called often, so do not copy the text.
  static const int devices = TheCudaMachine().devices;
  return CudaIsLostByFork() ? 0 : devices;
}

void EnforceCudaDevice(int device) {
  const int count = NumCudaDevices();
  if (__builtin_expect(device >= 0 && device < count, 1)) return;
  CAFFE_ENFORCE_GT(count, 0, TheCudaMachine().message, "; run on the CPU");
  CAFFE_THROW("CUDA device ", device, " is not on this machine, want 0 to ", count - 1);
}

int GetGPUIDForPointer(const void* data) {
  if (data == nullptr || NumCudaDevices() == 0) return -1;
  if (internal::NoCudaDeviceIsStarted()) return -1;  // the query would start one
  AvoidNewCudaContext(-1);
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
}

const cudaDeviceProp& GetDeviceProperty(int device) {
  EnforceCudaDevice(device);
  DeviceFacts& facts = Facts();
  auto& known = facts.properties[static_cast<size_t>(device)];
  // Every launch calls this, so take no lock once the properties are known.
  if (const cudaDeviceProp* const found = known.load(std::memory_order_acquire)) return *found;
  const MutexLock lock(facts.mutex);
  if (const cudaDeviceProp* const found = known.load(std::memory_order_relaxed)) return *found;
  auto asked = std::make_unique<cudaDeviceProp>();
  CUDA_ENFORCE(cudaGetDeviceProperties(asked.get(), device), "device ", device);
  known.store(asked.get(), std::memory_order_release);
  return *asked.release();
}

int GetDeviceAttribute(int device, cudaDeviceAttr attribute) {
  EnforceCudaDevice(device);
  int value = 0;
  CUDA_ENFORCE(cudaDeviceGetAttribute(&value, attribute, device), "attribute ",
               static_cast<int>(attribute), " of device ", device);
  return value;
}

std::string DeviceQuery(int device) {
  const cudaDeviceProp& facts = GetDeviceProperty(device);
  return MakeString(
      "device ", device, ": ", facts.name, "\n  compute capability ", facts.major, ".", facts.minor,
      "\n  memory ", facts.totalGlobalMem >> 20, " MiB, L2 cache ", facts.l2CacheSize >> 10,
      " KiB\n  multiprocessors ", facts.multiProcessorCount, " at ",
      GetDeviceAttribute(device, cudaDevAttrClockRate) / 1000, " MHz, memory at ",
      GetDeviceAttribute(device, cudaDevAttrMemoryClockRate) / 1000, " MHz\n  shared memory ",
      facts.sharedMemPerBlock >> 10, " KiB a block, registers ", facts.regsPerBlock,
      " a block, warp ", facts.warpSize, "\n  threads ", facts.maxThreadsPerBlock,
      " a block, grid ", facts.maxGridSize[0], " x ", facts.maxGridSize[1], " x ",
      facts.maxGridSize[2], "\n");
}

bool TensorCoreAvailable() {
  for (int device = 0; device < NumCudaDevices(); ++device) {
    if (GetDeviceAttribute(device, cudaDevAttrComputeCapabilityMajor) < 7) return false;
  }
  return HasCudaGPU();
}

bool GetCudaPeerAccessPattern(std::vector<std::vector<bool>>* pattern) {
  const auto count = static_cast<size_t>(NumCudaDevices());
  if (count == 0) return false;
  pattern->assign(count, std::vector<bool>(count, false));
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      (*pattern)[i][j] = i == j || CanAccessPeer(static_cast<int>(i), static_cast<int>(j));
    }
  }
  return true;
}

bool EnableCudaPeerAccess(int device, int peer) {
  EnforceCudaDevice(device);
  EnforceCudaDevice(peer);
  if (device == peer) return true;
  DeviceFacts& facts = Facts();
  const auto low = static_cast<size_t>(std::min(device, peer));
  const auto high = static_cast<size_t>(std::max(device, peer));
  std::atomic<int>& state = facts.peers[low][high];
  if (const int known = state.load(std::memory_order_acquire); known != 0) return known == 1;
  const MutexLock lock(facts.mutex);
  if (const int known = state.load(std::memory_order_relaxed); known != 0) return known == 1;
  const bool can = CanAccessPeer(device, peer) && CanAccessPeer(peer, device);
  if (can) {
    EnableOneWay(device, peer);
    EnableOneWay(peer, device);
    // The driver's pools have separate access lists.
    GrantCudaPoolAccess(device, peer);
    GrantCudaPoolAccess(peer, device);
  }
  state.store(can ? 1 : 2, std::memory_order_release);
  return can;
}

void internal::WithPeers(int device,
                         const std::function<void(const std::vector<int>& peers)>& use) {
  DeviceFacts& facts = Facts();
  const MutexLock lock(facts.mutex);
  std::vector<int> peers;
  for (int peer = 0; peer < kCompileTimeMaxGpus; ++peer) {
    const auto low = static_cast<size_t>(std::min(device, peer));
    const auto high = static_cast<size_t>(std::max(device, peer));
    if (facts.peers[low][high].load(std::memory_order_relaxed) == 1) peers.push_back(peer);
  }
  use(peers);
}

}  // namespace caffe2rt
