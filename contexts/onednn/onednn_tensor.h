#pragma once
// Tensors of the device IDEEP and their layouts.
//
//   const dnnl::memory::desc source = DescOf(X);                 // layout of an input
//   layout_ = OnednnLayout::New(primitive_desc.dst_desc());      // when the shape changes
//   float* y = PrepareOutput(Y, layout_);                        // in each run; no allocation
//   const float* x = OnednnData(X);
//
// An IDEEP tensor without an opaque layout is in row-major order, which is NCHW for images.
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

namespace caffe2rt {

// The common layouts of an image tensor. kNchw is row-major, and also the name for row-major
// tensors of other ranks. kOther: any other layout, for example a slice.
enum class OnednnFormat { kNchw, kNhwc, kBlocked16, kOther };
// "nchw", "nhwc", "nChw16c" or "other".
const char* OnednnFormatName(OnednnFormat format);
// The reverse, for the argument `layout` of operators. THROWS for other names.
OnednnFormat ParseOnednnFormat(const std::string& name);

// A dense float descriptor of the dims (N, C, H, W) in a format. Blocks of 16 channels are padded.
// With kNchw, any rank up to 12. REQUIRES: format is not kOther, and has rank 4 unless it is kNchw.
dnnl::memory::desc DescIn(OnednnFormat format, const std::vector<int64_t>& dims);
// The format of a dense descriptor. Several formats may describe the same memory, for example if H
// and W are 1: the result is the first of them in the order of the enumerators.
OnednnFormat FormatOf(const dnnl::memory::desc& desc);
// Whether two descriptors place every element at the same address. A tensor in one of them can then
// be used in the other without a reorder.
bool IsSameMemory(const dnnl::memory::desc& a, const dnnl::memory::desc& b);

// A layout of oneDNN as the opaque layout of a tensor.
class OnednnLayout final : public OpaqueLayout {
 public:
  // Returns the layout, or null if the descriptor is row-major: such tensors are not opaque.
  // THROWS if the element type is not float or the descriptor has no dense size.
  static std::shared_ptr<const OnednnLayout> New(const dnnl::memory::desc& desc);

  explicit OnednnLayout(const dnnl::memory::desc& desc);
  const dnnl::memory::desc& desc() const { return desc_; }
  OnednnFormat format() const { return format_; }
  void ToPlain(const void* from, void* to) const override;
  std::string Description() const override { return OnednnFormatName(format_); }

 private:
  const dnnl::memory::desc desc_;
  const OnednnFormat format_;
};

// The descriptor of an IDEEP tensor with float elements. THROWS if it has another element type or
// no data, or if it was reshaped after it was written in an opaque layout.
dnnl::memory::desc DescOf(const Tensor& x);
// The format of an IDEEP tensor; kOther if it has another shape than its layout.
OnednnFormat FormatOf(const Tensor& x);
// The memory of an IDEEP tensor with float elements, in its layout. THROWS like data<float>(), but
// accepts opaque tensors.
const float* OnednnData(const Tensor& x);

// Sets the shape of `y` to that of the layout and returns memory to write it. The layout is not
// null; use OutputData<float> for a row-major output. In the steady state it allocates nothing.
float* PrepareOutput(Tensor* y, const std::shared_ptr<const OnednnLayout>& layout);
// The same for a layout that may be null, in which case `y` becomes row-major with `dims`.
float* PrepareOutput(Tensor* y, const std::vector<int64_t>& dims,
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
