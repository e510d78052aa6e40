#include "python/engine/dlpack.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/float16.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr char kCapsule[] = "dltensor";
constexpr char kUsedCapsule[] = "used_dltensor";

// The layout that the format prescribes.
struct DLTensor {
  void* data;
  int32_t device_type;  // 1: CPU
  int32_t device_id;
  int32_t rank;
  uint8_t code;  // 0: int, 1: unsigned, 2: float, 4: bfloat, 6: bool
  uint8_t bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor* self);
};

struct Type {
  TypeMeta meta;
  uint8_t code;
  uint8_t bits;
};

const std::vector<Type>& Types() {
  static const auto* const types = new std::vector<Type>{
      {TypeMeta::Make<float>(), 2, 32},    {TypeMeta::Make<double>(), 2, 64},
      {TypeMeta::Make<float16>(), 2, 16},  {TypeMeta::Make<int8_t>(), 0, 8},
      {TypeMeta::Make<int16_t>(), 0, 16},  {TypeMeta::Make<int>(), 0, 32},
      {TypeMeta::Make<int64_t>(), 0, 64},  {TypeMeta::Make<uint8_t>(), 1, 8},
      {TypeMeta::Make<uint16_t>(), 1, 16}, {TypeMeta::Make<bool>(), 6, 8},
      {TypeMeta::Make<uint32_t>(), 1, 32}, {TypeMeta::Make<uint64_t>(), 1, 64},
      {TypeMeta::Make<bfloat16>(), 4, 16}};
  return *types;
}

// Keeps the memory and the shape while another library uses them.
struct Shared {
  DLManagedTensor managed{};
  std::vector<int64_t> shape;
  std::shared_ptr<Storage> storage;
};

void FreeUnused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kCapsule)) return;  // another library took it over
  auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

void CheckPacked(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return;
  int64_t want = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.shape[i] != 1) {
      CAFFE_ENFORCE_EQ(tensor.strides[i], want, "stride of dimension ", i,
                       " of a DLPack tensor; only row-major tensors are supported");
    }
    want *= tensor.shape[i];
  }
}

}  // namespace

nb::object DLPackOf(Tensor* tensor) {
  void* const data = tensor->raw_mutable_data();
  const Type* type = nullptr;
  for (const Type& row : Types()) {
    if (row.meta == tensor->meta()) type = &row;
  }
  CAFFE_ENFORCE(type != nullptr, "DLPack has no element type for ", tensor->meta().name());
  auto shared = std::make_unique<Shared>();
  shared->shape = tensor->dims();
  shared->storage = tensor->storage();
  shared->managed.tensor = {
      data, 1, 0, tensor->dim(), type->code, type->bits, 1, shared->shape.data(), nullptr, 0};
  shared->managed.context = shared.get();
  shared->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Shared*>(self->context);
  };
  nb::object capsule = nb::steal(PyCapsule_New(&shared->managed, kCapsule, FreeUnused));
  if (!capsule.is_valid()) nb::raise_python_error();
  (void)shared.release();
  return capsule;
}

void ShareDLPack(nb::handle capsule, Tensor* tensor) {
  auto* const managed =
      static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  if (managed == nullptr) nb::raise_python_error();
  const DLTensor& from = managed->tensor;
  CAFFE_ENFORCE_EQ(from.device_type, 1, "device type of a DLPack tensor");
  const Type* type = nullptr;
  for (const Type& row : Types()) {
    if (row.code == from.code && row.bits == from.bits && from.lanes == 1) type = &row;
  }
  CAFFE_ENFORCE(type != nullptr, "the library has no element type for DLPack's code ", +from.code,
                " with ", +from.bits, " bits and ", from.lanes, " lanes");
  CheckPacked(from);
  tensor->Resize(std::vector<int64_t>(from.shape, from.shape + from.rank));
  void* const data = static_cast<char*>(from.data) + from.byte_offset;
  tensor->ShareExternalPointer(data, type->meta, 0, [managed](void*) {
    if (managed->deleter == nullptr || !nb::is_alive()) return;
    const nb::gil_scoped_acquire locked;  // the memory may belong to a Python object
    managed->deleter(managed);
  });
  PyCapsule_SetName(capsule.ptr(), kUsedCapsule);
}

}  // namespace caffe2rt
