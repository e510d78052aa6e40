#pragma once
// Parts of the schemas of operators on IDEEP: the arguments `layout` and `precision`, and the device
// of weights.

#include <cstdint>
#include <set>
#include <string>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kOnednnLayout{
    "layout",
    "",
    "on IDEEP: layout of the output, nchw, nhwc or nChw16c; empty: follows the input. No effect on "
    "other devices",
    {[](const std::string& name) {
       return name.empty() || name == "nchw" || name == "nhwc" || name == "nChw16c";
     },
     "nchw, nhwc, nChw16c or empty"}};
inline bool IsPrecisionName(const std::string& name) {
  return name == "f32" || name == "bf16" || name == "int8";
}
inline constexpr ArgumentSpec<std::string> kPrecision{
    "precision",
    "f32",
    "on IDEEP: with bf16, X and the filter are rounded to bfloat16 where that is estimated to be "
    "faster, and their products added in float. With int8 they may be quantized to bytes as well, "
    "X "
    "by the range from input_min to input_max. No effect on other devices",
    {IsPrecisionName, "f32, bf16 or int8"}};
inline constexpr ArgumentSpec<std::string> kOutputPrecision{
    "output_precision",
    "f32",
    "on IDEEP: with bf16, the output is kept in bfloat16 if it is computed with precision bf16 or "
    "int8; with int8, in bytes for the range from output_min to output_max if it is computed with "
    "precision int8. No effect on other devices",
    {IsPrecisionName, "f32, bf16 or int8"}};
inline constexpr ArgumentSpec<std::string> kLeastPrecision{
    "least_precision",
    "",
    "the operator is computed at least in this precision, f32 or bf16, whatever precision is asked "
    "for; empty: no limit",
    {[](const std::string& name) { return name.empty() || IsPrecisionName(name); },
     "f32, bf16, int8 or empty"}};
inline constexpr ArgumentSpec<float> kInputMin{
    "input_min", 0,
    "with input_max, the range of X, as caffe2 quantize measured it, for precision int8. Numbers "
    "outside it become its bounds"};
inline constexpr ArgumentSpec<float> kInputMax{"input_max", 0, "see input_min"};
inline constexpr ArgumentSpec<float> kOutputMin{
    "output_min", 0, "on IDEEP: with output_max, the range of Y for output_precision int8"};
inline constexpr ArgumentSpec<float> kOutputMax{"output_max", 0, "see output_min"};
inline constexpr ArgumentSpec<float> kPooledMin{"pooled_min", 0,
                                                "on IDEEP: with pooled_max, the range of Y for "
                                                "output_precision int8; if both are 0, that of X"};
inline constexpr ArgumentSpec<float> kPooledMax{"pooled_max", 0, "see pooled_min"};
inline constexpr ArgumentSpec<int> kBlockedInputs{
    "blocked_inputs", -1,
    "on IDEEP: if at least 0, images are joined in nChw16c whatever their layouts are, and that "
    "many of "
    "the first inputs are in it. No effect on other devices"};
inline constexpr ArgumentSpec<int64_t> kWinogradFilterBytes{
    "winograd_filter_bytes", INT64_MAX,
    "on IDEEP: the most bytes of a filter prepared for Winograd. No effect on other devices"};

// A device inference function: on IDEEP the inputs at these positions, which are weights, are on
// the CPU, where predictors share them. Everything else is on the operator's device.
OpSchema::DeviceInference OnednnWeightsOnCpu(std::set<int> inputs);

}  // namespace caffe2rt
