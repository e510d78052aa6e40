#include "python/engine/arrays.h"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// Larger arrays are copied without the interpreter's lock.
constexpr size_t kLargeBytes = 1 << 18;

// A smaller array is copied in less time than its memory is shared.
constexpr Py_ssize_t kLeastShared = 1 << 14;

// Objects of numpy, which are never released: operators may run until the process ends.
struct Numpy {
  nb::object array_type, asarray, empty, object_dtype;
  bool data_is_first = false;  // whether the address of the elements follows the object's head
};

void* DataByBuffer(nb::handle array) {
  Py_buffer buffer{};
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) nb::raise_python_error();
  void* const data = buffer.buf;
  PyBuffer_Release(&buffer);
  return data;
}

void* DataByPlace(nb::handle array) {
  return *reinterpret_cast<void**>(reinterpret_cast<char*>(array.ptr()) + sizeof(PyObject));
}

const Numpy& TheNumpy() {
  static const Numpy* const numpy = [] {
    const nb::module_ module = nb::module_::import_("numpy");
    auto* const made = new Numpy{module.attr("ndarray"), module.attr("asarray"),
                                 module.attr("empty"), module.attr("dtype")("O")};
    const nb::object array = made->empty(1);
    made->data_is_first = DataByPlace(array) == DataByBuffer(array);
    return made;
  }();
  return *numpy;
}

// The elements of a new array. numpy's ABI has them first in the object; asking for a buffer takes as
// long as the rest of fetching a small tensor.
void* DataOf(nb::handle array) {
  return TheNumpy().data_is_first ? DataByPlace(array) : DataByBuffer(array);
}

// An element type that numpy and Caffe2 both have. The code is numpy's character in the format of a
// buffer; several characters may denote one type.
struct ElementType {
  TypeMeta meta;
  const char* numpy_name;
  nb::dlpack::dtype dlpack;
  nb::object dtype;
};

const std::vector<ElementType>& ElementTypes() {
  static const auto* const types = [] {
    using nb::dlpack::dtype_code;
    const auto row = [](TypeMeta meta, const char* name, dtype_code code) {
      const auto bits = static_cast<uint8_t>(meta.itemsize() * 8);
      return ElementType{meta,
                         name,
                         {static_cast<uint8_t>(code), bits, 1},
                         nb::module_::import_("numpy").attr("dtype")(name)};
    };
    return new std::vector<ElementType>{
        row(TypeMeta::Make<float>(), "float32", dtype_code::Float),
        row(TypeMeta::Make<int64_t>(), "int64", dtype_code::Int),
        row(TypeMeta::Make<int>(), "int32", dtype_code::Int),
        row(TypeMeta::Make<double>(), "float64", dtype_code::Float),
        row(TypeMeta::Make<bool>(), "bool", dtype_code::Bool),
        row(TypeMeta::Make<uint8_t>(), "uint8", dtype_code::UInt),
        row(TypeMeta::Make<int8_t>(), "int8", dtype_code::Int),
        row(TypeMeta::Make<float16>(), "float16", dtype_code::Float),
        row(TypeMeta::Make<uint16_t>(), "uint16", dtype_code::UInt),
        row(TypeMeta::Make<int16_t>(), "int16", dtype_code::Int),
        row(TypeMeta::Make<uint32_t>(), "uint32", dtype_code::UInt),
        row(TypeMeta::Make<uint64_t>(), "uint64", dtype_code::UInt)};
  }();
  return *types;
}

const ElementType& ElementTypeOf(const TypeMeta& meta) {
  for (const ElementType& type : ElementTypes()) {
    if (type.meta == meta) return type;
  }
  CAFFE_THROW("This type of tensor is not supported by numpy: ", meta.name(),
              "; cast the blob to another element type first");
}

// The type of a buffer's elements in the machine's byte order; an unset TypeMeta for others.
TypeMeta MetaOfFormat(const char* format, size_t itemsize) {
  if (*format == '@' || *format == '=') ++format;
  if (format[0] == '\0' || format[1] != '\0') return {};
  switch (*format) {
    case '?':
      return TypeMeta::Make<bool>();
    case 'b':
      return TypeMeta::Make<int8_t>();
    case 'B':
      return TypeMeta::Make<uint8_t>();
    case 'h':
      return TypeMeta::Make<int16_t>();
    case 'H':
      return TypeMeta::Make<uint16_t>();
    case 'e':
      return TypeMeta::Make<float16>();
    case 'f':
      return TypeMeta::Make<float>();
    case 'd':
      return TypeMeta::Make<double>();
    case 'i':
    case 'l':
    case 'q':
      return itemsize == sizeof(int) ? TypeMeta::Make<int>() : TypeMeta::Make<int64_t>();
    default:
      return {};
  }
}

std::string TextOf(const nb::object& object) {
  return nb::steal<nb::str>(PyObject_Str(object.ptr())).c_str();
}

