#pragma once
// Declarations of the window arguments, for ParseWindowArguments and DeclareWindowArguments
// (conv_geometry.h).

#include "caffe2_core/graph/argument_spec.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

// Three ways to set one value per axis: a list, a scalar for both axes of an image, or one argument
// for each of the two axes.
struct PerAxisArgument {
  RepeatedArgumentSpec<int> list;
  ArgumentSpec<int> scalar, height, width;
};

inline constexpr PerAxisArgument kWindowKernel{
    {"kernels", "window sizes, one for each axis"},
    {"kernel", 0, "window size of both axes of an image"},
    {"kernel_h", 0, "window height; has an effect only together with kernel_w"},
    {"kernel_w", 0, "window width; has an effect only together with kernel_h"}};
inline constexpr PerAxisArgument kWindowStride{
    {"strides", "distances between windows, one for each axis"},
    {"stride", 1, "distance between windows in both axes of an image"},
    {"stride_h", 1, "vertical distance; has an effect only together with stride_w"},
    {"stride_w", 1, "horizontal distance; has an effect only together with stride_h"}};
inline constexpr PerAxisArgument kWindowDilation{
    {"dilations", "distances between taps, one for each axis"},
    {"dilation", 1, "distance between taps in both axes of an image"},
    {"dilation_h", 1, "vertical distance; has an effect only together with dilation_w"},
    {"dilation_w", 1, "horizontal distance; has an effect only together with dilation_h"}};
inline constexpr PerAxisArgument kWindowAdj{
    {"adjs", "rows or columns added at the end, one number for each axis"},
    {"adj", 0, "rows and columns added at the end of an image"},
    {"adj_h", 0, "rows added; has an effect only together with adj_w"},
    {"adj_w", 0, "columns added; has an effect only together with adj_h"}};

inline constexpr RepeatedArgumentSpec<int> kWindowPads{
    "pads", "padding: heads of all axes, then tails of all axes; negative values crop"};
inline constexpr ArgumentSpec<int> kWindowPad{"pad", 0, "padding of all four sides of an image"};
// In the same order as the values of kWindowPads.
inline constexpr ArgumentSpec<int> kWindowPadSides[] = {
    {"pad_t", 0, "padding above; the four sides have an effect only together"},
    {"pad_l", 0, "padding on the left"},
    {"pad_b", 0, "padding below"},
    {"pad_r", 0, "padding on the right"}};

inline constexpr const char* kLegacyPadDoc =
    "0: padding as given, 1: VALID, 2: SAME, 3: output sizes rounded as in Caffe's pools";
inline constexpr ArgumentSpec<int> kLegacyPad{
    "legacy_pad",
    0,
    kLegacyPadDoc,
    {[](int rule) { return rule >= 0 && rule <= 3; },
     "0 (NOTSET), 1 (VALID), 2 (SAME) or 3 (CAFFE_LEGACY_POOLING)"}};
inline constexpr ArgumentSpec<int> kTransposedLegacyPad{
    "legacy_pad",
    0,
    kLegacyPadDoc,
    {[](int rule) { return rule >= 0 && rule <= 2; }, "0 (NOTSET), 1 (VALID) or 2 (SAME)"}};
inline constexpr ArgumentSpec<int> kPadImageLegacyPad{
    "legacy_pad",
    0,
    kLegacyPadDoc,
    {[](int rule) { return rule == 0; }, "0 (NOTSET): PadImage accepts explicit pads only"}};

// Returns which of these three arguments the operators of kind `use` have.
const ArgumentSpec<int>& LegacyPadArgument(WindowUse use);

inline constexpr ArgumentSpec<int> kConvGroup{
    "group",
    1,
    "number of groups of channels that are convolved separately",
    {[](int group) { return group > 0; }, "above 0"}};
inline constexpr ArgumentSpec<int> kUnusedGroup{"group", 1, "has no effect"};
// Returns which of these two arguments the operators of kind `use` have.
const ArgumentSpec<int>& WindowGroupArgument(WindowUse use);

inline constexpr ArgumentSpec<int> kGlobalPooling{"global_pooling", 0,
                                                  "1: one window over the whole input"};
inline constexpr ArgumentSpec<int> kDeterministic{
    "deterministic", 0, "1: the same bits for every number of threads; has no effect on pools"};
// Accepted and ignored: hints for implementations that this library does not have.
inline constexpr ArgumentSpec<int> kSharedBuffer{"shared_buffer", 0,
                                                 "hint of Caffe2; has no effect"};
inline constexpr ArgumentSpec<bool> kFloat16Compute{"float16_compute", false,
                                                    "hint for other devices; has no effect"};

}  // namespace caffe2rt
