#pragma once
// What the table of convolutions' timings says about layouts. Internal to caffe2_core.

namespace caffe2rt {

// Whether the table that the process uses wants convolutions in the CPU's plain layouts, so that the
// pass onednn_regions is left out. Defined in operators/conv/conv_tuning.cc, which has the table.
bool PrefersPlainConvLayouts();

}  // namespace caffe2rt
