// SparseLengthsSumSparseLookup: the rows of a table of which rows were removed, for a sum of the
// remaining ones.
//   INDICES [M], LENGTHS [S], COMPRESSED_INDICES_MAPPING [K], (WEIGHTS [M])
//   ->  the rows of the indices that remain, their number in each segment, (their weights)
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class SparseLookupOp final : public Operator<CPUContext> {
 public:
  SparseLookupOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    CAFFE_ENFORCE(InputSize() == 3 || OutputSize() == 3, "outputs: got ", OutputSize(),
                  ", want 3 as there are weights");
  }

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (INDICES)",
                                            [&](auto index) { return Select<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Select() {
    const Tensor& indices = Input(0);
    const Tensor& mapping = Input(2);
    const bool weighted = InputSize() == 4;
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 0 (INDICES) of shape ", indices.sizes());
    CAFFE_ENFORCE_EQ(Input(1).dim(), 1, "rank of input 1 (LENGTHS) of shape ", Input(1).sizes());
    CAFFE_ENFORCE_EQ(mapping.dim(), 1, "rank of input 2 (COMPRESSED_INDICES_MAPPING) of shape ",
                     mapping.sizes());
    CAFFE_ENFORCE(!weighted || (Input(3).dim() == 1 && Input(3).numel() == indices.numel()),
                  "input 3 (WEIGHTS) has shape ", Input(weighted ? 3 : 0).sizes(),
                  ", want one for each of the ", indices.numel(), " elements of INDICES");
    const int32_t* const map = mapping.data<int32_t>();
    const float* const weights = weighted ? Input(3).data<float>() : nullptr;
    segments_.Read<int32_t>(*this, 1, "input 1 (LENGTHS)");
    CAFFE_ENFORCE_LE(segments_.total(), indices.numel(),
                     "sum of the lengths, want at most the elements of INDICES");
    const Index* const index = indices.data<Index>();
    int64_t kept = 0;
    for (int64_t i = 0; i < segments_.total(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < mapping.numel(), "element ", i,
                    " of input 0 (INDICES) is ", index[i], ", want at least 0 and less than ",
                    mapping.numel(), ", the elements of COMPRESSED_INDICES_MAPPING");
      kept += map[index[i]] != -1;
    }
    Index* row = OutputData<Index>(0, {kept});
    int32_t* length = OutputData<int32_t>(1, {segments_.count()});
    float* weight = weighted ? OutputData<float>(2, {kept}) : nullptr;
    for (int64_t s = 0; s < segments_.count(); ++s) {
      int32_t of_segment = 0;
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        const int32_t mapped = map[index[i]];
        if (mapped == -1) continue;
        *row++ = mapped;
        if (weighted) *weight++ = weights[i];
        ++of_segment;
      }
      *length++ = of_segment;
    }
    return true;
  }

  SegmentOffsets<CPUContext> segments_;
};

}  // namespace

void RegisterSparseLengthsSumSparseLookup() {
  RegisterSchema("SparseLengthsSumSparseLookup", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(2, 3)
      .Input(0, "INDICES", "[M] int32 or int64: elements of COMPRESSED_INDICES_MAPPING")
      .Input(1, "LENGTHS", "[S] int32: the indices of each segment; indices beyond are ignored")
      .Input(2, "COMPRESSED_INDICES_MAPPING",
             "[K] int32: the row of each index, or -1 if it was removed")
      .Input(3, "WEIGHTS", "(optional) [M] float: the factor of each index")
      .Output(0, "output_indices", "the rows of the indices that remain, of the type of INDICES")
      .Output(1, "output_lengths", "[S] int32: the indices of each segment that remain")
      .Output(2, "output_weights",
              "float: the factors of the indices that remain; with WEIGHTS only")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputsOfInputType(def, in);
        out[1] = UnknownShapeOf(TensorProto::INT32);
        if (in.size() > 1 && IsKnown(in[1]) && in[1].dims_size() == 1)
          out[1] = CreateTensorShape(GetDimsVector(in[1]), TensorProto_DataType_INT32);
        if (out.size() > 2) out[2] = UnknownShapeOf(TensorProto::FLOAT);
        return out;
      })
      .SetDoc(
          "Maps indices of a table to the rows that remain of it, and leaves out the indices of "
          "rows that were removed.");
  RegisterCpuOperator<SparseLookupOp>("SparseLengthsSumSparseLookup", __FILE__);
  RegisterGradient<NoGradient>("SparseLengthsSumSparseLookup", __FILE__);
}

}  // namespace caffe2rt
