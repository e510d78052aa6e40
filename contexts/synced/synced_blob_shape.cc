// The shape of a SyncedBlob, and Caffe's files.
#include <algorithm>
#include <climits>
#include <cstring>
#include <type_traits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2rt/caffe.pb.h"
#include "contexts/synced/synced_blob.h"

namespace caffe2rt {
namespace {

using google::protobuf::RepeatedField;

constexpr int kLegacyAxes = 4;

bool HasLegacyShape(const caffe::BlobProto& proto) {
  return proto.has_num() || proto.has_channels() || proto.has_height() || proto.has_width();
}

template <class T>
void CheckFileType(const char* what) {
  CAFFE_ENFORCE(std::is_floating_point_v<T>, what, " of a blob of ", TypeMeta::Make<T>().name(),
                ", want float or double");
}

// The values of one array: the double values if there are any, else the float values.
struct FileValues {
  const RepeatedField<double>& wide;
  const RepeatedField<float>& narrow;

  int size() const { return !wide.empty() ? wide.size() : narrow.size(); }
  template <class T>
  void CopyTo(T* to) const {
    const int count = size();
    for (int i = 0; i < count; ++i) {
      to[i] = !wide.empty() ? static_cast<T>(wide[i]) : static_cast<T>(narrow[i]);
    }
  }
};

template <class T, class Field>
void PutValues(const T* values, int count, RepeatedField<Field>* field) {
  field->Resize(count, Field());
  for (int i = 0; i < count; ++i) (*field)[i] = static_cast<Field>(values[i]);
}

}  // namespace

template <class T>
SyncedBlob<T>::SyncedBlob(const std::vector<int>& shape, SyncedContexts contexts)
    : contexts_(contexts) {
  Reshape(shape);
}

template <class T>
SyncedBlob<T>::SyncedBlob(int num, int channels, int height, int width, SyncedContexts contexts)
    : contexts_(contexts) {
  Reshape(num, channels, height, width);
}

template <class T>
int SyncedBlob<T>::CheckedCount(const std::vector<int>& shape) {
  CAFFE_ENFORCE_LE(shape.size(), kMaxBlobAxes, "axes of a blob");
  int64_t product = 1;
  for (const int dim : shape) {
    CAFFE_ENFORCE_GE(dim, 0, "dimension of a blob of shape ", shape);
    product *= dim;  // both fit INT_MAX
    CAFFE_ENFORCE_LE(product, INT_MAX, "elements of a blob of shape ", shape);
  }
  return static_cast<int>(product);
}

template <class T>
void SyncedBlob<T>::Reshape(const std::vector<int>& shape) {
  const int count = CheckedCount(shape);
  const size_t nbytes = shape.size() * sizeof(int);
  if (shape_data_ == nullptr || shape_data_->size() < nbytes) {
    shape_data_ = std::make_shared<SyncedMemory>(nbytes, contexts_);
    if (nbytes > 0) std::memcpy(shape_data_->mutable_cpu_data(), shape.data(), nbytes);
  } else if (shape != shape_ && nbytes > 0) {  // do not copy an unchanged shape to the device again
    std::memcpy(shape_data_->mutable_cpu_data(), shape.data(), nbytes);
  }
  shape_ = shape;
  count_ = count;
  // Memory shared by ShareData or ShareDiff may be smaller than the capacity.
  const size_t needed = static_cast<size_t>(count) * sizeof(T);
  if (data_ != nullptr && count <= capacity_ && needed <= data_->size() &&
      needed <= diff_->size()) {
    return;
  }
  capacity_ = count;
  data_ = NewMemory();
  diff_ = NewMemory();
}

template <class T>
void SyncedBlob<T>::Reshape(int num, int channels, int height, int width) {
  Reshape(std::vector<int>{num, channels, height, width});
}

template <class T>
void SyncedBlob<T>::Reshape(const caffe::BlobShape& shape) {
  Reshape(ShapeOf(shape));
}

template <class T>
const int* SyncedBlob<T>::gpu_shape() const {
  CAFFE_ENFORCE(shape_data_ != nullptr, "the blob has no shape yet: call Reshape first");
  return static_cast<const int*>(shape_data_->gpu_data());
}

template <class T>
int SyncedBlob<T>::CanonicalAxisIndex(int axis) const {
  CAFFE_ENFORCE(axis >= -num_axes() && axis < num_axes(), "axis ", axis, " of a blob with ",
                num_axes(), " axes and shape ", shape_string(), ", want ", -num_axes(), " to ",
                num_axes() - 1);
  return axis < 0 ? axis + num_axes() : axis;
}

template <class T>
int SyncedBlob<T>::count(int start, int end) const {
  CAFFE_ENFORCE(0 <= start && start <= end && end <= num_axes(), "axes [", start, ", ", end,
                ") of a blob of shape ", shape_string(),
                ", want 0 <= start <= end <= ", num_axes());
  // CheckedCount is needed: if another dimension is 0, this product may still exceed INT_MAX.
  return CheckedCount({shape_.begin() + start, shape_.begin() + end});
}

template <class T>
std::string SyncedBlob<T>::shape_string() const {
  std::string text;
  for (const int dim : shape_) text += MakeString(dim, " ");
  return text + MakeString("(", count_, ")");
}

template <class T>
int SyncedBlob<T>::LegacyShape(int index) const {
  CAFFE_ENFORCE(num_axes() <= kLegacyAxes, "legacy shape of a blob with ", num_axes(),
                " axes, want at most ", kLegacyAxes);
  CAFFE_ENFORCE(index >= -kLegacyAxes && index < kLegacyAxes, "axis ", index,
                " of a legacy shape, want ", -kLegacyAxes, " to ", kLegacyAxes - 1);
  return index >= num_axes() || index < -num_axes() ? 1 : shape(index);
}

template <class T>
int SyncedBlob<T>::offset(int n, int c, int h, int w) const {
  const int indices[] = {n, c, h, w};
  int64_t offset = 0;
  for (int axis = 0; axis < kLegacyAxes; ++axis) {
    const int dim = LegacyShape(axis);
    CAFFE_ENFORCE(indices[axis] >= 0 && indices[axis] <= dim, "index ", axis, " is ", indices[axis],
                  ", want 0 to ", dim, " in a blob of shape ", shape_string());
    offset = CheckedAdd<int64_t>(CheckedMultiply<int64_t>(offset, dim), indices[axis]);
  }
  return CheckedCast<int>(offset, "offset");
}

template <class T>
int SyncedBlob<T>::offset(const std::vector<int>& indices) const {
  CAFFE_ENFORCE_LE(indices.size(), shape_.size(), "indices into a blob of shape ", shape_string());
  int offset = 0;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    offset *= shape_[axis];
    if (axis >= indices.size()) continue;
    CAFFE_ENFORCE(indices[axis] >= 0 && indices[axis] < shape_[axis], "index ", axis, " is ",
                  indices[axis], ", want 0 to ", shape_[axis] - 1, " in a blob of shape ",
                  shape_string());
    offset += indices[axis];
  }
  return offset;
}

