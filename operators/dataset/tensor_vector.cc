// CreateTensorVector, TensorVectorSize, ConcatTensorVector, CollectTensor: lists of tensors.
//
//   CreateTensorVector                  ->  an empty list
//   TensorVectorSize    list            ->  its size, int32 scalar
//   ConcatTensorVector  list            ->  its tensors, joined in dimension 0
//   CollectTensor       lists, tensors  ->  lists, in place; each gets its tensor
//
// Of the tensors that a CollectTensor operator has seen in its runs, the lists hold num_to_collect,
// chosen at random with equal probability (reservoir sampling). All its lists choose the same runs.
#include <climits>
#include <memory>
#include <random>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kNumToCollect{
    .name = "num_to_collect",
    .doc = "most tensors in a list, above 0",
    .check = {[](int number) { return number > 0; }, "above 0"},
    .required = true};

// The content of a blob, as Caffe2's sources know it.
using TensorVectorBlob = std::unique_ptr<std::vector<Tensor>>;

const std::vector<Tensor>& VectorInput(const OperatorBase& op, int i) {
  const auto& vector = op.Input<TensorVectorBlob>(i);
  CAFFE_ENFORCE(vector != nullptr, "input ", i, " holds no list of tensors");
  return *vector;
}

class CreateTensorVectorOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OperatorBase::Output<TensorVectorBlob>(0) = std::make_unique<std::vector<Tensor>>();
    return true;
  }
};

class TensorVectorSizeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    *OutputData<int32_t>(0, {}) =
        CheckedCast<int32_t>(VectorInput(*this, 0).size(), "size of the list");
    return true;
  }
};

class ConcatTensorVectorOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const std::vector<Tensor>& tensors = VectorInput(*this, 0);
    CAFFE_ENFORCE(!tensors.empty(), "input 0 (list of tensors) is empty, want at least one tensor");
    const Tensor& first = tensors[0];
    CAFFE_ENFORCE_GT(first.dim(), 0, "dimensions of the tensors in input 0");
    int64_t rows = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      bool fits = tensors[i].dtype() == first.dtype() && tensors[i].dim() == first.dim();
      for (int d = 1; fits && d < first.dim(); ++d) fits = tensors[i].dim(d) == first.dim(d);
      CAFFE_ENFORCE(fits, "tensor ", i, " in input 0 is ", tensors[i].dtype().name(), " ",
                    tensors[i].sizes(), ", want ", first.dtype().name(), " ", first.sizes(),
                    " except in dimension 0, as tensor 0");
      rows = CheckedAdd(rows, tensors[i].dim(0));
    }
    dims_ = first.dims();
    dims_[0] = rows;
    Tensor* const out = Output(0);
    out->Resize(dims_);
    if (!first.dtype().IsSet()) return true;
    char* to = static_cast<char*>(out->raw_mutable_data(first.dtype()));
    for (const Tensor& tensor : tensors) {
      if (tensor.numel() == 0) continue;
      context_.CopyItemsSameDevice(tensor.dtype(), static_cast<size_t>(tensor.numel()),
                                   tensor.raw_data(), to);
      to += tensor.nbytes();
    }
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

class CollectTensorOp final : public Operator<CPUContext> {
 public:
  CollectTensorOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), most_(ReadArgument(kNumToCollect)) {}

  bool RunOnDevice() override {
    const int lists = OutputSize();
    for (int i = 0; i < lists; ++i) {
      (void)VectorInput(*this, i);
      (void)Input(lists + i);  // THROWS if it is not a tensor
    }
    int64_t position = seen_;
    if (seen_ >= most_) {
      position = std::uniform_int_distribution<int64_t>(0, seen_)(context_.RandGenerator());
    }
    ++seen_;
    if (position >= most_) return true;
    for (int i = 0; i < lists; ++i) {
      std::vector<Tensor>& list = **OperatorBase::Output<TensorVectorBlob>(i);
      if (static_cast<size_t>(position) >= list.size()) {
        list.emplace_back(Input(lists + i), CPU);
      } else {
        list[static_cast<size_t>(position)].CopyFrom(Input(lists + i), &context_);
      }
    }
    return true;
  }

 private:
  const int64_t most_;
  int64_t seen_ = 0;  // number of runs
};

}  // namespace

void RegisterTensorVector() {
  RegisterSchema("CreateTensorVector", __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Output(0, "list", "an empty list of tensors")
      .SetDoc("Creates a list of tensors.");
  RegisterCpuOperator<CreateTensorVectorOp>("CreateTensorVector", __FILE__);
  RegisterSchema("TensorVectorSize", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "list", "a list from CreateTensorVector")
      .Output(0, "size", "int32 scalar")
      .ScalarType(TensorProto_DataType_INT32)
      .SetDoc("Returns the number of tensors in a list.");
  RegisterCpuOperator<TensorVectorSizeOp>("TensorVectorSize", __FILE__);
  RegisterSchema("ConcatTensorVector", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "list", "a list from CreateTensorVector, not empty")
      .Output(0, "tensor", "the tensors, joined in dimension 0")
      .SetDoc("Joins the tensors of a list in dimension 0.");
  RegisterCpuOperator<ConcatTensorVectorOp>("ConcatTensorVector", __FILE__);
  RegisterSchema("CollectTensor", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in > 1 && in == 2 * out; })
      .EnforceOneToOneInplace()
      .Arg(kNumToCollect)
      .Input(0, "list_0, ..., tensor_0, ...", "N lists from CreateTensorVector; N tensors")
      .Output(0, "list_0, ...", "the lists, in place")
      .HasEffect(Effect::kRandom)
      .SetDoc(
          "Adds each tensor to its list until the lists have num_to_collect tensors. Then each run "
          "replaces a tensor at random, so that every run is kept with the same probability.");
  RegisterCpuOperator<CollectTensorOp>("CollectTensor", __FILE__);
  // A list is not a tensor.
  for (const char* type :
       {"CreateTensorVector", "TensorVectorSize", "ConcatTensorVector", "CollectTensor"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
