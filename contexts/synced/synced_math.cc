#include "contexts/synced/synced_math.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

// Bytes per piece: large enough to amortize the cost of a copy, small compared with large blobs.
constexpr size_t kPieceBytes = size_t{1} << 20;

void CheckFloats(TypeMeta type) {
  CAFFE_ENFORCE(type.Match<float>() || type.Match<double>(),
                "arithmetic on synced memory is for float and double, not for ", type.name());
}

// Calls function(T{}) with the element type. THROWS unless it is float or double.
template <class Function>
auto ForFloats(TypeMeta type, Function function) {
  CheckFloats(type);
  return type.Match<float>() ? function(float{}) : function(double{});
}

template <class Term>
double Sum(TypeMeta type, size_t n, const void* x, Term term) {
  return ForFloats(type, [&](auto element) {
    const auto* values = static_cast<const decltype(element)*>(x);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += term(static_cast<double>(values[i]));
    return sum;
  });
}

// Copies the device data to the host piece by piece, and calls
// function(piece on the host, offset in bytes, elements) for each. If `write_back` is not null, the
// piece is then copied there.
template <class Function>
void ForEachPiece(BaseContext& context, TypeMeta type, size_t n, const void* data, void* write_back,
                  Function function) {
  CheckFloats(type);
  const size_t step = kPieceBytes / type.itemsize();
  std::vector<char> host(std::min(n, step) * type.itemsize());
  for (size_t begin = 0; begin < n; begin += step) {
    const size_t count = std::min(step, n - begin), offset = begin * type.itemsize();
    const size_t nbytes = count * type.itemsize();
    context.CopyBytesToCPU(nbytes, static_cast<const char*>(data) + offset, host.data());
    context.FinishDeviceComputation();
    function(host.data(), offset, count);
    if (write_back == nullptr) continue;
    context.CopyBytesFromCPU(nbytes, host.data(), static_cast<char*>(write_back) + offset);
    context.FinishDeviceComputation();  // the next piece overwrites the host buffer
  }
}

using MathTable = std::array<std::atomic<const SyncedMath*>, kMaxDeviceTypes>;
MathTable& Table() {
  static MathTable* const table = new MathTable{};
  return *table;
}

}  // namespace

namespace internal {

double HostAsum(TypeMeta type, size_t n, const void* x) {
  return Sum(type, n, x, [](double value) { return std::abs(value); });
}

double HostSumsq(TypeMeta type, size_t n, const void* x) {
  return Sum(type, n, x, [](double value) { return value * value; });
}

void HostScale(TypeMeta type, size_t n, double factor, void* x) {
  ForFloats(type, [&](auto element) {
    using T = decltype(element);
    const T narrow = static_cast<T>(factor);
    T* values = static_cast<T*>(x);
    for (size_t i = 0; i < n; ++i) values[i] *= narrow;
  });
}

void HostSubtract(TypeMeta type, size_t n, const void* x, void* y) {
  ForFloats(type, [&](auto element) {
    using T = decltype(element);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    for (size_t i = 0; i < n; ++i) to[i] -= from[i];
  });
}

}  // namespace internal

void SyncedMath::Zero(BaseContext& context, size_t nbytes, void* data) const {
  const std::vector<char> zeros(std::min(nbytes, kPieceBytes));
  for (size_t begin = 0; begin < nbytes; begin += zeros.size()) {
    context.CopyBytesFromCPU(std::min(zeros.size(), nbytes - begin), zeros.data(),
                             static_cast<char*>(data) + begin);
  }
  context.FinishDeviceComputation();  // the copies read `zeros`
}

double SyncedMath::Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const {
  double sum = 0;
  ForEachPiece(context, type, n, x, nullptr, [&](const void* piece, size_t, size_t count) {
    sum += internal::HostAsum(type, count, piece);
  });
  return sum;
}

double SyncedMath::Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const {
  double sum = 0;
  ForEachPiece(context, type, n, x, nullptr, [&](const void* piece, size_t, size_t count) {
    sum += internal::HostSumsq(type, count, piece);
  });
  return sum;
}

void SyncedMath::Scale(BaseContext& context, TypeMeta type, size_t n, double factor,
                       void* x) const {
  ForEachPiece(context, type, n, x, x, [&](void* piece, size_t, size_t count) {
    internal::HostScale(type, count, factor, piece);
  });
}

void SyncedMath::Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                          void* y) const {
  std::vector<char> other;
  ForEachPiece(context, type, n, y, y, [&](void* piece, size_t offset, size_t count) {
    other.resize(count * type.itemsize());
    context.CopyBytesToCPU(other.size(), static_cast<const char*>(x) + offset, other.data());
    context.FinishDeviceComputation();
    internal::HostSubtract(type, count, other.data(), piece);
  });
}

void RegisterSyncedMath(DeviceType type, std::unique_ptr<SyncedMath> math) {
  CAFFE_ENFORCE(IsValidDeviceType(type), "device type of the math is ", static_cast<int>(type),
                ", want 0 to ", kMaxDeviceTypes - 1);
  CAFFE_ENFORCE(math != nullptr, "no math is given for device ", DeviceTypeName(type));
  const SyncedMath* none = nullptr;
  CAFFE_ENFORCE(Table()[type].compare_exchange_strong(none, math.get(), std::memory_order_acq_rel),
                "device ", DeviceTypeName(type), " already has math for synced memory");
  (void)math.release();  // the table owns it for the rest of the process
}

const SyncedMath& SyncedMathOf(DeviceType type) {
  static const SyncedMath* const defaults = new SyncedMath;
  const SyncedMath* math =
      IsValidDeviceType(type) ? Table()[type].load(std::memory_order_acquire) : nullptr;
  return math != nullptr ? *math : *defaults;
}

}  // namespace caffe2rt
