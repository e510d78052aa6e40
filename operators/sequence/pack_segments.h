#pragma once
// PackSegments: moves segments of consecutive rows into a tensor in which all segments have the
// same number of rows.
//   lengths [n] int32 or int64, tensor [sum of lengths, inner..]
//     -> packed [n, max_length, inner..], optional presence mask [n, max_length] bool
//
// A shorter segment is filled up with zeros (strings: with empty strings), or with -infinity. Of a
// longer one only the first rows are packed.
//
// UnpackSegments: the reverse.
//   lengths [n], packed [n, max_length, inner..]  ->  [sum of lengths, inner..]
//
// Each is the gradient operator of the other (is_gradient_op). As such, UnpackSegments restores the
// rows that were not packed, as zeros, and PackSegments expects the rows that UnpackSegments returns,
// at most max_length of a segment. (In Caffe2, the former lacks these rows and the latter fails.)
//
// The elements are float, int32, int64 or strings (on the CPU). On a device the host waits for the
// lengths.

#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/segment_offsets.h"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kPackMaxLength{
    "max_length",
    -1,
    "rows of a packed segment; -1: the longest length",
    {[](int length) { return length >= -1; }, "-1 or more"}};
inline constexpr ArgumentSpec<bool> kPadMinusInfinity{
    "pad_minf", false, "1: floats are padded with -infinity instead of 0"};
inline constexpr ArgumentSpec<bool> kReturnPresenceMask{"return_presence_mask", false,
                                                        "1: output 1 is the presence mask"};

// Kernels over rows of `block` elements. The arguments are those of PackRowBytes and UnpackRowBytes.
struct RowShape {
  TypeMeta type;
  int64_t block = 0;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
void PackRows(CPUContext& context, const RowShape& row, const PackedSizes& sizes,
              const int64_t* offsets, bool pad_minus_infinity, const void* rows, void* packed);
void UnpackRows(CPUContext& context, const RowShape& row, const PackedSizes& sizes,
                const int64_t* offsets, const void* packed, void* rows);
void MarkPresence(CPUContext& context, const PackedSizes& sizes, const int64_t* offsets,
                  bool* mask);
// THROWS unless elements of the type can be packed.
void CheckPackedType(TypeMeta type);
#pragma GCC visibility pop
inline void PackRows(CUDAContext& context, const RowShape& row, const PackedSizes& sizes,
                     const int64_t* offsets, bool pad_minus_infinity, const void* rows,
                     void* packed) {
  PlainItemBytes(row.type);  // throws for strings
  PackRowBytes(context, sizes, offsets, pad_minus_infinity, rows, packed);
}
inline void UnpackRows(CUDAContext& context, const RowShape& row, const PackedSizes& sizes,
                       const int64_t* offsets, const void* packed, void* rows) {
  PlainItemBytes(row.type);
  UnpackRowBytes(context, sizes, offsets, packed, rows);
}

// Reads the lengths of input 0, int32 or int64.
template <class Context>
void ReadPackedLengths(Operator<Context>& op, int64_t limit, SegmentOffsets<Context>* segments) {
  constexpr const char* kSubject = "input 0 (lengths)";
  const Tensor& lengths = InputAnywhere(op, 0);
  CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (lengths) of shape ", lengths.sizes(),
                   ", want a vector");
  DispatchByType<int32_t, int64_t>(lengths.dtype(), kSubject, [&](auto length) {
    segments->template Read<decltype(length)>(op, 0, kSubject, limit);
  });
}

