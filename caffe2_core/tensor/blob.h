#pragma once
// Blob: a container for one object of any type, usually a Tensor. A workspace maps names to blobs.
//
//   blob.GetMutable<int>();                  // replaces an object of another type with a new int
//   blob.Reset(new std::vector<int>(3));     // takes ownership of the vector
//   const Tensor& t = blob.Get<Tensor>();    // THROWS if it is not a Tensor, naming both types
//
// Movable, not copyable. Not thread safe; different blobs are independent.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class BlobProto;

// Maps a C++ type T that is requested from a blob to the type that the blob stores; by default, T
// itself. A specialization can store a class that is derived from Tensor, and adds no data members,
// as a Tensor. Its Accepts can then restrict the device.
template <class T>
struct BlobContent {
  using Stored = T;
  static bool Accepts(const Stored&) { return true; }
};

class Blob {
 public:
  using DestroyCall = void (*)(void*);

  Blob() = default;
  Blob(Blob&& other) noexcept { swap(other); }
  Blob& operator=(Blob&& other) noexcept {
    Blob moved(std::move(other));
    swap(moved);
    return *this;
  }
  Blob(const Blob&) = delete;
  Blob& operator=(const Blob&) = delete;
  ~Blob() { Free(); }

  template <class T>
  bool IsType() const {
    using Stored = typename BlobContent<T>::Stored;
    return meta_.Match<Stored>() && BlobContent<T>::Accepts(*static_cast<const Stored*>(object_));
  }
  // Whether the blob holds a Tensor on that device.
  bool IsTensor(DeviceType device) const {
    return IsType<Tensor>() && static_cast<const Tensor*>(object_)->GetDeviceType() == device;
  }
  template <class T>
  bool IsType(DeviceType device) const {
    return IsType<T>() && IsTensor(device);
  }
  TypeMeta meta() const { return meta_; }
  const char* TypeName() const { return meta_.name(); }
  bool IsEmpty() const { return object_ == nullptr; }

  // The object. THROWS if it is not of type T.
  template <class T>
  const T& Get() const {
    if (__builtin_expect(!IsType<T>(), 0)) ThrowWrongType(TypeMeta::Make<T>());
    return *static_cast<const T*>(object_);
  }
  const void* GetRaw() const { return object_; }

  // The object, if it has type T. Otherwise replaces it with a default-constructed T and sets
  // `*is_new` to true. An object that the blob does not own (ShareExternal) is not destroyed.
  template <class T>
  T* GetMutable(bool* is_new = nullptr) {
    if (is_new != nullptr) *is_new = false;
    if (IsType<T>()) return static_cast<T*>(object_);
    if (is_new != nullptr) *is_new = true;
    return Reset(new T());
  }
  // The object, or null if it is not of type T. Does not require a default constructor.
  template <class T>
  T* GetMutableOrNull() {
    return IsType<T>() ? static_cast<T*>(object_) : nullptr;
  }
  // The Tensor on that device. Any other object is replaced with an unshaped tensor.
  Tensor* GetMutableTensor(DeviceType device) {
    if (__builtin_expect(IsTensor(device), 1)) return static_cast<Tensor*>(object_);
    return ResetTensor(device);
  }

  // Destroys the current object, takes ownership of `object` and returns it.
  template <class T>
  T* Reset(T* object) {
    using Stored = typename BlobContent<T>::Stored;
    Free();
    meta_ = TypeMeta::Make<Stored>();
    object_ = object;
    destroy_ = [](void* p) { delete static_cast<Stored*>(p); };
    return object;
  }
  // The same for an object whose type is known only at run time. A null `destroy` leaves the
  // ownership with the caller.
  void* Reset(void* object, TypeMeta meta, DestroyCall destroy) {
    Free();
    meta_ = meta;
    object_ = object;
    destroy_ = destroy;
    return object;
  }
  // Destroys the object and leaves the blob empty.
  void Reset() {
    Free();
    meta_ = TypeMeta();
  }
  // Gives up ownership. The blob still refers to the object, and the caller must destroy it with
  // the returned function, which is null if the blob did not own the object.
  DestroyCall Release() { return std::exchange(destroy_, nullptr); }
  // Makes the blob refer to an object that it does not own.
  template <class T>
  std::remove_const_t<T>* ShareExternal(std::remove_const_t<T>* object) {
    return static_cast<T*>(ShareExternal(static_cast<void*>(object), TypeMeta::Make<T>()));
  }
  void* ShareExternal(void* object, TypeMeta meta) { return Reset(object, meta, nullptr); }

  void swap(Blob& other) noexcept {
    std::swap(meta_, other.meta_);
    std::swap(object_, other.object_);
    std::swap(destroy_, other.destroy_);
  }

  // Serialize and Deserialize are defined in caffe2_core/io/blob_serialization.cc. The acceptor is
  // called once per chunk, with a key and a serialized BlobProto.
  using SerializationAcceptor =
      std::function<void(const std::string& key, const std::string& data)>;
  std::string Serialize(const std::string& name) const;
  void Serialize(const std::string& name, SerializationAcceptor acceptor,
                 int chunk_size = -1) const;
  void Deserialize(const std::string& content);
  void Deserialize(const BlobProto& proto);

 private:
  void Free() {
    if (object_ != nullptr && destroy_ != nullptr) destroy_(object_);
    object_ = nullptr;
    destroy_ = nullptr;
  }
  [[noreturn]] void ThrowWrongType(TypeMeta wanted) const;
  Tensor* ResetTensor(DeviceType device);

  TypeMeta meta_;
  void* object_ = nullptr;
  DestroyCall destroy_ = nullptr;
};

inline void swap(Blob& a, Blob& b) noexcept { a.swap(b); }

// Free functions of Caffe2's API.
inline bool BlobIsTensorType(const Blob& blob, DeviceType device) { return blob.IsTensor(device); }
inline Tensor* BlobGetMutableTensor(Blob* blob, DeviceType device) {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of BlobGetMutableTensor is null");
  return blob->GetMutableTensor(device);
}
// THROWS if the blob does not hold a tensor on that device.
const Tensor& BlobGetTensor(const Blob& blob, DeviceType device);
// Replaces the object of the blob with `tensor` and returns a pointer to it.
Tensor* BlobSetTensor(Blob* blob, Tensor&& tensor);

}  // namespace caffe2rt
#pragma GCC visibility pop
