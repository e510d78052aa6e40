#pragma once
// Caffe's blob: an array of up to 32 dimensions with its gradient, both on the CPU and on a device
// at once.
//
//   SyncedBlob<float> blob({2, 3}, contexts);
//   blob.mutable_cpu_data()[0] = 1;              // data, written on the CPU
//   Launch(blob.gpu_data(), ...);                // copied when the device asks
//   blob.Update();                               // data -= diff, on the side where data's head is
//
// Members, limits and rules are Caffe's (int dimensions, INT_MAX elements); what was fatal there
// THROWS here. T is float, double, int or unsigned int; arithmetic and files are for float and
// double.
//
// Data and diff are SyncedMemory of `capacity` elements each, shared with other blobs by ShareData
// and ShareDiff. Reading and writing through a const blob is allowed, as in Caffe: it may move
// data, it never changes which values are there. Used by one thread at a time, blobs that share
// memory included.

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "contexts/synced/synced_memory.h"

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
  // Shaped; memory comes when it is touched.
  explicit SyncedBlob(const std::vector<int>& shape,
                      SyncedContexts contexts = DefaultSyncedContexts());
  // For lists in braces, zeros in them included.
  explicit SyncedBlob(std::initializer_list<int> shape,
                      SyncedContexts contexts = DefaultSyncedContexts())
      : SyncedBlob(std::vector<int>(shape), contexts) {}
  SyncedBlob(int num, int channels, int height, int width,
             SyncedContexts contexts = DefaultSyncedContexts());
  SyncedBlob(const SyncedBlob&) = delete;
  SyncedBlob& operator=(const SyncedBlob&) = delete;

  // --- shape ---
  // Growing beyond the capacity makes new memory for data and diff: contents and sharing are lost.
  // Else memory, contents and sharing stay. No axes: a scalar. THROWS on more than 32 axes, a
  // negative dimension, more than INT_MAX elements.
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
  // The product of dimensions [start, end); 1 for none. THROWS unless 0 <= start <= end <=
  // num_axes().
  int count(int start, int end) const;
  int count(int start) const { return count(start, num_axes()); }
  // "2 3 4 (24)".
  std::string shape_string() const;

  // Of blobs with at most four axes; an axis that is not there has dimension 1.
  int LegacyShape(int index) const;
  int num() const { return LegacyShape(0); }
  int channels() const { return LegacyShape(1); }
  int height() const { return LegacyShape(2); }
  int width() const { return LegacyShape(3); }

  // Where an element stands. The first form takes indices up to the dimension itself; the second at
  // most num_axes() of them, each below its dimension, 0 for those left out. THROWS outside of
  // that.
  int offset(int n, int c = 0, int h = 0, int w = 0) const;
  int offset(const std::vector<int>& indices) const;

  // --- memory ---
  // THROW before the first Reshape.
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

  // Uses the caller's buffer of count() elements; see SyncedMemory. When the capacity is larger
  // than count(), data and diff both get new memory first. THROWS for null.
  void set_cpu_data(T* data);
  void set_gpu_data(T* data);

  // Caffe shares these between blobs, hence shared_ptr. THROW when there is no memory yet.
  const std::shared_ptr<SyncedMemory>& data() const;
  const std::shared_ptr<SyncedMemory>& diff() const;
  // Uses the other's memory. THROWS unless the counts are equal; the shapes may differ.
  void ShareData(const SyncedBlob& other);
  void ShareDiff(const SyncedBlob& other);

  T data_at(int n, int c, int h, int w) const { return cpu_data()[offset(n, c, h, w)]; }
  T diff_at(int n, int c, int h, int w) const { return cpu_diff()[offset(n, c, h, w)]; }
  T data_at(const std::vector<int>& indices) const { return cpu_data()[offset(indices)]; }
  T diff_at(const std::vector<int>& indices) const { return cpu_diff()[offset(indices)]; }

  // Copies data, or with `copy_diff` diff, on the side where the source's head is: on the device
  // when it is there or both sides agree. The destination's head is that side. THROWS when the
  // shapes differ and `reshape` is not given.
  void CopyFrom(const SyncedBlob& source, bool copy_diff = false, bool reshape = false);

  // --- arithmetic: float and double, others THROW; on the side where the head is, the device when
  // both agree --- data -= diff. THROWS when data was never touched.
  void Update();
  // Sums of absolute values and of squares; 0 for memory that is not there or was never touched.
  T asum_data() const;
  T asum_diff() const;
  T sumsq_data() const;
  T sumsq_diff() const;
  // Does nothing to memory that is not there or was never touched.
  void scale_data(T factor);
  void scale_diff(T factor);

  // --- Caffe's files: float and double, others THROW ---
  // Whether the proto's shape is this one; its four legacy fields are compared from the end, so
  // that a bias of shape (N) equals 1 x 1 x 1 x N.
  bool ShapeEquals(const caffe::BlobProto& proto) const;
  // Takes shape (or, without `reshape`, checks it), data and, when there, diff; on the CPU. THROWS
  // when the numbers of values do not fit the shape, before anything changes.
  void FromProto(const caffe::BlobProto& proto, bool reshape = true);
  // Writes shape, data and, with `write_diff`, diff: floats as `data`, doubles as `double_data`.
  void ToProto(caffe::BlobProto* proto, bool write_diff = false) const;

  const SyncedContexts& contexts() const { return contexts_; }

 private:
  // Elements of a shape. THROWS as Reshape does.
  static int CheckedCount(const std::vector<int>& shape);
  static std::vector<int> ShapeOf(const caffe::BlobShape& shape);
  static std::vector<int> ShapeOf(const caffe::BlobProto& proto);
  std::shared_ptr<SyncedMemory> NewMemory() const;
  // Memory of exactly count() elements, for set_*_data.
  void FitMemory();

  SyncedContexts contexts_;
  // Invariants: count_ is the product of shape_ and at most capacity_; data_ and diff_ hold at
  // least count_ elements when they are there; shape_data_ starts with the ints of shape_.
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
