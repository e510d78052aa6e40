#pragma once
// Caffe's blob: an array of up to 32 dimensions and its gradient, both available on the CPU and on
// a device.
//
//   SyncedBlob<float> blob({2, 3}, contexts);
//   blob.mutable_cpu_data()[0] = 1;    // writes data on the CPU
//   Launch(blob.gpu_data(), ...);      // copies data to the device first
//   blob.Update();                     // data -= diff, on the side where data's head is
//
// Members, limits and rules are Caffe's (int dimensions, INT_MAX elements), but errors that were
// fatal in Caffe THROW. T is float, double, int or unsigned int; arithmetic and files support only
// float and double.
//
// Data and diff are SyncedMemory of `capacity` elements each; ShareData and ShareDiff share them
// with other blobs. As in Caffe, a const blob can be read on both sides: that may copy data between
// the sides but never changes the values. A blob is used by one thread at a time; blobs that share
// memory count as one blob.

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "contexts/synced/synced_memory.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

namespace caffe {
class BlobProto;
class BlobShape;
}  // namespace caffe

inline constexpr int kMaxBlobAxes = 32;

template <class T>
class SyncedBlob {
 public:
  // No axes, no memory.
  explicit SyncedBlob(SyncedContexts contexts = DefaultSyncedContexts()) : contexts_(contexts) {}
  // Sets the shape; memory is allocated on first access.
  explicit SyncedBlob(const std::vector<int>& shape,
                      SyncedContexts contexts = DefaultSyncedContexts());
  // For brace-enclosed lists. Without this overload {0} would be ambiguous: 0 is also a null
  // pointer, which can start SyncedContexts.
  explicit SyncedBlob(std::initializer_list<int> shape,
                      SyncedContexts contexts = DefaultSyncedContexts())
      : SyncedBlob(std::vector<int>(shape), contexts) {}
  SyncedBlob(int num, int channels, int height, int width,
             SyncedContexts contexts = DefaultSyncedContexts());
  SyncedBlob(const SyncedBlob&) = delete;
  SyncedBlob& operator=(const SyncedBlob&) = delete;

  // --- shape ---
  // A shape larger than the capacity gets new memory for data and diff: contents and sharing are
  // lost. Otherwise memory, contents and sharing are kept. A shape without axes is a scalar. THROWS
  // on more than 32 axes, a negative dimension, or more than INT_MAX elements.
  void Reshape(const std::vector<int>& shape);
  void Reshape(std::initializer_list<int> shape) { Reshape(std::vector<int>(shape)); }
  void Reshape(int num, int channels, int height, int width);
  void Reshape(const caffe::BlobShape& shape);
  void ReshapeLike(const SyncedBlob& other) { Reshape(other.shape_); }

  const std::vector<int>& shape() const { return shape_; }
  // Negative indices count from the end. THROWS when out of range.
  int shape(int index) const { return shape_[static_cast<size_t>(CanonicalAxisIndex(index))]; }
  int CanonicalAxisIndex(int axis) const;
  int num_axes() const { return static_cast<int>(shape_.size()); }
  int count() const { return count_; }
  // The product of dimensions [start, end); 1 if the range is empty.
  // THROWS unless 0 <= start <= end <= num_axes().
  int count(int start, int end) const;
  int count(int start) const { return count(start, num_axes()); }
  // The shape and the number of elements, as in "2 3 4 (24)".
  std::string shape_string() const;

  // The dimensions of a blob with at most four axes; a missing axis has dimension 1. THROW if the
  // blob has more axes.
  int LegacyShape(int index) const;
  int num() const { return LegacyShape(0); }
  int channels() const { return LegacyShape(1); }
  int height() const { return LegacyShape(2); }
  int width() const { return LegacyShape(3); }

  // The offset of an element. In the first overload an index may equal its dimension. The second
  // accepts at most num_axes() indices, each below its dimension; omitted indices are 0. THROW if
  // an index is out of range.
  int offset(int n, int c = 0, int h = 0, int w = 0) const;
  int offset(const std::vector<int>& indices) const;

