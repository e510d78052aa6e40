#include "contexts/cpu/cpu_context.h"

#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/cpu_event.h"

namespace caffe2rt {

std::pair<void*, MemoryDeleter> CPUStaticContext::New(size_t nbytes) const {
  return NewCPUMemory(nbytes);
}

std::unique_ptr<BaseContext> CPUStaticContext::CreateContext() {
  return std::make_unique<CPUContext>();
}
std::unique_ptr<BaseContext> CPUStaticContext::CreateContext(const DeviceOption& option) {
  return std::make_unique<CPUContext>(option);
}

CPUStaticContext* GetCPUStaticContext() {
  static CPUStaticContext* const context = new CPUStaticContext;  // outlives every tensor
  return context;
}

void RegisterCPUContext() {
  static const bool once = [] {
    RegisterCPUEvents();
    RegisterStaticContext(CPU, "CPU", GetCPUStaticContext());
    return true;
  }();
  (void)once;
}

CPUContext::CPUContext() : random_seed_(RandomNumberSeed()) {}

CPUContext::CPUContext(const DeviceOption& option)
    : random_seed_(option.has_random_seed() ? option.random_seed() : RandomNumberSeed()),
      has_own_seed_(option.has_random_seed()) {
  CAFFE_ENFORCE_EQ(option.device_type(), static_cast<int>(CPU),
                   "device type of a CPUContext's device option");
}

void CPUContext::StartStream() {
  begun_ = place_->begun();
  if (begun_ == 0) return;  // the seed was removed
  RandomWords words(place_->key());
  if (generator_.has_value()) {
    generator_->seed(words);
  } else {
    generator_.emplace(words);
  }
}

void CPUContext::CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) {
  if (nbytes == 0) return;
  CAFFE_ENFORCE(src != nullptr && dst != nullptr, "copy of ", ByteSizeText(nbytes),
                " from or to null");
  std::memmove(dst, src, nbytes);  // a net may copy between overlapping views
}

}  // namespace caffe2rt
