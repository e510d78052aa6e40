#pragma once
// The CPU as a device. All work runs synchronously on the calling thread.
//
// CPUStaticContext is thread safe; a CPUContext is used by one thread at a time.

#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "caffe2_core/base/random_seed.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/cpu_allocator.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class CPUStaticContext final : public BaseStaticContext {
 public:
  // Returns memory from GetCPUAllocator(), zeroed by default (see CPUMemoryOptions). THROWS if the
  // limit is reached or the system is out of memory.
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override;
  std::unique_ptr<BaseContext> CreateContext() override;
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return CPU; }
};

// Returns the static context of the process.
CPUStaticContext* GetCPUStaticContext();

// Registers the static context and the events of the CPU. Later calls do nothing.
void RegisterCPUContext();

class CPUContext final : public ContextWithResult<CPUContext> {
 public:
  using rand_gen_type = std::mt19937;

  CPUContext();
  // If set, the option's random_seed seeds the generator. THROWS if the option has another device
  // type.
  explicit CPUContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return CPU; }
  static std::pair<void*, MemoryDeleter> New(size_t nbytes) {
    return GetCPUStaticContext()->New(nbytes);
  }
  BaseStaticContext* GetStaticContext() const override { return GetCPUStaticContext(); }
  DeviceType device_type() const override { return CPU; }

  void SwitchToDevice(int) override {}
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event& event) override { event.Wait(CPU, this); }
  void Record(Event* event, const char* error = nullptr) const override {
    event->Record(CPU, this, error);
  }
  void Finish() {}

  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override {
    CopyBytesSameDevice(nbytes, src, dst);
  }
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override {
    CopyBytesSameDevice(nbytes, src, dst);
  }
  bool SupportsNonFundamentalTypes() const override { return true; }

  // Caffe2's typed copies; Src and Dst are context classes. Copies between the CPU and another
  // device use the other context's copy and wait for it.
  template <class T, class Src, class Dst>
  void Copy(size_t n, const T* src, T* dst);
  template <class Src, class Dst>
  void CopyBytes(size_t nbytes, const void* src, void* dst);
  template <class Src, class Dst>
  void CopyItems(TypeMeta meta, size_t n, const void* src, void* dst);

  // The generator of this context, created on first use from the seed. If a random place is set that
  // has streams, the generator starts with the stream of each run.
  rand_gen_type& RandGenerator() {
    if (place_ != nullptr && __builtin_expect(place_->begun() != begun_, 0)) StartStream();
    if (__builtin_expect(!generator_, 0)) generator_.emplace(random_seed_);
    return *generator_;
  }
  // Has no effect if the device option has a random_seed. REQUIRES: `place` outlives this object.
  void SetRandomPlace(const RandomPlace* place) {
    if (!has_own_seed_) place_ = place;
  }
  uint32_t random_seed() const { return random_seed_; }

  static bool HasAsyncPartDefault() { return false; }
  static bool SupportsAsyncScheduling() { return false; }
  static bool IsStreamFree(const DeviceOption&, int) { return true; }

 private:
  void StartStream();

  uint32_t random_seed_;
  bool has_own_seed_ = false;
  const RandomPlace* place_ = nullptr;
  uint64_t begun_ = 0;  // place_->begun() when the generator's stream was started
  std::optional<rand_gen_type> generator_;
};

template <class T, class Src, class Dst>
void CPUContext::Copy(size_t n, const T* src, T* dst) {
  CopyItems<Src, Dst>(TypeMeta::Make<T>(), n, src, dst);
}

template <class Src, class Dst>
void CPUContext::CopyBytes(size_t nbytes, const void* src, void* dst) {
  CopyItems<Src, Dst>(TypeMeta::Make<char>(), nbytes, src, dst);
}

template <class Src, class Dst>
void CPUContext::CopyItems(TypeMeta meta, size_t n, const void* src, void* dst) {
  if constexpr (Src::GetDeviceType() == CPU && Dst::GetDeviceType() == CPU) {
    CopyItemsSameDevice(meta, n, src, dst);
  } else if constexpr (Src::GetDeviceType() == CPU) {
    Dst other;
    other.CopyItemsFromCPU(meta, n, src, dst);
    other.FinishDeviceComputation();
  } else {
    Src other;
    other.CopyItemsToCPU(meta, n, src, dst);
    other.FinishDeviceComputation();
  }
}

}  // namespace caffe2rt
#pragma GCC visibility pop
