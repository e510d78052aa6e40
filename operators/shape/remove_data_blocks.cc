// RemoveDataBlocks: the rows of data that indices do not name.
//   data [N, ...], indices int32 or int64 [M]  ->  [N - different indices, ...]
#include <algorithm>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class RemoveDataBlocksOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& indices = Input(1);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (indices) of shape ", indices.sizes());
    const int64_t rows = data.dim(0), block = data.size_from_dim(1);
    DispatchByType<int32_t, int64_t>(indices.dtype(), "input 1 (indices)", [&](auto number) {
      const auto* const index = indices.data<decltype(number)>();
      removed_.assign(static_cast<size_t>(rows), 0);
      for (int64_t i = 0; i < indices.numel(); ++i) {
        CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows, "element ", i, " of input 1 (indices) is ",
                      index[i], ", want at least 0 and less than ", rows,
                      ", the rows of input 0 (data)");
        removed_[static_cast<size_t>(index[i])] = 1;
      }
    });
    const TypeMeta type = data.dtype();
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = std::count(removed_.begin(), removed_.end(), 0);
    Tensor* const output = Output(0);
    output->Resize(dims_);
    void* y = OutputMemory(output, type);
    if (output->numel() == 0) return true;
    for (int64_t i = 0; i < rows; ++i) {
      if (removed_[static_cast<size_t>(i)] != 0) continue;
      CopyRow(context_, type, block, ItemAt(data.raw_data(), type, i * block), y);
      y = ItemAt(y, type, block);
    }
    return true;
  }

 private:
  std::vector<char> removed_;  // of each row
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterRemoveDataBlocks() {
  RegisterSchema("RemoveDataBlocks", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "[N, ...], elements of any type")
      .Input(1, "indices", "[M] int32 or int64: the rows to remove, in any order")
      .Output(0, "shrunk data", "the other rows, in order")
      .TypesOfInput(1, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .SetDoc("Removes rows of data.");
  RegisterCpuOperator<RemoveDataBlocksOp>("RemoveDataBlocks", __FILE__);
  // As in Caffe2.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RemoveDataBlocks", __FILE__);
}

}  // namespace caffe2rt