  // --- memory ---
  // See SyncedMemory. THROW before the first Reshape.
  const T* cpu_data() const { return static_cast<const T*>(data()->cpu_data()); }
  const T* gpu_data() const { return static_cast<const T*>(data()->gpu_data()); }
  const T* cpu_diff() const { return static_cast<const T*>(diff()->cpu_data()); }
  const T* gpu_diff() const { return static_cast<const T*>(diff()->gpu_data()); }
  T* mutable_cpu_data() { return static_cast<T*>(data()->mutable_cpu_data()); }
  T* mutable_gpu_data() { return static_cast<T*>(data()->mutable_gpu_data()); }
  T* mutable_cpu_diff() { return static_cast<T*>(diff()->mutable_cpu_data()); }
  T* mutable_gpu_diff() { return static_cast<T*>(diff()->mutable_gpu_data()); }
  // The dimensions, as ints on the device.
  const int* gpu_shape() const;

  // Use the caller's buffer of count() elements; see SyncedMemory. If the capacity is larger than
  // count(), data and diff both get new memory first. THROW for null.
  void set_cpu_data(T* data);
  void set_gpu_data(T* data);

  // These are shared_ptr because blobs can share them. THROW before the first Reshape.
  const std::shared_ptr<SyncedMemory>& data() const;
  const std::shared_ptr<SyncedMemory>& diff() const;
  // Use the memory of the other blob. THROW unless the counts are equal; the shapes may differ.
  void ShareData(const SyncedBlob& other);
  void ShareDiff(const SyncedBlob& other);

  T data_at(int n, int c, int h, int w) const { return cpu_data()[offset(n, c, h, w)]; }
  T diff_at(int n, int c, int h, int w) const { return cpu_diff()[offset(n, c, h, w)]; }
  T data_at(const std::vector<int>& indices) const { return cpu_data()[offset(indices)]; }
  T diff_at(const std::vector<int>& indices) const { return cpu_diff()[offset(indices)]; }

  // Copies data, or diff if `copy_diff` is set, on the side where the source's head is. If the
  // source is SYNCED, that is the device. Blobs with different device contexts are copied on the
  // CPU. That side becomes the destination's head. THROWS if the shapes differ and `reshape` is not
  // set.
  void CopyFrom(const SyncedBlob& source, bool copy_diff = false, bool reshape = false);

  // --- arithmetic ---
  // For float and double; other types THROW. It runs on the side where the head is, or on the
  // device if the memory is SYNCED.
  //
  // data -= diff. THROWS if data was never accessed.
  void Update();
  // Sums of absolute values and of squares; 0 if the memory does not exist or was never accessed.
  T asum_data() const;
  T asum_diff() const;
  T sumsq_data() const;
  T sumsq_diff() const;
  // Do nothing if the memory does not exist or was never accessed.
  void scale_data(T factor);
  void scale_diff(T factor);

  // --- Caffe's files: float and double; other types THROW ---
  // Whether the proto has this blob's shape. The four legacy fields are compared from the last axis
  // on, so a bias of shape (N) equals 1 x 1 x 1 x N.
  bool ShapeEquals(const caffe::BlobProto& proto) const;
  // Reads shape, data and, if present, diff, on the CPU. Without `reshape` the shape must match.
  // THROWS if the number of values does not fit the shape; the blob is then unchanged.
  void FromProto(const caffe::BlobProto& proto, bool reshape = true);
  // Writes shape, data and, if `write_diff` is set, diff: floats as `data`, doubles as
  // `double_data`.
  void ToProto(caffe::BlobProto* proto, bool write_diff = false) const;

  const SyncedContexts& contexts() const { return contexts_; }

 private:
  // The number of elements of a shape. THROWS as Reshape does.
  static int CheckedCount(const std::vector<int>& shape);
  static std::vector<int> ShapeOf(const caffe::BlobShape& shape);
  static std::vector<int> ShapeOf(const caffe::BlobProto& proto);
  std::shared_ptr<SyncedMemory> NewMemory() const;
  // Ensures memory of exactly count() elements, for set_*_data.
  void FitMemory();

  SyncedContexts contexts_;
  // Invariants: count_ is the product of shape_ and at most capacity_; data_ and diff_ hold at
  // least count_ elements if they are not null; shape_data_ starts with the ints of shape_.
  std::vector<int> shape_;
  int count_ = 0;
  int capacity_ = 0;
  std::shared_ptr<SyncedMemory> data_;
  std::shared_ptr<SyncedMemory> diff_;
  std::shared_ptr<SyncedMemory> shape_data_;
};

extern template class SyncedBlob<float>;
extern template class SyncedBlob<double>;
extern template class SyncedBlob<int>;
extern template class SyncedBlob<unsigned int>;

}  // namespace caffe2rt
#pragma GCC visibility pop
