#pragma once
// Names that nearly all sources written for Caffe2 use.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "c10/macros/Macros.h"
#include "caffe2/core/macros.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/device_module.h"

namespace caffe2 {

using std::make_unique;
using std::set;
using std::stod;
using std::stoi;
using std::string;
using std::to_string;
using std::unique_ptr;
using std::vector;

using TIndex = int64_t;

template <class Key, class Value>
using CaffeMap = std::map<Key, Value>;

// A compile-time list of indices; Contains reports whether an index is in it.
template <int... values>
class SkipIndices {
 public:
  static inline bool Contains(const int i) { return ((i == values) || ...); }
};

template <class Dst, class Src>
inline Dst dynamic_cast_if_rtti(Src ptr) {
  return dynamic_cast<Dst>(ptr);
}

// Whether libcaffe2_cuda is available. Does not start a device.
inline bool HasCudaRuntime() { return ::caffe2rt::LoadDeviceModule(::caffe2rt::CUDA) != nullptr; }

inline const std::map<string, string>& GetBuildOptions() {
  static const std::map<string, string> options = {
      {"USE_CUDA", ::caffe2rt::FindDeviceDescriptor(::caffe2rt::CUDA)->in_this_build ? "1" : "0"},
      {"BUILD", "caffe2rt"}};
  return options;
}

}  // namespace caffe2

namespace c10 {
using std::stod;
using std::stoi;
using std::to_string;
}  // namespace c10
