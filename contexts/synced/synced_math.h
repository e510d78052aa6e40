#pragma once
// Arithmetic on the device side of synced memory, which BaseContext does not provide.
//
//   class MyDeviceMath final : public SyncedMath { ... };   // overrides what the device implements
//   RegisterSyncedMath(type, std::make_unique<MyDeviceMath>());
//   SyncedMathOf(type).Scale(context, TypeMeta::Make<float>(), n, 0.5, data);
//
// Every function has a default that copies the data through CPU memory in pieces, so a device needs
// no arithmetic of its own. Elements are float or double; other types THROW. Objects have no state
// and are thread safe.

#include <cstddef>
#include <memory>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/context.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The work runs on the stream of `context`, a context of the device that holds the data. All
// pointers are device pointers. Functions without a result may return before the work has finished;
// the caller must finish the context.
class SyncedMath {
 public:
  virtual ~SyncedMath() = default;

  // Sets `nbytes` bytes to 0.
  virtual void Zero(BaseContext& context, size_t nbytes, void* data) const;
  // The sum of absolute values, and the sum of squares, accumulated in double.
  virtual double Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const;
  virtual double Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const;
  // x *= factor.
  virtual void Scale(BaseContext& context, TypeMeta type, size_t n, double factor, void* x) const;
  // y -= x.
  virtual void Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                        void* y) const;
};

// Registers the arithmetic of a device type for the rest of the process. THROWS if the type has one
// already.
void RegisterSyncedMath(DeviceType type, std::unique_ptr<SyncedMath> math);

// Returns the registered arithmetic of the type, or else the defaults.
const SyncedMath& SyncedMathOf(DeviceType type);

// The same functions over CPU memory.
namespace internal {
double HostAsum(TypeMeta type, size_t n, const void* x);
double HostSumsq(TypeMeta type, size_t n, const void* x);
void HostScale(TypeMeta type, size_t n, double factor, void* x);
void HostSubtract(TypeMeta type, size_t n, const void* x, void* y);
}  // namespace internal

}  // namespace caffe2rt
#pragma GCC visibility pop
