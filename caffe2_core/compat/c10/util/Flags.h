#pragma once
// The flag macros of later Caffe2 versions: C10_DEFINE_int(batch, 4, "images per batch") at global
// scope defines FLAGS_batch, which is also visible as c10::FLAGS_batch.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>

#include "c10/macros/Macros.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"

namespace c10 {

inline void SetUsageMessage(const std::string& text) { ::caffe2rt::SetUsageMessage(text); }
inline const char* UsageMessage() { return ::caffe2rt::UsageMessage().c_str(); }
inline bool ParseCommandLineFlags(int* argc, char*** argv) {
  try {
    ::caffe2rt::ParseCommandLineFlags(argc, argv);
    return true;
  } catch (const ::caffe2rt::EnforceNotMet& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return false;
  }
}
using ::caffe2rt::CommandLineFlagsHasBeenParsed;

}  // namespace c10

#ifndef C10_DEFINE_int
#define CAFFE2RT_DEFINE_FLAG(type, name, default_value, help)         \
  type FLAGS_##name = default_value;                                  \
  namespace {                                                         \
  [[maybe_unused]] const bool caffe2rt_flag_##name =                  \
      ::caffe2rt::RegisterFlag(#name, &FLAGS_##name, help, __FILE__); \
  }                                                                   \
  namespace c10 {                                                     \
  using ::FLAGS_##name;                                               \
  }
#define CAFFE2RT_DECLARE_FLAG(type, name) \
  extern type FLAGS_##name;               \
  namespace c10 {                         \
  using ::FLAGS_##name;                   \
  }
#define C10_DEFINE_int(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(int, name, default_value, help)
#define C10_DEFINE_int32(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(int, name, default_value, help)
#define C10_DEFINE_int64(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(int64_t, name, default_value, help)
#define C10_DEFINE_double(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(double, name, default_value, help)
#define C10_DEFINE_bool(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(bool, name, default_value, help)
#define C10_DEFINE_string(name, default_value, help) \
  CAFFE2RT_DEFINE_FLAG(std::string, name, default_value, help)
#define C10_DECLARE_int(name) CAFFE2RT_DECLARE_FLAG(int, name)
#define C10_DECLARE_int32(name) CAFFE2RT_DECLARE_FLAG(int, name)
#define C10_DECLARE_int64(name) CAFFE2RT_DECLARE_FLAG(int64_t, name)
#define C10_DECLARE_double(name) CAFFE2RT_DECLARE_FLAG(double, name)
#define C10_DECLARE_bool(name) CAFFE2RT_DECLARE_FLAG(bool, name)
#define C10_DECLARE_string(name) CAFFE2RT_DECLARE_FLAG(std::string, name)
#endif
