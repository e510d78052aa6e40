#include "caffe2_core/io/pack_check.h"

#include <bit>
#include <cstring>
#include <set>
#include <string_view>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/pack_file.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");

constexpr uint32_t kVersion = 1;
constexpr size_t kSummedBytes = 120;  // of the header
constexpr size_t kMaxKeyBytes = 4096;

template <class T>
void Store(size_t offset, T value, std::string* bytes) {
  std::memcpy(bytes->data() + offset, &value, sizeof(value));
}

template <class T>
T Load(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

class IndexCheck {
 public:
  IndexCheck(uint64_t blocks_end, const std::string& subject)
      : blocks_end_(blocks_end), subject_(subject) {}

  void Check(const PackedIndex& index) {
    CAFFE_ENFORCE(index.has_predict_net(), subject_, "it has no predict net");
    for (const PackedTensor& tensor : index.tensor()) CheckTensor(tensor);
    for (const BlobProto& blob : index.blob()) CheckName(blob.name());
    if (!index.has_preparation()) return;
    CAFFE_ENFORCE(index.preparation().has_net(), subject_, "its preparation has no net");
    for (const PackedTensor& tensor : index.preparation().tensor()) CheckTensor(tensor);
  }

 private:
  void CheckName(const std::string& name) {
    CAFFE_ENFORCE(!name.empty(), subject_, "a blob has no name");
    CAFFE_ENFORCE(names_.insert(name).second, subject_, "blob \"", Shortened(name),
                  "\" occurs twice");
  }

  void CheckBlock(const PackedBlock& block, const std::string& name, const char* what) {
    CAFFE_ENFORCE_EQ(block.offset() % kPackAlignment, 0u, subject_, "offset of ", what, " of \"",
                     Shortened(name), "\", want a multiple of ", kPackAlignment, "; remainder");
    CAFFE_ENFORCE(block.offset() >= kPackHeaderBytes && block.offset() <= blocks_end_ &&
                      block.size() <= blocks_end_ - block.offset(),
                  subject_, what, " of \"", Shortened(name), "\" are at ", block.offset(),
                  " with size ", block.size(), ", want a place between ", kPackHeaderBytes, " and ",
                  blocks_end_);
    // Blocks do not overlap, so that reading each of them takes no longer than reading the file.
    blocks_bytes_ += block.size();  // at most blocks_end_ before, so this does not overflow
    CAFFE_ENFORCE_LE(blocks_bytes_, blocks_end_, subject_, "bytes of all blocks together");
  }

  void CheckTensor(const PackedTensor& tensor) {
    CheckName(tensor.name());
    const std::string name = "tensor \"" + Shortened(tensor.name()) + "\"";
    CAFFE_ENFORCE(IsPackable(tensor.data_type()), subject_, name, " has element type ",
                  tensor.data_type(), ", want one of plain data");
    CAFFE_ENFORCE_LE(tensor.dims_size(), Tensor::kMaxRank, subject_, "rank of ", name);
    for (const int64_t dim : tensor.dims()) {
      CAFFE_ENFORCE_GE(dim, 0, subject_, "a dimension of ", name);
    }
    const int64_t count = CheckedProduct(IntArrayRef(tensor.dims().data(), tensor.dims().size()));
    const TypeMeta type = DataTypeToTypeMeta(static_cast<int64_t>(StoredType(tensor, name)));
    const uint64_t want = CheckedMultiply<uint64_t>(static_cast<uint64_t>(count), type.itemsize());
    CAFFE_ENFORCE_EQ(tensor.block().size(), want, subject_, "bytes of ", name,
                     ", want those of its shape");
    CheckBlock(tensor.block(), tensor.name(), "elements");
    CAFFE_ENFORCE_EQ(tensor.has_scale(), tensor.has_zero_point(), subject_, "quantization of ",
                     name, ": scale and zero point, want both or none");
    CheckForms(tensor);
  }

  // The type of the elements in the file.
  int StoredType(const PackedTensor& tensor, const std::string& name) {
    if (!tensor.has_stored_type()) {
      CAFFE_ENFORCE(!tensor.has_row_scales(), subject_, name,
                    " has scales of rows, want none without a stored type");
      return tensor.data_type();
    }
    const bool is_int8 = tensor.stored_type() == TensorProto_DataType_INT8;
    CAFFE_ENFORCE(is_int8 || tensor.stored_type() == TensorProto_DataType_FLOAT16, subject_, name,
                  " has stored type ", tensor.stored_type(), ", want FLOAT16 or INT8");
    CAFFE_ENFORCE(tensor.data_type() == TensorProto_DataType_FLOAT && !tensor.has_scale(), subject_,
                  name, " has stored type ", tensor.stored_type(), ", want it only of floats");
    CAFFE_ENFORCE_EQ(tensor.has_row_scales(), is_int8, subject_, "scales of the rows of ", name,
                     ", want them for INT8 only");
    if (is_int8) {
      CAFFE_ENFORCE_GE(tensor.dims_size(), 1, subject_, "rank of ", name, " with scales of rows");
      CAFFE_ENFORCE_EQ(
          tensor.row_scales().size(),
          CheckedMultiply<uint64_t>(static_cast<uint64_t>(tensor.dims(0)), sizeof(float)), subject_,
          "bytes of the scales of the rows of ", name);
      CheckBlock(tensor.row_scales(), tensor.name(), "scales of rows");
    }
    return tensor.stored_type();
  }

  void CheckForms(const PackedTensor& tensor) {
    std::set<std::string_view> keys;
    for (const PackedForm& form : tensor.form()) {
      CAFFE_ENFORCE(!form.key().empty() && form.key().size() <= kMaxKeyBytes &&
                        keys.insert(form.key()).second,
                    subject_, "a prepared form of \"", Shortened(tensor.name()), "\" has a key of ",
                    form.key().size(), " bytes, want 1 to ", kMaxKeyBytes, " and different keys");
      CheckBlock(form.block(), tensor.name(), "prepared forms");
    }
  }

  static bool IsPackable(int type) {
    try {
      return DataTypeToTypeMeta(static_cast<int64_t>(type)).IsPlainData();
    } catch (const EnforceNotMet&) {  // the number has no element type
      return false;
    }
  }

  const uint64_t blocks_end_;
  uint64_t blocks_bytes_ = 0;
  const std::string& subject_;
  std::set<std::string> names_;
};

}  // namespace

