#pragma once
// OnednnFilters: the filters of a convolution on IDEEP in the layouts of its primitives.
//
//   const size_t first = filters.Add(0, plain_desc, primitive_desc.weights_desc());
//   filters.Prepare(filter);                       // in each run; does nothing if nothing changed
//   const float* weights = filters.data(first);
//
// A prepared filter is attached to the storage of the plain one and shared by all operators that
// use the same layout, also those on the CPU. If the data of that storage changes, as in training, it is prepared in
// memory of its own from then on. Used by one thread at a time. In the steady state Prepare
// allocates nothing.

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/conv/int8_filter.h"
#include "operators/primitives/onednn_program.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// The key of a filter that was reordered from the layout `plain` to `wanted`, under which it is
// attached to the plain one (tensor/prepared_forms.h). It names the version of oneDNN and both
// layouts. THROWS NoOnednnImplementation if a layout has no name.
std::string OnednnFilterForm(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted);

class OnednnFilters {
 public:
  // Adds a part of the filter, which begins at `offset` floats and has the layout `plain`, in the
  // layout `wanted`. Returns its number. Equal parts get the same number. THROWS
  // NoOnednnImplementation if oneDNN cannot convert it.
  size_t Add(int64_t offset, const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted);
  // The same for a layout `wanted` of signed bytes: the part is quantized as `size` says
  // (int8_filter.h). If the memory of the floats is released (Storage::ReleaseData) and they are read later,
  // they are what the bytes stand for.
  size_t AddQuantized(int64_t offset, const dnnl::memory::desc& wanted, const Int8FilterSize& size);
  size_t size() const { return parts_.size(); }
  void Clear();

  void Prepare(const Tensor& filter);
  // REQUIRES: Prepare was called after the last change.
  const float* data(size_t part) const { return parts_[part].data; }
  int64_t channels(size_t part) const { return parts_[part].size.out; }
  // The scales of the output channels of a quantized part, and the sums of their bytes.
  const float* scales(size_t part) const;
  const float* sums(size_t part) const { return scales(part) + parts_[part].size.out; }
  // The memory of all prepared filters in bytes.
  size_t prepared_bytes() const { return prepared_.nbytes(); }

 private:
  struct Part {
    int64_t offset;
    dnnl::memory::desc wanted;
    std::unique_ptr<OnednnProgram> preparation;  // null if the plain filter is used as it is
    size_t form = 0;                             // of prepared_, if there is a preparation
    Int8FilterSize size = {};                    // of a quantized part
    size_t scales_form = 0;                      // of prepared_, of a quantized part
    const float* data = nullptr;
  };

  void PrepareForm(size_t form, const Tensor& filter, void* to);
  void QuantizePart(const Part& part, const float* filter, void* to);
  // Prepares form number `form` if it holds the scales of a quantized part.
  bool PrepareScales(size_t form, const Tensor& filter, void* to);

  std::vector<Part> parts_;
  ThreadScratch scratch_;
  PreparedWeight prepared_;
};

}  // namespace caffe2rt
