#pragma once
// Arithmetic on the device side of synced memory: what BaseContext does not offer.
//
//   class MyDeviceMath final : public SyncedMath { ... };            // overrides what the device
//   does itself RegisterSyncedMath(type, std::make_unique<MyDeviceMath>());
//   SyncedMathOf(type).Scale(context, TypeMeta::Make<float>(), n, 0.5, data);
//
// Every function has a default that goes through CPU memory in pieces, so that a device without any
// math of its own works from the first day. Elements are float or double; other types THROW.
// Objects have no state and are thread safe.

#include <cstddef>
#include <memory>

#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/context.h"

namespace caffe2rt {

// Work is done on the stream of `context`, a context of the device where the data lies. All
// pointers are the device's. Functions without a result may return before the work is over: the
// caller finishes the context.
class SyncedMath {
 public:
  virtual ~SyncedMath() = default;

  // Sets `nbytes` bytes to 0.
  virtual void Zero(BaseContext& context, size_t nbytes, void* data) const;
  // The sum of absolute values, and of squares, added up in double.
  virtual double Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const;
  virtual double Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const;
  // x *= factor.
  virtual void Scale(BaseContext& context, TypeMeta type, size_t n, double factor, void* x) const;
  // y -= x.
  virtual void Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                        void* y) const;
};

// Gives a device type its math, for the rest of the process. THROWS when it has one already.
void RegisterSyncedMath(DeviceType type, std::unique_ptr<SyncedMath> math);

// What was registered, else the defaults.
const SyncedMath& SyncedMathOf(DeviceType type);

// The same functions over memory that the CPU reads.
namespace internal {
double HostAsum(TypeMeta type, size_t n, const void* x);
double HostSumsq(TypeMeta type, size_t n, const void* x);
void HostScale(TypeMeta type, size_t n, double factor, void* x);
void HostSubtract(TypeMeta type, size_t n, const void* x, void* y);
}  // namespace internal

}  // namespace caffe2rt
