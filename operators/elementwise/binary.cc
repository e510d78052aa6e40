#include "operators/elementwise/binary.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

void RequireLikeDy(const Tensor& tensor, const char* name, const Tensor& dY) {
  CAFFE_ENFORCE(tensor.dtype() == dY.dtype(), name, " has elements of type ", tensor.dtype().name(),
                ", want ", dY.dtype().name(), " as dY");
  tensor.raw_data();  // THROWS before the outputs are modified
}

}  // namespace

bool BinaryShapes::Prepare(const Tensor& A, const Tensor& B, Tensor* Y) {
  CAFFE_ENFORCE(B.dtype() == A.dtype(), "input 1 (B) has elements of type ", B.dtype().name(),
                ", want ", A.dtype().name(), " as input 0 (A)");
  CAFFE_ENFORCE(!arguments_.legacy || Y != &B,
                "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be "
                "overwritten in place");
  const bool same = A.dims() == B.dims() && arguments_.FitsEqualShapes();
  if (!same) {
    plan_.Make(A.sizes(), B.sizes(), arguments_);
    CAFFE_ENFORCE((Y != &A && Y != &B) || Y->dims() == plan_.output_dims(),
                  "output 0 (Y) is an input of shape ", Y->sizes(), ", but the result has shape ",
                  IntArrayRef(plan_.output_dims()), ": use another blob");
  }
  if (Y != &A && Y != &B) Y->Resize(same ? A.sizes() : IntArrayRef(plan_.output_dims()));
  return same;
}

BinaryGradientShapes::BinaryGradientShapes(OperatorBase* op, DeviceType device, bool reads_y)
    : op_(op),
      device_(device),
      reads_y_(reads_y),
      old_(reads_y && op->InputSize() == 3),
      arguments_(op->args()) {}

BinaryGradientTensors BinaryGradientShapes::Tensors() const {
  const auto input = [this](int i) -> const Tensor& { return op_->InputTensor(i, device_); };
  return {.A = input(1),
          .B = input(old_ ? 0 : 2),
          .Y = input(reads_y_ ? (old_ ? 1 : 3) : 0),
          .dY = input(old_ ? 2 : 0),
          .dA = op_->OutputTensor(0, device_),
          .dB = op_->OutputTensor(1, device_)};
}

void BinaryGradientShapes::Prepare(const BinaryGradientTensors& tensors) {
  const auto& [A, B, Y, dY, dA, dB] = tensors;
  RequireLikeDy(A, "A", dY);
  RequireLikeDy(B, "B", dY);
  RequireLikeDy(Y, "Y", dY);
  plan_.Make(A.sizes(), B.sizes(), arguments_);
  CAFFE_ENFORCE(dY.numel() == plan_.output_size() && Y.numel() == plan_.output_size(),
                "dY has shape ", dY.sizes(), " and Y ", Y.sizes(), ", want ",
                IntArrayRef(plan_.output_dims()));
  ResizeOutput(0, dA, A);
  ResizeOutput(1, dB, B);
}

void BinaryGradientShapes::ResizeOutput(int i, Tensor* output, const Tensor& operand) const {
  for (int k = 0; k < op_->InputSize(); ++k) {
    CAFFE_ENFORCE(output != &op_->InputTensor(k, device_) || output->numel() == operand.numel(),
                  "output ", i, " is input ", k, " of shape ", output->sizes(),
                  ", but the gradient has shape ", operand.sizes(), ": use another blob");
  }
  output->ResizeLike(operand);
}

}  // namespace caffe2rt
