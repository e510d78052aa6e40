#include "caffe2_core/io/npy_elements.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/narrow_number.h"

namespace caffe2rt::internal {
namespace {

// Bytes of ml_dtypes' float8_e5m2, the only floating point of 8 bits that NumPy writes as "f1".
void StoreFloat8(const char* from, int64_t stride, int64_t count, bool /*swap*/, char* to,
                 const std::string& /*subject*/) {
  for (int64_t i = 0; i < count; ++i, from += stride, to += sizeof(float)) {
    const float number = NarrowToFloat(NarrowFormat::kFloat8E5M2, static_cast<uint8_t>(*from));
    std::memcpy(to, &number, sizeof(number));
  }
}

uint8_t SwapBytes(uint8_t value) { return value; }
uint16_t SwapBytes(uint16_t value) { return __builtin_bswap16(value); }
uint32_t SwapBytes(uint32_t value) { return __builtin_bswap32(value); }
uint64_t SwapBytes(uint64_t value) { return __builtin_bswap64(value); }

// Implements NpyElementType::store. `File` is an unsigned integer of the size of the file's
// elements; `To` is bool, int64_t or `File`.
template <class File, class To>
void Store(const char* from, int64_t stride, int64_t count, bool swap, char* to,
           const std::string& subject) {
  for (int64_t i = 0; i < count; ++i, from += stride, to += sizeof(To)) {
    File value;
    std::memcpy(&value, from, sizeof(value));
    if (swap) value = SwapBytes(value);
    if constexpr (std::is_same_v<File, uint64_t> && std::is_same_v<To, int64_t>) {
      CAFFE_ENFORCE_LE(value, static_cast<uint64_t>(INT64_MAX), "an element of \"", subject,
                       "\" (uint64) that is to become int64");
    }
    const To element = static_cast<To>(value);
    std::memcpy(to, &element, sizeof(element));
  }
}

struct Axis {
  int64_t size;
  int64_t from_stride, to_stride;  // bytes
};

// The axes with more than one element. Axes of one element are dropped, since each would cost a
// loop step per element.
std::vector<Axis> AxesOf(const std::vector<int64_t>& shape, int64_t file_bytes, int64_t bytes) {
  std::vector<Axis> axes;
  for (const int64_t size : shape) {
    if (size > 1) axes.push_back({size, 0, 0});
  }
  for (Axis& axis : axes) {
    axis.from_stride = file_bytes;
    file_bytes *= axis.size;
  }
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->to_stride = bytes;
    bytes *= axis->size;
  }
  return axes;
}

// Copies between two orders of axes. A large block is split in half at the axis with the largest
// Extent, that is, an axis that is long and far from dense in both orders. A small block then
// touches few cache lines, and each line is fetched about once (Frigo et al. 1999, cache-oblivious
// transposition).
class Reorder {
 public:
  Reorder(const NpyElementType& type, bool swap, std::vector<Axis> axes, const std::string& subject)
      : type_(type), swap_(swap), axes_(std::move(axes)), subject_(subject) {}

  void Copy(const char* from, char* to) {
    constexpr int64_t kSmallBlock = 512;
    int64_t count = 1;
    Axis* widest = nullptr;
    for (Axis& axis : axes_) {
      count *= axis.size;
      if (axis.size > 1 && (widest == nullptr || Extent(axis) > Extent(*widest))) widest = &axis;
    }
    if (count <= kSmallBlock) return CopyAxis(0, from, to);
    const int64_t size = widest->size, half = size / 2;
    widest->size = half;
    Copy(from, to);
    widest->size = size - half;
    Copy(from + half * widest->from_stride, to + half * widest->to_stride);
    widest->size = size;
  }

 private:
  static int64_t Extent(const Axis& axis) {
    return axis.size * std::min(axis.from_stride, axis.to_stride);
  }

  void CopyAxis(size_t i, const char* from, char* to) const {
    const Axis& axis = axes_[i];
    if (i + 1 == axes_.size()) {
      return type_.store(from, axis.from_stride, axis.size, swap_, to, subject_);
    }
    for (int64_t k = 0; k < axis.size; ++k) {
      CopyAxis(i + 1, from + k * axis.from_stride, to + k * axis.to_stride);
    }
  }

  const NpyElementType& type_;
  const bool swap_;
  std::vector<Axis> axes_;  // the last one is dense in the tensor
  const std::string& subject_;
};

}  // namespace

const std::vector<NpyElementType>& NpyElementTypes() {
  static const std::vector<NpyElementType> types = {
      {"b1", TypeMeta::Make<bool>(), 1, false, Store<uint8_t, bool>},
      {"i1", TypeMeta::Make<int8_t>(), 1, true, Store<uint8_t, uint8_t>},
      {"u1", TypeMeta::Make<uint8_t>(), 1, true, Store<uint8_t, uint8_t>},
      {"i2", TypeMeta::Make<int16_t>(), 2, true, Store<uint16_t, uint16_t>},
      {"u2", TypeMeta::Make<uint16_t>(), 2, true, Store<uint16_t, uint16_t>},
      {"i4", TypeMeta::Make<int32_t>(), 4, true, Store<uint32_t, uint32_t>},
      {"i8", TypeMeta::Make<int64_t>(), 8, true, Store<uint64_t, uint64_t>},
      {"f2", TypeMeta::Make<float16>(), 2, true, Store<uint16_t, uint16_t>},
      {"f4", TypeMeta::Make<float>(), 4, true, Store<uint32_t, uint32_t>},
      {"f8", TypeMeta::Make<double>(), 8, true, Store<uint64_t, uint64_t>},
      {"f1", TypeMeta::Make<float>(), 1, false, StoreFloat8},
      {"u4", TypeMeta::Make<int64_t>(), 4, false, Store<uint32_t, int64_t>},
      {"u8", TypeMeta::Make<int64_t>(), 8, false, Store<uint64_t, int64_t>},
      // Only written: files have been read as int64 since before there were such tensors.
      {"u4", TypeMeta::Make<uint32_t>(), 4, true, Store<uint32_t, uint32_t>},
      {"u8", TypeMeta::Make<uint64_t>(), 8, true, Store<uint64_t, uint64_t>},
  };
  return types;
}

void CopyNpyElements(const NpyElementType& type, bool swap, bool fortran_order,
                     const std::vector<int64_t>& shape, std::string_view data, char* to,
                     const std::string& subject) {
  const auto file_bytes = static_cast<int64_t>(type.file_bytes);
  const std::vector<Axis> axes =
      AxesOf(shape, file_bytes, static_cast<int64_t>(type.meta.itemsize()));
  if (data.empty()) return;
  if (!fortran_order || axes.size() < 2) {
    if (type.same_bits && !swap) {
      std::memcpy(to, data.data(), data.size());
      return;
    }
    const int64_t count = static_cast<int64_t>(data.size()) / file_bytes;
    type.store(data.data(), file_bytes, count, swap, to, subject);
    return;
  }
  Reorder(type, swap, axes, subject).Copy(data.data(), to);
}

}  // namespace caffe2rt::internal
