#include "contexts/onednn/onednn_context.h"

#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

namespace {

class IDEEPStaticContext final : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return caffe2rt::GetStaticContext(CPU)->New(nbytes);
  }
  std::unique_ptr<BaseContext> CreateContext() override { return std::make_unique<IDEEPContext>(); }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override {
    return std::make_unique<IDEEPContext>(option);
  }
  DeviceType GetDeviceType() override { return IDEEP; }
};

}  // namespace

BaseStaticContext* GetIDEEPStaticContext() {
  static IDEEPStaticContext* const context = new IDEEPStaticContext;  // outlives every tensor
  return context;
}

// The work of both devices is complete when a call returns, so their events behave alike.
void RegisterIDEEPContext() {
  static const bool once = [] {
    EventFunctions& row = EventFunctionsOf(IDEEP);
    row = EventFunctionsOf(CPU);
    row.wait[IDEEP] = row.wait[CPU];
    EventFunctionsOf(CPU).wait[IDEEP] = row.wait[CPU];
    RegisterStaticContext(IDEEP, "IDEEP", GetIDEEPStaticContext());
    return true;
  }();
  (void)once;
}

IDEEPContext::IDEEPContext(const DeviceOption& option) {
  CAFFE_ENFORCE_EQ(option.device_type(), static_cast<int>(IDEEP),
                   "device type of an IDEEPContext's device option");
  CAFFE_ENFORCE_EQ(option.device_id(), 0, "device id of an IDEEPContext's device option");
}

void IDEEPContext::CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) {
  if (nbytes == 0) return;
  CAFFE_ENFORCE(src != nullptr && dst != nullptr, "copy of ", ByteSizeText(nbytes),
                " from or to null");
  std::memmove(dst, src, nbytes);  // a net may copy between overlapping views
}

}  // namespace caffe2rt
