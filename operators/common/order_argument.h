#pragma once
// The argument `order` of image operators.
//
//   order_(ReadStorageOrder(this->args()))       // in the operator's constructor
//   RegisterSchema("LRN", __FILE__).Arg(kStorageOrder)

#include <string>

#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kStorageOrder{
    "order",
    "NCHW",
    "layout of the data: NCHW or NHWC",
    {[](const std::string& order) { return ParseStorageOrder(order) != UNKNOWN; }, "NCHW or NHWC"}};

// NCHW or NHWC. THROWS for any other value.
inline StorageOrder ReadStorageOrder(const ArgumentHelper& args) {
  return ParseStorageOrder(args.Read(kStorageOrder));
}

}  // namespace caffe2rt
