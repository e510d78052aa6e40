#pragma once
// Tensors of the device IDEEP and their layouts.
//
//   const dnnl::memory::desc source = DescOf(X);                 // layout of an input
//   layout_ = OnednnLayout::New(primitive_desc.dst_desc());      // when the shape changes
//   float* y = PrepareOutput(Y, layout_);                        // in each run; no allocation
//   const float* x = OnednnData(X);
//
// An IDEEP tensor without an opaque layout is in row-major order, which is NCHW for images.
//
// A layout may keep the elements of a float tensor in fewer bits: as bf16, or as 8-bit integers with a
// scale and a zero point. Such a tensor is called reduced. It is a float tensor for everybody else:
// Tensor::CopyFrom, serialization and the copies to the CPU widen it. Operators read it by
// OnednnMemory; OnednnData throws for it. FormatOf a reduced tensor is kOther, so operators that
// convert what is not in a common format also read reduced tensors.
//
// An operator describes its inputs by DescOf when it plans for new shapes, and remembers them in
// an OnednnInput, which detects a change of shape or layout without an allocation.
//
// Layouts are immutable and shared. Tensors follow the rules of Tensor.

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/tensor/opaque_layout.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/onednn/onednn_quantization.h"

namespace caffe2rt {

// The common layouts of an image tensor. kNchw is row-major, and also the name for row-major
// tensors of other ranks. kOther: any other layout, for example a slice.
enum class OnednnFormat { kNchw, kNhwc, kBlocked16, kOther };
// "nchw", "nhwc", "nChw16c" or "other".
const char* OnednnFormatName(OnednnFormat format);
// The reverse, for the argument `layout` of operators. THROWS for other names.
OnednnFormat ParseOnednnFormat(const std::string& name);

// A dense descriptor of the dims (N, C, H, W) in a format. Blocks of 16 channels are padded.
// With kNchw, any rank up to 12. REQUIRES: format is not kOther, and has rank 4 unless it is kNchw.
dnnl::memory::desc DescIn(OnednnFormat format, const std::vector<int64_t>& dims,
                          dnnl::memory::data_type element = dnnl::memory::data_type::f32);
// The format of a dense descriptor with float elements, or with elements of a reduced tensor. Several
// formats may describe the same memory, for example if H and W are 1: the result is the first of them
// in the order of the enumerators.
OnednnFormat FormatOf(const dnnl::memory::desc& desc);
// Whether two descriptors place every element at the same address. A tensor in one of them can then
// be used in the other without a reorder.
bool IsSameMemory(const dnnl::memory::desc& a, const dnnl::memory::desc& b);

// A layout of oneDNN as the opaque layout of a float tensor.
class OnednnLayout final : public OpaqueLayout {
 public:
  // Returns the layout, or null if the descriptor is row-major with float elements: such tensors are
  // not opaque. THROWS if the element type is none of f32, bf16, u8 and s8, if the descriptor has no
  // dense size, or if the scale of 8-bit integers is not above 0. `quantization` has an effect on 8-bit
  // integers only.
  static std::shared_ptr<const OnednnLayout> New(const dnnl::memory::desc& desc,
                                                 const OnednnQuantization& quantization = {});

  explicit OnednnLayout(const dnnl::memory::desc& desc,
                        const OnednnQuantization& quantization = {});
  const dnnl::memory::desc& desc() const { return desc_; }
  OnednnFormat format() const { return format_; }
  // Whether the elements in memory are not floats.
  bool reduced() const { return reduced_; }
  const OnednnQuantization& quantization() const { return quantization_; }
  // Writes floats.
  void ToPlain(const void* from, void* to) const override;
  // Such as "nChw16c", and "nhwc of bf16" for reduced tensors.
  std::string Description() const override;

 private:
  const dnnl::memory::desc desc_;
  const OnednnFormat format_;
  const bool reduced_;
  const OnednnQuantization quantization_;
};

// The descriptor of an IDEEP tensor with float elements, of its memory if it is reduced. THROWS if it
// has another element type or no data, or if it was reshaped after it was written in an opaque layout.
dnnl::memory::desc DescOf(const Tensor& x);
// Whether the memory of a float tensor on IDEEP has another element type.
bool IsReduced(const Tensor& x);
// Whether they are bytes with a scale.
bool IsQuantized(const Tensor& x);
// The format of an IDEEP tensor; kOther if it is reduced or has another shape than its layout.
OnednnFormat FormatOf(const Tensor& x);
// The memory of an IDEEP tensor with float elements, in its layout. THROWS like data<float>(), but
// accepts opaque tensors. THROWS for reduced tensors.
const float* OnednnData(const Tensor& x);
// The same for all float tensors; DescOf describes the elements.
const void* OnednnMemory(const Tensor& x);

// Sets the shape of `y` to that of the layout and returns memory to write it. The layout is not
// null and not reduced; use OutputData<float> for a row-major output. In the steady state it allocates
// nothing.
float* PrepareOutput(Tensor* y, const std::shared_ptr<const OnednnLayout>& layout);
// The same for a layout that may be null, in which case `y` becomes row-major with `dims`.
float* PrepareOutput(Tensor* y, const std::vector<int64_t>& dims,
                     const std::shared_ptr<const OnednnLayout>& layout);
// The same for layouts that may be reduced, whose elements the caller writes.
void* PrepareOutputMemory(Tensor* y, const std::vector<int64_t>& dims,
                          const std::shared_ptr<const OnednnLayout>& layout);

// Converts between layouts of the same dims on the calling thread. THROWS if oneDNN cannot.
void Reorder(const dnnl::memory::desc& from_desc, const void* from,
             const dnnl::memory::desc& to_desc, void* to);

// The shape and layout of an input for which an operator has planned.
class OnednnInput {
 public:
  // Whether `x` still has the remembered shape and layout. Allocates nothing.
  bool Matches(const Tensor& x) const {
    return known_ && x.dims() == dims_ && x.opaque_layout() == layout_.get();
  }
  void Remember(const Tensor& x);
  void Forget() { known_ = false; }

 private:
  bool known_ = false;
  std::vector<int64_t> dims_;
  // Shared with the tensor, so that its address cannot be reused while it is compared.
  std::shared_ptr<const OpaqueLayout> layout_;
};

}  // namespace caffe2rt
