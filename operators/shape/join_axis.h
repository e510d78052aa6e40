#pragma once
// The dimension along which Concat and Split work: the argument axis, or the channels for the
// argument order (NCHW: 1, NHWC: 3). With add_axis the dimension is a new one; add_axis only has an
// effect together with axis.

#include <string>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kJoinAxis{
    "axis", 1,
    "dimension along which to work; a negative axis counts from the end; default: the channels for "
    "order"};
inline constexpr ArgumentSpec<std::string> kJoinOrder{
    "order",
    "NCHW",
    "NCHW or NHWC: work along the channels of this layout, instead of axis",
    {[](const std::string& order) {
       return order == "NCHW" || order == "nchw" || order == "NHWC" || order == "nhwc";
     },
     "NCHW or NHWC"}};
inline constexpr ArgumentSpec<int> kAddAxis{"add_axis", 0,
                                            "1: stack along a new dimension (Concat) or remove the "
                                            "dimension (Split); only together with axis"};

struct JoinAxis {
  int axis = 1;
  bool add_axis = false;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if axis and order are both given, or the order is unknown.
JoinAxis ReadJoinAxis(const ArgumentHelper& args);
#pragma GCC visibility pop

}  // namespace caffe2rt