// The elements of an array, in row-major order and in the machine's byte order.
class ArrayBuffer {
 public:
  explicit ArrayBuffer(nb::handle array) : array_(nb::borrow(array)) {
    if (!Get() || IsForeignOrder()) {
      Release();
      const nb::object order = array_.attr("dtype").attr("newbyteorder")("=");
      array_ = TheNumpy().asarray(array_, order, "C");
      if (!Get()) ThrowUnsupported();
    }
  }
  ~ArrayBuffer() { Release(); }
  ArrayBuffer(const ArrayBuffer&) = delete;
  ArrayBuffer& operator=(const ArrayBuffer&) = delete;

  const Py_buffer& buffer() const { return buffer_; }
  std::vector<int64_t> dims() const { return {buffer_.shape, buffer_.shape + buffer_.ndim}; }
  // The number of elements.
  size_t size() const { return static_cast<size_t>(buffer_.len / buffer_.itemsize); }
  char kind() const { return buffer_.format[std::strlen(buffer_.format) - 1]; }

  [[noreturn]] void ThrowUnsupported() const {
    CAFFE_THROW("This type of numpy array is not supported: ", TextOf(array_.attr("dtype")),
                "; want bool, int8, int16, int32, int64, uint8, uint16, float16, float32, float64 "
                "or object (bytes or str)");
  }

 private:
  bool Get() {
    held_ = PyObject_GetBuffer(array_.ptr(), &buffer_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0;
    if (!held_) PyErr_Clear();
    return held_;
  }
  bool IsForeignOrder() const { return *buffer_.format == '>' || *buffer_.format == '!'; }
  void Release() {
    if (held_) PyBuffer_Release(&buffer_);
    held_ = false;
  }

  nb::object array_;
  Py_buffer buffer_{};
  bool held_ = false;
};

std::string StringOf(nb::handle element) {
  Py_ssize_t size = 0;
  char* data = nullptr;
  if (PyBytes_Check(element.ptr())) {
    if (PyBytes_AsStringAndSize(element.ptr(), &data, &size) != 0) nb::raise_python_error();
    return {data, static_cast<size_t>(size)};
  }
  CAFFE_ENFORCE(PyUnicode_Check(element.ptr()),
                "Unsupported python object type passed into ndarray: ",
                nb::type_name(element.type()).c_str(), "; want bytes or str");
  const char* const text = PyUnicode_AsUTF8AndSize(element.ptr(), &size);
  if (text == nullptr) nb::raise_python_error();
  return {text, static_cast<size_t>(size)};
}

void CopyStrings(const ArrayBuffer& array, std::string* to) {
  auto* const* const elements = static_cast<PyObject* const*>(array.buffer().buf);
  for (size_t i = 0; i < array.size(); ++i) {
    to[i] = elements[i] == nullptr ? std::string() : StringOf(elements[i]);
  }
}

void CopyLarge(void* to, const void* from, size_t nbytes) {
  if (nbytes == 0) return;
  if (nbytes < kLargeBytes) {
    std::memcpy(to, from, nbytes);
    return;
  }
  const nb::gil_scoped_release unlocked;
  std::memcpy(to, from, nbytes);
}

// Copies the elements to the tensor that `get` returns. An array that cannot be copied leaves it as it
// was: `get` is called after the checks.
template <class Get>
void FeedTo(nb::handle array, const Get& get) {
  ArrayBuffer elements(array);
  if (elements.kind() == 's') {  // of a fixed length
    FeedTo(nb::borrow(array).attr("astype")(TheNumpy().object_dtype), get);
    return;
  }
  if (elements.kind() == 'O') {
    Tensor strings(elements.dims(), CPU);
    CopyStrings(elements, strings.mutable_data<std::string>());
    *get() = std::move(strings);
    return;
  }
  const TypeMeta meta =
      MetaOfFormat(elements.buffer().format, static_cast<size_t>(elements.buffer().itemsize));
  if (!meta.IsSet()) elements.ThrowUnsupported();
  Tensor* const tensor = get();
  tensor->Resize(elements.dims());
  CopyLarge(tensor->raw_mutable_data(meta), elements.buffer().buf,
            static_cast<size_t>(elements.buffer().len));
}

nb::object FetchStrings(const Tensor& tensor) {
  nb::object array = TheNumpy().empty(ShapeOf(tensor), TheNumpy().object_dtype);
  const nb::object flat = array.attr("reshape")(-1);
  const auto* const strings = tensor.data<std::string>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    flat[i] = nb::bytes(strings[i].data(), strings[i].size());
  }
  return array;
}

nb::object FetchQuantized(const Int8TensorCPU& tensor) {
  return nb::make_tuple(FetchTensor(tensor.t), tensor.scale, tensor.zero_point);
}

}  // namespace

nb::object ShapeOf(const Tensor& tensor) {
  nb::object shape = nb::steal(PyTuple_New(tensor.dim()));
  for (int i = 0; i < tensor.dim(); ++i) {
    if (PyTuple_SetItem(shape.ptr(), i, PyLong_FromLongLong(tensor.dim(i))) != 0) {
      nb::raise_python_error();
    }
  }
  return shape;
}