template <class Context>
class PackSegmentsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PackSegmentsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        max_length_(this->ReadArgument(kPackMaxLength)),
        pad_minus_infinity_(this->ReadArgument(kPadMinusInfinity)),
        limit_(max_length_ >= 0 && def.is_gradient_op() ? max_length_
                                                        : std::numeric_limits<int64_t>::max()),
        return_mask_(this->ReadArgument(kReturnPresenceMask)) {
    CAFFE_ENFORCE(!return_mask_ || this->OutputSize() == 2,
                  "argument return_presence_mask is 1, want a second output (presence_mask)");
  }

  bool RunOnDevice() override {
    const Tensor& rows = Input(1);
    const TypeMeta type = rows.dtype();
    CheckPackedType(type);
    CAFFE_ENFORCE_GE(rows.dim(), 1, "rank of input 1 (tensor)");
    ReadPackedLengths(*this, limit_, &segments_);
    CAFFE_ENFORCE_EQ(segments_.total(), rows.dim(0),
                     "sum of input 0 (lengths), want dim 0 of input 1 (tensor) of shape ",
                     rows.sizes());
    const int64_t max_length = max_length_ >= 0 ? max_length_ : segments_.longest();
    dims_.assign({segments_.count(), max_length});
    const int64_t block = rows.size_from_dim(1);
    PackedSizes sizes{segments_.count(), max_length, block * static_cast<int64_t>(type.itemsize())};
    if (return_mask_) {
      MarkPresence(context_, sizes, segments_.OnDevice(context_),
                   this->template OutputData<bool>(1, dims_));
    }
    dims_.insert(dims_.end(), rows.dims().begin() + 1, rows.dims().end());
    Tensor* const packed = Output(0, dims_, type);
    if (packed->numel() == 0) return true;
    PackRows(context_, {type, block}, sizes, segments_.OnDevice(context_),
             pad_minus_infinity_ && type.Match<float>(), rows.raw_data(),
             packed->raw_mutable_data());
    return true;
  }

 private:
  const int max_length_;
  const bool pad_minus_infinity_;
  const int64_t limit_;  // of each length
  const bool return_mask_;
  SegmentOffsets<Context> segments_;
  std::vector<int64_t> dims_;
};

template <class Context>
class UnpackSegmentsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UnpackSegmentsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        max_length_(this->ReadArgument(kPackMaxLength)),
        restore_(def.is_gradient_op()) {}

  bool RunOnDevice() override {
    const Tensor& packed = Input(1);
    const TypeMeta type = packed.dtype();
    CheckPackedType(type);
    CAFFE_ENFORCE_GE(packed.dim(), 2, "rank of input 1 (packed_tensor) of shape ", packed.sizes());
    const int64_t width = packed.dim(1);
    CAFFE_ENFORCE(max_length_ < 0 || max_length_ == width, "argument max_length is ", max_length_,
                  ", want ", width, ", dim 1 of input 1 (packed_tensor) of shape ", packed.sizes());
    CAFFE_ENFORCE_EQ(InputAnywhere(*this, 0).numel(), packed.dim(0),
                     "number of lengths, want dim 0 of input 1 (packed_tensor) of shape ",
                     packed.sizes());
    ReadPackedLengths(*this, restore_ ? std::numeric_limits<int64_t>::max() : width, &segments_);
    CAFFE_ENFORCE(max_length_ >= 0 || segments_.longest() <= width,
                  "an element of input 0 (lengths) is ", segments_.longest(), ", want at most ",
                  width, ", dim 1 of input 1 (packed_tensor)");
    dims_.assign({segments_.total()});
    dims_.insert(dims_.end(), packed.dims().begin() + 2, packed.dims().end());
    Tensor* const rows = Output(0, dims_, type);
    if (rows->numel() == 0) return true;
    void* const data = rows->raw_mutable_data();
    if (segments_.longest() > width && restore_) FillZeros(context_, rows->nbytes(), data);
    const int64_t block = packed.size_from_dim(2);
    UnpackRows(context_, {type, block},
               {segments_.count(), width, block * static_cast<int64_t>(type.itemsize())},
               segments_.OnDevice(context_), packed.raw_data(), data);
    return true;
  }

 private:
  const int max_length_;
  const bool restore_;
  SegmentOffsets<Context> segments_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
