#pragma once
// The epilogue of a convolution as post-operations of oneDNN's primitives.

#include <dnnl.hpp>
#include <optional>

#include "contexts/onednn/onednn_quantization.h"
#include "operators/conv/conv_epilogue.h"

namespace caffe2rt {

// Whether oneDNN has the activation. If not, the caller applies it to the results (FinishRows).
bool OnednnHas(const Activation& activation);

// The attributes of a primitive that adds to its output if epilogue.sum is set and then applies the
// activation, if oneDNN has it. With `result`, it quantizes last; the output has elements of 8 bits.
dnnl::primitive_attr AttributesOf(const ConvEpilogue& epilogue,
                                  const std::optional<OnednnQuantization>& result = {});

}  // namespace caffe2rt
