#pragma once
// What the table of convolutions' timings says about layouts.

#pragma GCC visibility push(default)  // for the program caffe2
namespace caffe2rt {

// Whether the table that the process uses wants convolutions in the CPU's plain layouts, so that the
// pass onednn_regions is left out. Defined in operators/conv/conv_tuning.cc, which has the table.
bool PrefersPlainConvLayouts();

}  // namespace caffe2rt
#pragma GCC visibility pop
