#include "operators/shape/split.h"

#include <algorithm>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/shape/split_gradient.h"

namespace caffe2rt {

void SplitSizes(int64_t total, int outputs, bool add_axis, ArrayRef<int> wanted,
                std::vector<int64_t>* sizes, bool uneven) {
  CAFFE_ENFORCE_GE(outputs, 1, "outputs");
  const size_t count = static_cast<size_t>(outputs);
  CAFFE_ENFORCE(wanted.empty() || wanted.size() == count, "split has ", wanted.size(),
                " sizes, want one for each of the ", outputs, " outputs");
  if (add_axis) {
    CAFFE_ENFORCE_EQ(total, outputs, "size of the dimension to remove, want the number of outputs");
    sizes->assign(count, 1);
    return;
  }
  if (wanted.empty() && uneven) {
    const int64_t size = total / outputs + (total % outputs > 0 ? 1 : 0);
    sizes->clear();
    for (int i = 0; i < outputs; ++i) {
      sizes->push_back(std::min(size, total));
      total -= sizes->back();
    }
    return;
  }
  if (wanted.empty()) {
    CAFFE_ENFORCE_EQ(total % outputs, 0, "dimension of size ", total, " cannot be divided into ",
                     outputs, " equal outputs: set argument split");
    sizes->assign(count, total / outputs);
    return;
  }
  int64_t sum = 0;
  for (const int size : wanted) {
    CAFFE_ENFORCE_GE(size, 0, "size in split, want at least 0");
    sum += size;
  }
  CAFFE_ENFORCE_EQ(sum, total, "sum of the sizes in split, want the size of the dimension");
  sizes->assign(wanted.begin(), wanted.end());
}

ArrayRef<int> SizesOfInput(const Tensor& split, int outputs, std::vector<int>* converted) {
  CAFFE_ENFORCE_EQ(split.numel(), outputs, "elements of input 1 (split), want one for each output");
  if (split.IsType<int64_t>()) {
    converted->clear();
    for (int i = 0; i < outputs; ++i)
      converted->push_back(
          CheckedCast<int>(split.data<int64_t>()[i], "element of input 1 (split)"));
    return *converted;
  }
  return {split.data<int>(), static_cast<size_t>(split.numel())};
}

void SplitPieceDims(IntArrayRef input, int axis, bool add_axis, int64_t size,
                    std::vector<int64_t>* dims) {
  dims->assign(input.begin(), input.end());
  if (add_axis) {
    dims->erase(dims->begin() + axis);
  } else {
    (*dims)[static_cast<size_t>(axis)] = size;
  }
}

namespace {

std::vector<TensorShape> InferSplit(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  const JoinAxis join = ReadJoinAxis(args);
  const std::vector<int> split = args.Read(kSplitSizes);
  // Sizes from a second input are only known in a run, unless each has to be 1.
  if (!AreKnown(in, 1) || (def.input_size() > 1 && !join.add_axis))
    return UnknownOutputsOfInputType(def, in);
  const std::vector<int64_t> input = GetDimsVector(in[0]);
  const int axis = canonical_axis_index_(join.axis, static_cast<int>(input.size()));
  std::vector<int64_t> sizes, dims;
  SplitSizes(input[static_cast<size_t>(axis)], def.output_size(), join.add_axis, split, &sizes,
             args.Read(kSplitUneven));
  std::vector<TensorShape> shapes;
  for (const int64_t size : sizes) {
    SplitPieceDims(input, axis, join.add_axis, size, &dims);
    shapes.push_back(CreateTensorShape(dims, in[0].data_type()));
  }
  return shapes;
}

std::vector<MemoryTraits::Part> PartsOfSplit(const OperatorDef& def,
                                             const std::vector<TensorShape>& in,
                                             const std::vector<TensorShape>& out) {
  if (in.empty()) return {};
  const JoinAxis join = ReadJoinAxis(ArgumentHelper(def));
  return PlacesOfParts(def, in[0], out, join);
}

void RegisterSplitAs(const std::string& type, const OperatorTraits& traits) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(1, 2)
      .NumOutputs(1, INT_MAX)
      .Args(kJoinAxis, kJoinOrder, kAddAxis, kSplitSizes, kSplitUneven)
      .Input(0, "input", "input, of any shape")
      .Input(1, "split",
             "(optional) int32 or int64: the size of each output, instead of the argument split")
      .Output(0, "[output_0, output_1, ...]", "the pieces")
      .DeviceInferenceFunction(OnCPU({1}, {}))
      .TensorInferenceFunction(InferSplit)
      .CostInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return MoveCost(in, InferSplit(def, in));
      })
      .Traits(traits)
      .Memory({.output_parts = PartsOfSplit})
      .SetDoc("Splits a tensor into pieces along one dimension, one for each output.");
  if (type == "Split") schema.InheritOnnxSchema();
  RegisterCpuOperator<SplitOp<CPUContext>>(type, __FILE__);
  RegisterGradient<GetSplitGradient>(type, __FILE__);
}

}  // namespace

void RegisterSplit() {
  RegisterSplitAs("Split", {.family = OperatorFamily::kShape,
                            .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kChannelAxis}});
  RegisterSplitAs("DepthSplit", {.family = OperatorFamily::kShape});
}

}  // namespace caffe2rt
