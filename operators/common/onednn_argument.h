#pragma once
// Parts of the schemas of operators on IDEEP: the argument `layout` and the device of weights.

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
inline constexpr ArgumentSpec<int64_t> kWinogradFilterBytes{
    "winograd_filter_bytes", INT64_MAX,
    "on IDEEP: the most bytes of a filter prepared for Winograd. No effect on other devices"};

// A device inference function: on IDEEP the inputs at these positions, which are weights, are on
// the CPU, where predictors share them. Everything else is on the operator's device.
OpSchema::DeviceInference OnednnWeightsOnCpu(std::set<int> inputs);

}  // namespace caffe2rt
