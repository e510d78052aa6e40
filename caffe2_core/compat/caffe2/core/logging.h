#pragma once
// Checks and logging. LOG, CHECK and siblings are defined only if another library, such as glog,
// has not defined them before.
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2/core/flags.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"

#ifndef CHECK_NOTNULL
#define CHECK_NOTNULL(pointer) ::caffe2::internal_logging::NotNull((pointer), #pointer)
#endif
#ifndef DCHECK_NOTNULL
#define DCHECK_NOTNULL(pointer) CHECK_NOTNULL(pointer)
#endif

#ifndef CAFFE_ENFORCE_THAT
#define CAFFE_ENFORCE_THAT(condition, ...) CAFFE_ENFORCE(condition __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_THAT_WITH_CALLER(condition, ...) \
  CAFFE_ENFORCE_WITH_CALLER(condition __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_EQ_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_EQ(x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_NE_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_NE(x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LE_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_LE(x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LT_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_LT(x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GE_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_GE(x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GT_WITH_CALLER(x, y, ...) CAFFE_ENFORCE_GT(x, y __VA_OPT__(, ) __VA_ARGS__)
#endif

// Like Caffe2, this header declares operator<< for containers in namespace std, so that it is found
// inside and outside namespace caffe2.
namespace std {
template <class A, class B>
ostream& operator<<(ostream& out, const pair<A, B>& p);
template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& container);
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& container);
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& container);
}  // namespace std

namespace caffe2::internal_logging {

template <class T>
T&& NotNull(T&& pointer, const char* name) {
  CAFFE_ENFORCE(pointer != nullptr, name, " is null");
  return std::forward<T>(pointer);
}

// Prints up to 100 elements, separated by spaces.
template <class Iterator>
std::ostream& PrintElements(std::ostream& out, Iterator begin, Iterator end) {
  for (int i = 0; begin != end && i < 100; ++i, ++begin) {
    if (i > 0) out << ' ';
    out << *begin;
  }
  if (begin != end) out << " ...";
  return out;
}

}  // namespace caffe2::internal_logging

namespace std {
template <class A, class B>
inline ostream& operator<<(ostream& out, const pair<A, B>& p) {
  return out << '(' << p.first << ", " << p.second << ')';
}
template <class... Types>
inline ostream& operator<<(ostream& out, const vector<Types...>& container) {
  return ::caffe2::internal_logging::PrintElements(out, container.begin(), container.end());
}
template <class... Types>
inline ostream& operator<<(ostream& out, const map<Types...>& container) {
  return ::caffe2::internal_logging::PrintElements(out, container.begin(), container.end());
}
template <class... Types>
inline ostream& operator<<(ostream& out, const set<Types...>& container) {
  return ::caffe2::internal_logging::PrintElements(out, container.begin(), container.end());
}
}  // namespace std

namespace caffe2 {

using ::caffe2rt::EnforceNotMet;
using ::caffe2rt::MakeString;

template <class Container>
std::string Join(const std::string& delimiter, const Container& container) {
  std::string text;
  bool is_first = true;
  for (const auto& item : container) {
    text += MakeString(is_first ? std::string() : delimiter, item);
    is_first = false;
  }
  return text;
}

inline std::string StripBasename(const std::string& full_path) {
  const size_t slash = full_path.rfind('/');
  return slash == std::string::npos ? full_path : full_path.substr(slash + 1);
}

// Replaces every `from` in `s` with `to`. Returns the number of replacements.
inline size_t ReplaceAll(std::string& s, const char* from, const char* to) {
  const std::string old = from, fresh = to;
  CAFFE_ENFORCE(!old.empty(), "cannot replace an empty string");
  size_t count = 0;
  for (size_t at = s.find(old); at != std::string::npos; at = s.find(old, at + fresh.size())) {
    s.replace(at, old.size(), fresh);
    ++count;
  }
  return count;
}

inline bool InitCaffeLogging(int* /*argc*/, char** /*argv*/) { return true; }
inline bool IsUsingGoogleLogging() { return false; }
inline void ShowLogInfoToStderr() { ::caffe2rt::SetLogThreshold(0); }
// Does nothing: errors have no stack traces.
inline void SetStackTraceFetcher(std::function<std::string()> /*fetcher*/) {}

}  // namespace caffe2

namespace c10 {

using Error = ::caffe2rt::EnforceNotMet;
using ::caffe2rt::EnforceNotMet;
template <class... Parts>
std::string str(const Parts&... parts) {
  return ::caffe2rt::MakeString(parts...);
}
using ::caffe2::Join;
using ::caffe2::ReplaceAll;
using ::caffe2::SetStackTraceFetcher;
using ::caffe2::ShowLogInfoToStderr;

}  // namespace c10

// Usage of the API is not logged.
#ifndef C10_LOG_API_USAGE_ONCE
#define C10_LOG_API_USAGE_ONCE(...) static_cast<void>(0)
#endif
#ifndef C10_LOG_EVERY_N
#define C10_LOG_EVERY_N(severity, n)                                              \
  if (static ::std::atomic<int> caffe2rt_calls{0}; caffe2rt_calls++ % (n) != 0) { \
  } else                                                                          \
    LOG(severity)
#define C10_LOG_FIRST_N(severity, n)                                          \
  if (static ::std::atomic<int> caffe2rt_calls{0}; caffe2rt_calls++ >= (n)) { \
  } else                                                                      \
    LOG(severity)
#endif

#include "c10/util/Exception.h"
