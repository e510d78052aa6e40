// PackSegments, UnpackSegments.

#include "operators/sequence/pack_segments.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void CheckPackedType(TypeMeta type) {
  DispatchByType<float, int32_t, int64_t, std::string>(type, "input 1", [](const auto&) {});
}

namespace {

void FillPadding(TypeMeta type, bool minus_infinity, int64_t items, void* to) {
  if (!type.IsPlainData()) {
    std::fill_n(static_cast<std::string*>(to), items, std::string());
  } else if (minus_infinity) {
    std::fill_n(static_cast<float*>(to), items, -std::numeric_limits<float>::infinity());
  } else {
    std::memset(to, 0, static_cast<size_t>(items) * type.itemsize());
  }
}

}  // namespace

void PackRows(CPUContext& context, const RowShape& row, const PackedSizes& sizes,
              const int64_t* offsets, bool pad_minus_infinity, const void* rows, void* packed) {
  for (int64_t s = 0; s < sizes.segments; ++s) {
    const int64_t count = std::min(offsets[s + 1] - offsets[s], sizes.max_length);
    void* const to = ItemAt(packed, row.type, s * sizes.max_length * row.block);
    if (count > 0) {
      CopyRow(context, row.type, count * row.block, ItemAt(rows, row.type, offsets[s] * row.block),
              to);
    }
    FillPadding(row.type, pad_minus_infinity, (sizes.max_length - count) * row.block,
                ItemAt(to, row.type, count * row.block));
  }
}

void UnpackRows(CPUContext& context, const RowShape& row, const PackedSizes& sizes,
                const int64_t* offsets, const void* packed, void* rows) {
  for (int64_t s = 0; s < sizes.segments; ++s) {
    const int64_t count = std::min(offsets[s + 1] - offsets[s], sizes.max_length);
    if (count == 0) continue;
    CopyRow(context, row.type, count * row.block,
            ItemAt(packed, row.type, s * sizes.max_length * row.block),
            ItemAt(rows, row.type, offsets[s] * row.block));
  }
}

void MarkPresence(CPUContext&, const PackedSizes& sizes, const int64_t* offsets, bool* mask) {
  for (int64_t s = 0; s < sizes.segments; ++s, mask += sizes.max_length) {
    const int64_t count = std::min(offsets[s + 1] - offsets[s], sizes.max_length);
    std::fill_n(mask, count, true);
    std::fill_n(mask + count, sizes.max_length - count, false);
  }
}

namespace {

// The length of the packed segments is known only if the argument states it.
std::vector<TensorShape> InferPacked(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const int max_length = ArgumentHelper(def).Read(kPackMaxLength);
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (!AreKnown(in, 2) || in[0].dims_size() != 1 || in[1].dims_size() < 1) return out;
  if (max_length < 0) return out;
  std::vector<int64_t> dims = GetDimsVector(in[1]);
  dims[0] = max_length;
  dims.insert(dims.begin(), in[0].dims(0));
  out[0] = CreateTensorShape(dims, in[1].data_type());
  if (out.size() > 1 && ArgumentHelper(def).Read(kReturnPresenceMask)) {
    out[1] = CreateTensorShape(std::vector<int64_t>{in[0].dims(0), max_length}, TensorProto::BOOL);
  }
  return out;
}

class GetPackSegmentsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("UnpackSegments", "", {I(0), GO(0)}, {GI(1)});
  }
};

class GetUnpackSegmentsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("PackSegments", "", {I(0), GO(0)}, {GI(1)});
  }
};

}  // namespace

void RegisterPackSegments() {
  RegisterSchema("PackSegments", __FILE__)
      .NumInputs(2)
      .NumOutputs(1, 2)
      .Args(kPackMaxLength, kPadMinusInfinity, kReturnPresenceMask)
      .Input(0, "lengths", "[n] int32 or int64: the number of rows of each segment")
      .Input(1, "tensor", "[rows, inner..] float, int32, int64 or strings: all segments, in order")
      .Output(0, "packed_tensor", "[n, max_length, inner..]")
      .Output(
          1, "presence_mask",
          "(optional) [n, max_length] bool: 0 for padding; written if return_presence_mask is 1")
      .TensorInferenceFunction(InferPacked)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Moves segments of rows into a tensor in which all segments have the same number of "
          "rows. Shorter segments are padded, longer ones are cut off.");
  RegisterCpuOperator<PackSegmentsOp<CPUContext>>("PackSegments", __FILE__);
  RegisterGradient<GetPackSegmentsGradient>("PackSegments", __FILE__);

  RegisterSchema("UnpackSegments", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kPackMaxLength)
      .Input(0, "lengths", "[n] int32 or int64: the number of rows of each segment")
      .Input(1, "packed_tensor", "[n, max_length, inner..] float, int32, int64 or strings")
      .Output(0, "tensor", "[sum of lengths, inner..]: the rows of all segments without padding")
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Moves packed segments of rows into one tensor without padding. With the argument "
          "max_length, longer lengths count as max_length; without it they are an error.");
  RegisterCpuOperator<UnpackSegmentsOp<CPUContext>>("UnpackSegments", __FILE__);
  RegisterGradient<GetUnpackSegmentsGradient>("UnpackSegments", __FILE__);
}

}  // namespace caffe2rt
