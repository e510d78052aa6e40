#pragma once
// Blob: one object of any type under a name of a workspace; mostly a Tensor.
//
//   blob.GetMutable<int>();                       // creates an int, replaces what was there
//   blob.Reset(new std::vector<int>(3));          // takes ownership
//   const Tensor& t = blob.Get<Tensor>();         // THROWS for something else, naming both types
//
// Move only. Not thread safe; different blobs are independent.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class BlobProto;

// How a C++ type asked of a blob maps to the type that is stored. The default is the type itself; a
// class derived from Tensor without data members of its own is stored as a Tensor and may ask for a
// device.
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
  // A Tensor of that device.
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

  template <class T>
  const T& Get() const {
    if (__builtin_expect(!IsType<T>(), 0)) ThrowWrongType(TypeMeta::Make<T>());
    return *static_cast<const T*>(object_);
  }
  const void* GetRaw() const { return object_; }

  // The object, when it has type T; else destroys what is there and makes a default T. THROWS when
  // the net shares the blob's object from outside (ShareExternal) only through its use, never here.
  template <class T>
  T* GetMutable(bool* is_new = nullptr) {
    if (is_new != nullptr) *is_new = false;
    if (IsType<T>()) return static_cast<T*>(object_);
    if (is_new != nullptr) *is_new = true;
    return Reset(new T());
  }
  // The same for anything that has no default constructor: null when the type differs.
  template <class T>
  T* GetMutableOrNull() {
    return IsType<T>() ? static_cast<T*>(object_) : nullptr;
  }
  // The Tensor of that device; replaces any other content by an unshaped one.
  Tensor* GetMutableTensor(DeviceType device) {
    if (__builtin_expect(IsTensor(device), 1)) return static_cast<Tensor*>(object_);
    return Reset(new Tensor(device));
  }

  // Takes ownership and returns `object`.
  template <class T>
  T* Reset(T* object) {
    using Stored = typename BlobContent<T>::Stored;
    Free();
    meta_ = TypeMeta::Make<Stored>();
    object_ = object;
    destroy_ = [](void* p) { delete static_cast<Stored*>(p); };
    return object;
  }
  void* Reset(void* object, TypeMeta meta, DestroyCall destroy) {
    Free();
    meta_ = meta;
    object_ = object;
    destroy_ = destroy;
    return object;
  }
  void Reset() {
    Free();
    meta_ = TypeMeta();
  }
  // Gives up ownership: the object stays readable here; the caller destroys it with the returned
  // function (null if none).
  DestroyCall Release() { return std::exchange(destroy_, nullptr); }
  // Refers to an object owned elsewhere.
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

  // Called per chunk with (key, serialized BlobProto). Defined in
  // caffe2_core/io/blob_serialization.cc.
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

  TypeMeta meta_;
  void* object_ = nullptr;
  DestroyCall destroy_ = nullptr;
};

inline void swap(Blob& a, Blob& b) noexcept { a.swap(b); }

// Caffe2's free functions.
inline bool BlobIsTensorType(const Blob& blob, DeviceType device) { return blob.IsTensor(device); }
inline Tensor* BlobGetMutableTensor(Blob* blob, DeviceType device) {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of BlobGetMutableTensor is null");
  return blob->GetMutableTensor(device);
}
// THROWS when the blob holds no tensor of that device.
const Tensor& BlobGetTensor(const Blob& blob, DeviceType device);
Tensor* BlobSetTensor(Blob* blob, Tensor&& tensor);

}  // namespace caffe2rt
