// UnsafeCoalesce: moves tensors into one piece of memory.
//   X1, ..., Xn float, any shapes  ->  Y1, ..., Yn (each may be its input),
//                                      shared [sum of their elements]
// The outputs share memory: writing shared changes Y1 to Yn, and the reverse. The memory stays as
// long as one of them uses it.
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/shared_memory.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

class UnsafeCoalesceOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    int64_t total = 0;
    for (int i = 0; i < InputSize(); ++i) {
      RequireElements<float>(Input(i));
      total = CheckedAdd(total, Input(i).numel());
    }
    if (AreTogether(total)) return true;
    Tensor shared(CPU);
    shared.Resize(total);
    float* const memory = shared.mutable_data<float>();
    int64_t next = 0;
    for (int i = 0; i < InputSize(); ++i) {
      const Tensor& X = Input(i);
      if (X.numel() > 0) CopyRow(context_, X.dtype(), X.numel(), X.data<float>(), memory + next);
      next += X.numel();
    }
    next = 0;
    for (int i = 0; i < InputSize(); ++i) {
      Tensor part(CPU);
      part.ResizeLike(Input(i));
      if (part.numel() > 0) {
        part.ShareExternalPointer(memory + next, 0, [owner = shared.storage()](void*) {});
      } else {
        part.mutable_data<float>();
      }
      next += part.numel();
      SetOutputTensor(i, std::move(part));
    }
    if (shared.storage() != nullptr) shared.storage()->set_exposed();
    SetOutputTensor(InputSize(), std::move(shared));
    return true;
  }

 private:
  // Whether an earlier run has done all of it: the inputs are the outputs, and lie in the last one.
  bool AreTogether(int64_t total) {
    const int last = InputSize();
    if (total == 0 || !OutputIsTensorType(last, CPU)) return false;
    const Tensor& shared = *Output(last);
    if (!shared.IsType<float>() || shared.numel() != total) return false;
    const float* memory = shared.data<float>();
    for (int i = 0; i < last; ++i) {
      const Tensor& X = Input(i);
      if (!IsInputOutputAlias(i, i) || (X.numel() > 0 && X.data<float>() != memory)) return false;
      memory += X.numel();
    }
    return true;
  }
};

// Each output shares the memory of the last one.
std::vector<std::pair<std::string, std::string>> CoalescedNames(const OperatorDef& def) {
  std::vector<std::pair<std::string, std::string>> names;
  const int last = def.output_size() - 1;
  for (int i = 0; i < last; ++i) names.emplace_back(def.output(i), def.output(last));
  return names;
}

}  // namespace

void RegisterUnsafeCoalesce() {
  RegisterSchema("UnsafeCoalesce", __FILE__)
      .NumInputsOutputs([](int inputs, int outputs) { return outputs == inputs + 1; })
      .NumInputs(0, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .AllowOneToOneInplace()
      .Input(0, "X1, X2, ...", "float tensors of any shapes")
      .Output(0, "Y1, Y2, ..., shared",
              "the inputs, and a tensor of rank 1 whose elements are theirs, in order and in the "
              "same memory")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = in;
        out.resize(static_cast<size_t>(def.input_size()), UnknownShapeOf(TensorProto::FLOAT));
        int64_t total = 0;
        bool is_known = true;
        for (const TensorShape& shape : out) {
          is_known = is_known && IsKnown(shape);
          if (is_known) total = CheckedAdd(total, static_cast<int64_t>(NumElements(shape)));
        }
        out.push_back(is_known ? CreateTensorShape(std::vector<int64_t>{total}, TensorProto::FLOAT)
                               : UnknownShapeOf(TensorProto::FLOAT));
        return out;
      })
      .Memory({.keeps_memory = true})
      .SetDoc(
          "Moves tensors into one piece of memory, so that operators can work on all of them at "
          "once. Writing the last output changes the others, and the reverse.");
  RegisterCpuOperator<UnsafeCoalesceOp>("UnsafeCoalesce", __FILE__);
  DeclareSharedMemory("UnsafeCoalesce", CoalescedNames);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