template <class T>
std::vector<int> SyncedBlob<T>::ShapeOf(const caffe::BlobShape& shape) {
  CAFFE_ENFORCE_LE(shape.dim_size(), kMaxBlobAxes, "axes of a blob");
  std::vector<int> dims;
  for (const int64_t dim : shape.dim())
    dims.push_back(CheckedCast<int>(dim, "dimension of a blob"));
  return dims;
}

template <class T>
std::vector<int> SyncedBlob<T>::ShapeOf(const caffe::BlobProto& proto) {
  if (!HasLegacyShape(proto)) return ShapeOf(proto.shape());
  return {proto.num(), proto.channels(), proto.height(), proto.width()};
}

template <class T>
bool SyncedBlob<T>::ShapeEquals(const caffe::BlobProto& proto) const {
  if (!HasLegacyShape(proto)) {
    return std::equal(shape_.begin(), shape_.end(), proto.shape().dim().begin(),
                      proto.shape().dim().end());
  }
  return num_axes() <= kLegacyAxes && LegacyShape(-4) == proto.num() &&
         LegacyShape(-3) == proto.channels() && LegacyShape(-2) == proto.height() &&
         LegacyShape(-1) == proto.width();
}

template <class T>
void SyncedBlob<T>::FromProto(const caffe::BlobProto& proto, bool reshape) {
  CheckFileType<T>("FromProto");
  const std::vector<int> shape = reshape ? ShapeOf(proto) : shape_;
  CAFFE_ENFORCE(reshape || ShapeEquals(proto), "the blob in the file has another shape than ",
                shape_string(), ", want the same, or reshape = true");
  const int count = CheckedCount(shape);
  const FileValues values{proto.double_data(), proto.data()};
  const FileValues diffs{proto.double_diff(), proto.diff()};
  CAFFE_ENFORCE_EQ(values.size(), count, "values of a blob of shape ", shape, " in a file");
  CAFFE_ENFORCE(diffs.size() == 0 || diffs.size() == count, "a blob of shape ", shape,
                " in a file has ", diffs.size(), " diff values, want ", count, " or none");
  if (reshape) Reshape(shape);
  values.CopyTo(mutable_cpu_data());
  if (diffs.size() > 0) diffs.CopyTo(mutable_cpu_diff());
}

template <class T>
void SyncedBlob<T>::ToProto(caffe::BlobProto* proto, bool write_diff) const {
  CheckFileType<T>("ToProto");
  proto->clear_shape();
  for (const int dim : shape_) proto->mutable_shape()->add_dim(dim);
  if (shape_.empty()) (void)proto->mutable_shape();  // a scalar has a shape, too: an empty one
  proto->clear_data();
  proto->clear_diff();
  proto->clear_double_data();
  proto->clear_double_diff();
  if constexpr (std::is_same_v<T, double>) {
    PutValues(cpu_data(), count_, proto->mutable_double_data());
    if (write_diff) PutValues(cpu_diff(), count_, proto->mutable_double_diff());
  } else {
    PutValues(cpu_data(), count_, proto->mutable_data());
    if (write_diff) PutValues(cpu_diff(), count_, proto->mutable_diff());
  }
}

template class SyncedBlob<float>;
template class SyncedBlob<double>;
template class SyncedBlob<int>;
template class SyncedBlob<unsigned int>;

}  // namespace caffe2rt
