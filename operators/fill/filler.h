#pragma once
// Filler: the base class of operators that create a tensor from arguments. It determines the shape
// of the output:
//
//   no input                   argument shape (a list; rank 0 without it)
//   an input                   the shape of input 0, followed by extra_shape
//   an input, input_as_shape   the int64 values of input 0, followed by extra_shape
//
// On a device, input 0 may be in device memory or on the CPU. With input_as_shape the host waits
// until it can read the values (operators/common/host_input.h).
//
// A subclass implements Fill(), which receives the output with its shape set, allocates it with its
// element type, and writes it. One with further inputs implements CheckInputs().

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"
#include "operators/common/inference.h"

namespace caffe2rt {

// The arguments that determine the shape. Read and checked once.
struct FillShape {
  std::vector<int64_t> shape;
  std::vector<int64_t> extra_shape;
  bool input_as_shape = false;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the arguments contradict each other or do not fit the number of inputs.
FillShape ReadFillShape(const ArgumentHelper& args, int num_inputs);
#pragma GCC visibility pop

// Shape inference of a filler. The result is unknown if it depends on the values of an input.
// THROWS as ReadFillShape does.
TensorShape InferFill(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                      TensorProto_DataType type);

// Declares the arguments shape, extra_shape and input_as_shape, the optional input, and that the
// output may overwrite the input in place.
void DeclareFillShape(OpSchema& schema);

// Declares an argument without a type. Its type depends on another argument, so `caffe2 check` must
// not read it with the type of `spec`.
template <class T>
OpSchema& DeclareUntyped(OpSchema& schema, const ArgumentSpec<T>& spec) {
  return schema.Arg(spec.name, spec.doc, spec.default_value);
}
template <class T>
OpSchema& DeclareUntyped(OpSchema& schema, const RepeatedArgumentSpec<T>& spec) {
  return schema.Arg(spec.name, spec.doc, spec.required);
}

template <class Context>
class Filler : public Operator<Context> {
 public:
  Filler(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), spec_(ReadFillShape(this->args(), this->InputSize())) {}

  bool RunOnDevice() final {
    Tensor* output = this->Output(0);
    CheckInputs();
    SetShape(output);
    Fill(output);
    return true;
  }

 protected:
  // THROWS if inputs 1 and more have a wrong shape or element type.
  virtual void CheckInputs() const {}
  // Allocates `output`, whose shape is already set, and writes every element.
  virtual void Fill(Tensor* output) = 0;

 private:
  void SetShape(Tensor* output) {
    if (this->InputSize() == 0) {
      output->Resize(spec_.shape);
      return;
    }
    if (spec_.input_as_shape) {
      const Tensor& input = shape_input_.Read(*this, 0);
      CAFFE_ENFORCE_EQ(input.dim(), 1, "input 0 gives the shape: its rank, want one dimension");
      CAFFE_ENFORCE_GT(input.numel(), 0,
                       "input 0 gives the shape: its elements, want at least one");
      const int64_t* values = input.template data<int64_t>();
      dims_.assign(values, values + input.numel());
    } else {
      const Tensor& input = InputAnywhere(*this, 0);
      dims_.assign(input.dims().begin(), input.dims().end());
    }
    dims_.insert(dims_.end(), spec_.extra_shape.begin(), spec_.extra_shape.end());
    output->Resize(dims_);
  }

  const FillShape spec_;
  std::vector<int64_t> dims_;
  HostInput shape_input_;
};

}  // namespace caffe2rt
