#pragma once
// Checks that the optimizers share, and their shape inference.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"
#include "operators/common/inference.h"
#include "operators/optimizer/update_kernels.h"

namespace caffe2rt {

// An input and how error messages name it, for example "input 2 (grad)".
struct NamedInput {
  const Tensor& tensor;
  const char* name;
};

// THROWS unless both have the same number of elements.
inline void RequireSameSize(const NamedInput& a, const NamedInput& b) {
  CAFFE_ENFORCE_EQ(a.tensor.numel(), b.tensor.numel(), "elements of ", a.name, " of shape ",
                   a.tensor.sizes(), ", want as many as ", b.name, " of shape ", b.tensor.sizes());
}

// Returns the elements of an input that holds one number, such as the learning rate. THROWS if it
// holds another number of them.
inline const float* OneNumber(const NamedInput& input) {
  CAFFE_ENFORCE_EQ(input.tensor.numel(), 1, "elements of ", input.name, " of shape ",
                   input.tensor.sizes());
  return input.tensor.data<float>();
}
// The same for an input of which only the first element is used. THROWS if it is empty.
inline const float* FirstNumber(const NamedInput& input) {
  CAFFE_ENFORCE_GE(input.tensor.numel(), 1, "elements of ", input.name, " of shape ",
                   input.tensor.sizes());
  return input.tensor.data<float>();
}

// Reads the iteration, an int64 on the CPU or on the device. THROWS if the input is empty.
template <class Context>
int64_t ReadIteration(Operator<Context>& op, int i, HostInput* input) {
  const Tensor& iteration = input->Read(op, i);
  CAFFE_ENFORCE_GE(iteration.numel(), 1, "elements of input ", i, " (iter)");
  return iteration.data<int64_t>()[0];
}

// The sizes of a sparse update. `grad` has a slice of the shape of a row for each index. THROWS if
// the shapes do not fit.
inline RowSizes SizesOfRows(const NamedInput& param, const NamedInput& indices,
                            const NamedInput& grad) {
  CAFFE_ENFORCE_GE(param.tensor.dim(), 1, "rank of ", param.name);
  const int64_t block = param.tensor.size_from_dim(1), count = indices.tensor.numel();
  const int64_t slice = indices.tensor.dim() < grad.tensor.dim()
                            ? grad.tensor.size_from_dim(indices.tensor.dim())
                            : 1;
  CAFFE_ENFORCE(slice == block && grad.tensor.numel() == CheckedMultiply(count, block), grad.name,
                " has shape ", grad.tensor.sizes(), ", want ", block, " elements, as a row of ",
                param.name, " of shape ", param.tensor.sizes(), ", for each index of ",
                indices.name, " of shape ", indices.tensor.sizes());
  return {param.tensor.dim(0), block, count};
}

// An inference function: output k has the type and shape of input like[k].
inline OpSchema::TensorInference InferLikeInputs(std::vector<size_t> like) {
  return [like](const OperatorDef& def, const std::vector<TensorShape>& in) {
    std::vector<TensorShape> out = UnknownOutputs(def);
    for (size_t k = 0; k < out.size(); ++k) {
      if (like[k] < in.size() && IsKnown(in[like[k]])) out[k] = in[like[k]];
    }
    return out;
  };
}

}  // namespace caffe2rt
