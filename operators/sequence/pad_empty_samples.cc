// PadEmptySamples: gives each segment without rows one blank row: zeros, or empty strings.
//   lengths int32 [S], features [sum of lengths, ...], ...
//     -> out_lengths [S], features [sum of out_lengths, ...], ...
#include <algorithm>
#include <climits>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

class PadEmptySamplesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    CAFFE_ENFORCE_EQ(OutputSize(), InputSize(), "outputs, want one for each input");
    CAFFE_ENFORCE_EQ(Input(0).dim(), 1, "rank of input 0 (lengths) of shape ", Input(0).sizes());
    RequireElements<int32_t>(Input(0));
    for (int i = 1; i < InputSize(); ++i)
      CAFFE_ENFORCE_GE(Input(i).dim(), 1, "rank of input ", i, " (features)");
    samples_.Read<int32_t>(*this, 0, "input 0 (lengths)");
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE_EQ(Input(i).dim(0), samples_.total(), "dim 0 of input ", i,
                       " (features) of shape ", Input(i).sizes(), ", want the sum of the lengths");
    }
    const int32_t* const length = Input(0).data<int32_t>();
    int32_t* const padded = OutputData<int32_t>(0, {samples_.count()});
    int64_t rows = 0;
    for (int64_t s = 0; s < samples_.count(); ++s) {
      padded[s] = std::max(length[s], 1);
      rows += padded[s];
    }
    for (int i = 1; i < InputSize(); ++i) Pad(Input(i), rows, Output(i));
    return true;
  }

 private:
  void Pad(const Tensor& features, int64_t rows, Tensor* output) {
    const TypeMeta type = features.dtype();
    dims_.assign(features.dims().begin(), features.dims().end());
    dims_[0] = rows;
    output->Resize(dims_);
    void* y = OutputMemory(output, type);
    if (output->numel() == 0) return;
    const int64_t block = features.size_from_dim(1);
    const void* x = features.numel() > 0 ? features.raw_data() : nullptr;
    for (int64_t s = 0; s < samples_.count(); ++s) {
      const int64_t items = samples_.length(s) * block;
      if (items == 0) {
        FillBlanks(type, block, y);
        y = ItemAt(y, type, block);
      } else {
        CopyRow(context_, type, items, x, y);
        x = ItemAt(x, type, items);
        y = ItemAt(y, type, items);
      }
    }
  }

  SegmentOffsets<CPUContext> samples_;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterPadEmptySamples() {
  RegisterSchema("PadEmptySamples", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .Input(0, "lengths", "[S] int32: the number of rows of each sample")
      .Input(1, "features, ...", "(optional) [sum of lengths, ...], elements of any type")
      .Output(0, "out_lengths", "[S] int32: lengths, with 1 instead of 0")
      .Output(1, "out_features, ...",
              "[sum of out_lengths, ...], one for each input of features: the rows of each sample, "
              "or a row of zeros or empty strings")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputs(def);
        for (size_t i = 1; i < std::min(in.size(), out.size()); ++i) {
          if (in[i].has_data_type()) out[i] = UnknownShapeOf(in[i].data_type());
        }
        out[0] = UnknownShapeOf(TensorProto::INT32);
        if (AreKnown(in, 1)) out[0] = CreateTensorShape(GetDimsVector(in[0]), TensorProto::INT32);
        return out;
      })
      .SetDoc("Gives each sample without rows one blank row. Caffe2 has no gradient either.");
  RegisterCpuOperator<PadEmptySamplesOp>("PadEmptySamples", __FILE__);
}

}  // namespace caffe2rt
