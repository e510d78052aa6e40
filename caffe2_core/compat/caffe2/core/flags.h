#pragma once
// Command-line flags as global variables. CAFFE2_DEFINE_int(batch, 4, "images per batch") at global
// scope defines FLAGS_batch, which is visible in the global namespace and in namespace caffe2.
// GlobalInit sets the variables.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "c10/util/Flags.h"
#include "caffe2_core/base/flags.h"

namespace caffe2 {

inline void SetUsageMessage(const std::string& text) { ::caffe2rt::SetUsageMessage(text); }
inline const char* UsageMessage() { return ::caffe2rt::UsageMessage().c_str(); }
// Returns false and prints a line to stderr if a flag is unknown or its value is invalid.
inline bool ParseCaffeCommandLineFlags(int* argc, char*** argv) {
  return ::c10::ParseCommandLineFlags(argc, argv);
}
using ::caffe2rt::CommandLineFlagsHasBeenParsed;

}  // namespace caffe2

#ifndef CAFFE2_DEFINE_int
#define CAFFE2RT_DEFINE_CAFFE2_FLAG(type, name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(type, name, default_value, help)              \
  namespace caffe2 {                                                 \
  using ::FLAGS_##name;                                              \
  }
#define CAFFE2RT_DECLARE_CAFFE2_FLAG(type, name) \
  CAFFE2RT_DECLARE_FLAG(type, name)              \
  namespace caffe2 {                             \
  using ::FLAGS_##name;                          \
  }
#define CAFFE2_DEFINE_int(name, default_value, help) \
  CAFFE2RT_DEFINE_CAFFE2_FLAG(int, name, default_value, help)
#define CAFFE2_DEFINE_int64(name, default_value, help) \
  CAFFE2RT_DEFINE_CAFFE2_FLAG(int64_t, name, default_value, help)
#define CAFFE2_DEFINE_double(name, default_value, help) \
  CAFFE2RT_DEFINE_CAFFE2_FLAG(double, name, default_value, help)
#define CAFFE2_DEFINE_bool(name, default_value, help) \
  CAFFE2RT_DEFINE_CAFFE2_FLAG(bool, name, default_value, help)
#define CAFFE2_DEFINE_string(name, default_value, help) \
  CAFFE2RT_DEFINE_CAFFE2_FLAG(std::string, name, default_value, help)
#define CAFFE2_DECLARE_int(name) CAFFE2RT_DECLARE_CAFFE2_FLAG(int, name)
#define CAFFE2_DECLARE_int64(name) CAFFE2RT_DECLARE_CAFFE2_FLAG(int64_t, name)
#define CAFFE2_DECLARE_double(name) CAFFE2RT_DECLARE_CAFFE2_FLAG(double, name)
#define CAFFE2_DECLARE_bool(name) CAFFE2RT_DECLARE_CAFFE2_FLAG(bool, name)
#define CAFFE2_DECLARE_string(name) CAFFE2RT_DECLARE_CAFFE2_FLAG(std::string, name)
#endif
