#pragma once
// Which dimension Concat and Split work on: argument axis, or the channels of argument order (NCHW:
// 1, NHWC: 3). With add_axis, which counts beside axis only, that dimension is a new one.

#include <string>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kJoinAxis{
    "axis", 1, "the dimension; negative counts from the end; default: the channels of order"};
inline constexpr ArgumentSpec<std::string> kJoinOrder{
    "order",
    "NCHW",
    "NCHW or NHWC, in place of axis",
    {[](const std::string& order) {
       return order == "NCHW" || order == "nchw" || order == "NHWC" || order == "nhwc";
     },
     "NCHW or NHWC"}};
inline constexpr ArgumentSpec<int> kAddAxis{
    "add_axis", 0, "1: the dimension is a new one; only together with axis"};

struct JoinAxis {
  int axis = 1;
  bool add_axis = false;
};

// THROWS when axis and order are both given, or the order is not known.
JoinAxis ReadJoinAxis(const ArgumentHelper& args);

}  // namespace caffe2rt