bool IsNumpyArray(nb::handle object) {
  return PyObject_IsInstance(object.ptr(), TheNumpy().array_type.ptr()) == 1;
}

void FeedArray(nb::handle array, Tensor* tensor) {
  FeedTo(array, [&] { return tensor; });
}

void FeedArray(nb::handle array, const DeviceOption* option, Blob* blob) {
  const auto device = static_cast<DeviceType>(option == nullptr ? 0 : option->device_type());
  if (device == CPU) {
    FeedTo(array, [&] { return blob->GetMutableTensor(CPU); });
    return;
  }
  Tensor host(CPU);
  FeedArray(array, &host);
  const std::unique_ptr<BaseContext> context = GetStaticContext(device)->CreateContext(*option);
  context->SwitchToDevice();
  blob->GetMutableTensor(device)->CopyFrom(host, context.get());
  context->FinishDeviceComputation();
}

Tensor TensorOverArray(nb::handle array) {
  Tensor tensor(CPU);
  auto elements = std::make_unique<ArrayBuffer>(array);
  const Py_buffer& buffer = elements->buffer();
  const TypeMeta meta = MetaOfFormat(buffer.format, static_cast<size_t>(buffer.itemsize));
  const bool aligned =
      reinterpret_cast<uintptr_t>(buffer.buf) % static_cast<size_t>(buffer.itemsize) == 0;
  if (!meta.IsSet() || !aligned || buffer.len < kLeastShared) {
    elements.reset();
    FeedArray(array, &tensor);
    return tensor;
  }
  tensor.Resize(elements->dims());
  tensor.ShareExternalPointer(buffer.buf, meta, static_cast<size_t>(buffer.len),
                              [owner = elements.release()](void*) {
                                if (!nb::is_alive()) return;
                                const nb::gil_scoped_acquire locked;
                                delete owner;
                              });
  tensor.MarkReadOnly();
  return tensor;
}

nb::object FetchTensor(const Tensor& tensor) {
  CAFFE_ENFORCE(tensor.IsShaped(), "Trying to fetch uninitialized tensor");
  if (tensor.GetDeviceType() != CPU || tensor.opaque_layout() != nullptr) {
    return FetchTensor(Tensor(tensor, CPU));
  }
  if (tensor.IsType<std::string>()) return FetchStrings(tensor);
  nb::object array = TheNumpy().empty(ShapeOf(tensor), ElementTypeOf(tensor.meta()).dtype);
  CopyLarge(DataOf(array), tensor.raw_data(), tensor.nbytes());
  return array;
}

nb::object FetchBlob(const std::string& name, const Blob& blob) {
  if (blob.IsType<Tensor>()) return FetchTensor(blob.Get<Tensor>());
  if (blob.IsType<std::string>()) {
    const auto& text = blob.Get<std::string>();
    return nb::bytes(text.data(), text.size());
  }
  if (blob.IsType<Int8TensorCPU>()) return FetchQuantized(blob.Get<Int8TensorCPU>());
  const std::string text = MakeString(name, ", a C++ native class of type ", blob.TypeName(), ".");
  return nb::bytes(text.data(), text.size());
}

nb::object NumpyTypeOf(const TypeMeta& meta) {
  return meta.Match<std::string>() ? TheNumpy().object_dtype : ElementTypeOf(meta).dtype;
}

namespace {

// An array over `data`, which belongs to the tensor.
nb::object ArrayOver(void* data, const Tensor& tensor) {
  const ElementType& type = ElementTypeOf(tensor.meta());
  if (tensor.numel() == 0) return TheNumpy().empty(ShapeOf(tensor), type.dtype);
  const std::vector<size_t> shape(tensor.dims().begin(), tensor.dims().end());
  auto* const owner = new std::shared_ptr<Storage>(tensor.storage());
  const nb::capsule keeper(owner, [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<Storage>*>(pointer);
  });
  return nb::cast(
      nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), keeper, nullptr, type.dlpack));
}

}  // namespace

nb::object ViewOfTensor(Tensor* tensor) {
  if (!tensor->dtype_initialized()) {
    if (!tensor->IsShaped()) tensor->Resize(0);
    tensor->mutable_data<float>();
  }
  if (tensor->IsType<std::string>()) return FetchStrings(*tensor);
  return ArrayOver(tensor->raw_mutable_data(), *tensor);
}

nb::object ArrayOverTensor(const Tensor& tensor) {
  CAFFE_ENFORCE(tensor.IsShaped() && tensor.meta().IsSet(), "the tensor has no data");
  if (tensor.IsType<std::string>()) return FetchTensor(tensor);
  if (tensor.GetDeviceType() != CPU || tensor.opaque_layout() != nullptr) {
    return ArrayOverTensor(Tensor(tensor, CPU));
  }
  return ArrayOver(const_cast<void*>(tensor.raw_data()), tensor);
}

}  // namespace caffe2rt