std::string PackHeaderBytes(const PackHeader& header, uint64_t file_size) {
  std::string bytes(kPackHeaderBytes, '\0');
  bytes.replace(0, kPackSignature.size(), kPackSignature);
  Store(8, kVersion, &bytes);
  Store(12, static_cast<uint32_t>(kPackHeaderBytes), &bytes);
  Store(16, file_size, &bytes);
  Store(24, header.index_offset, &bytes);
  Store(32, header.index_size, &bytes);
  Store(40, header.index_checksum, &bytes);
  Store(kSummedBytes, ContentSum(bytes.data(), kSummedBytes), &bytes);
  return bytes;
}

PackHeader ParsePackHeader(const std::string& bytes, uint64_t file_size,
                           const std::string& subject) {
  CAFFE_ENFORCE(bytes.starts_with(kPackSignature), subject,
                "it does not have the signature of one");
  CAFFE_ENFORCE_EQ(bytes.size(), kPackHeaderBytes, subject, "bytes of its header");
  CAFFE_ENFORCE_EQ(Load<uint32_t>(bytes, 8), kVersion, subject,
                   "version of the format; pack the model again with this program; version");
  CAFFE_ENFORCE(Load<uint64_t>(bytes, kSummedBytes) == ContentSum(bytes.data(), kSummedBytes),
                subject, "its header is damaged: the checksum differs");
  CAFFE_ENFORCE_EQ(Load<uint32_t>(bytes, 12), kPackHeaderBytes, subject, "size of its header");
  CAFFE_ENFORCE_EQ(file_size, Load<uint64_t>(bytes, 16), subject,
                   "size of the file, want the one in its header");
  const PackHeader header = {.index_offset = Load<uint64_t>(bytes, 24),
                             .index_size = Load<uint64_t>(bytes, 32),
                             .index_checksum = Load<uint64_t>(bytes, 40)};
  CAFFE_ENFORCE(header.index_offset >= kPackHeaderBytes &&
                    header.index_offset % kPackAlignment == 0 && header.index_offset <= file_size &&
                    header.index_size == file_size - header.index_offset,
                subject, "its index is at ", header.index_offset, " with size ", header.index_size,
                ", want the end of the ", file_size, " bytes");
  return header;
}

void CheckPackedIndex(const PackedIndex& index, uint64_t blocks_end, const std::string& subject) {
  IndexCheck(blocks_end, subject).Check(index);
}

}  // namespace caffe2rt
