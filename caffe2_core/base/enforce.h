#pragma once
// Checks, and the error type of this library.
//
//   CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
//   CAFFE_ENFORCE_EQ(got, want, "argument group");       // prints both values
//   CAFFE_THROW("file \"", path, "\" is not a NetDef");
//
// The parts after the condition are formatted only if the check fails. A message states the
// subject, what was found, what is required and the remedy, on one line without a final period.
// While the exception propagates, the runtime adds frames that name the operator, its position and
// the net.

#include <exception>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace caffe2rt {

// A string stream that formats numbers in the classic locale, regardless of the process's global
// locale. Text for files, `--json` and messages is written with this stream or std::to_chars.
// Throws std::bad_alloc if memory is exhausted, where a plain stream would truncate the text.
class ClassicStringStream : public std::ostringstream {
 public:
  ClassicStringStream() {
    imbue(std::locale::classic());
    exceptions(std::ios_base::badbit);
  }
};

namespace internal {
// Whether a message prints a T as its elements in brackets, even if an `operator<<` for T is
// visible.
template <class T>
inline constexpr bool kPrintsElements = false;
template <class T>
inline constexpr bool kPrintsElements<std::vector<T>> = true;

template <class T>
void AppendPart(std::ostream& out, const T& part) {
  if constexpr (kPrintsElements<T>) {
    const char* separator = "[";
    for (const auto& element : part) {
      out << separator;
      AppendPart(out, element);
      separator = ", ";
    }
    out << (part.empty() ? "[]" : "]");
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    const char* const text = part;
    out << (text != nullptr ? text : "(null)");
  } else {
    out << part;
  }
}
template <class... Parts>
void AppendParts(std::ostream& out, const Parts&... parts) {
  (AppendPart(out, parts), ...);
}
}  // namespace internal

// Streams all arguments into one string.
template <class... Parts>
std::string MakeString(const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    return {};
  } else {
    ClassicStringStream out;
    internal::AppendParts(out, parts...);
    return out.str();
  }
}

// Streams the elements of `container` into one string, with `delimiter` between them.
template <class Container>
std::string Join(std::string_view delimiter, const Container& container) {
  ClassicStringStream out;
  bool first = true;
  for (const auto& item : container) {
    if (!first) out << delimiter;
    first = false;
    out << item;
  }
  return out.str();
}

// The exception type of the library: every exception that the library throws is an EnforceNotMet or
// a class derived from it.
//
// `message()` is the text to show to a user: the frames, outermost first, then the message of the
// check. `what()` has Caffe2's format: source position, condition and message, then the frames,
// innermost first.
class EnforceNotMet : public std::exception {
 public:
  EnforceNotMet(const char* file, int line, const char* condition, std::string message,
                const void* caller = nullptr);

  // Adds a frame that describes the context of the failed operation, such as the operator or the
  // net.
  void AppendMessage(const std::string& frame);

  const char* what() const noexcept override { return full_.c_str(); }
  std::string msg() const { return full_; }
  // "net \"n\", operator 3 (...): argument group is 0, want at least 1".
  std::string message() const;
  // what() without frames, then the frames, innermost first.
  const std::vector<std::string>& msg_stack() const { return stack_; }
  // The object in which the check failed (CAFFE_ENFORCE_WITH_CALLER), or null. It may no longer
  // exist: compare the address only.
  const void* caller() const noexcept { return caller_; }

 private:
  std::string message_;
  std::vector<std::string> stack_;
  std::string full_;
  const void* caller_;
};

// Memory could not be allocated: the system has none left, or a limit was reached.
class OutOfMemory : public EnforceNotMet {
 public:
  using EnforceNotMet::EnforceNotMet;
};

// The message of the exception that is being handled: message() of an EnforceNotMet, what() of
// another std::exception, "unknown exception" for any other type. REQUIRES: called in a catch
// block.
std::string CurrentExceptionMessage();

// Rethrows the exception that is being handled as an EnforceNotMet, with `frame` added;
// std::bad_alloc becomes an OutOfMemory. A user's operator may throw any type. REQUIRES: called in
// a catch block.
[[noreturn]] void RethrowWithFrame(const std::string& frame);

namespace internal {
[[noreturn]] void ThrowEnforceNotMet(const char* file, int line, const char* condition,
                                     std::string message, const void* caller = nullptr);

template <class A, class B>
[[noreturn]] __attribute__((noinline, cold)) void ThrowCompareFailed(const char* file, int line,
                                                                     const char* condition,
                                                                     const A& a, const B& b,
                                                                     const std::string& message) {
  ThrowEnforceNotMet(file, line, condition,
                     MakeString(a, " vs ", b, message.empty() ? "" : ". ", message));
}

// Integers of different signedness are compared by value, not after conversion to a common type.
template <class T>
concept PlainInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t>;
#define CAFFE2RT_DEFINE_COMPARE(Name, op, safe)         \
  template <class A, class B>                           \
  constexpr bool Name(const A& a, const B& b) {         \
    if constexpr (PlainInteger<A> && PlainInteger<B>) { \
      return safe(a, b);                                \
    } else {                                            \
      return a op b;                                    \
    }                                                   \
  }
CAFFE2RT_DEFINE_COMPARE(CompareEQ, ==, std::cmp_equal)
CAFFE2RT_DEFINE_COMPARE(CompareNE, !=, std::cmp_not_equal)
CAFFE2RT_DEFINE_COMPARE(CompareLE, <=, std::cmp_less_equal)
CAFFE2RT_DEFINE_COMPARE(CompareLT, <, std::cmp_less)
CAFFE2RT_DEFINE_COMPARE(CompareGE, >=, std::cmp_greater_equal)
CAFFE2RT_DEFINE_COMPARE(CompareGT, >, std::cmp_greater)
#undef CAFFE2RT_DEFINE_COMPARE
}  // namespace internal
}  // namespace caffe2rt

// CAFFE_ENFORCE for member functions: stores `this` as the caller() of the exception.
#define CAFFE_ENFORCE_WITH_CALLER(condition, ...)                                          \
  do {                                                                                     \
    if (__builtin_expect(!(condition), 0)) {                                               \
      ::caffe2rt::internal::ThrowEnforceNotMet(__FILE__, __LINE__, #condition,             \
                                               ::caffe2rt::MakeString(__VA_ARGS__), this); \
    }                                                                                      \
  } while (false)

// Throws EnforceNotMet with the message MakeString(...) if the condition is false.
#define CAFFE_ENFORCE(condition, ...)                                                \
  do {                                                                               \
    if (__builtin_expect(!(condition), 0)) {                                         \
      ::caffe2rt::internal::ThrowEnforceNotMet(__FILE__, __LINE__, #condition,       \
                                               ::caffe2rt::MakeString(__VA_ARGS__)); \
    }                                                                                \
  } while (false)

// Throws EnforceNotMet with the message MakeString(...).
#define CAFFE_THROW(...)                                           \
  ::caffe2rt::internal::ThrowEnforceNotMet(__FILE__, __LINE__, "", \
                                           ::caffe2rt::MakeString(__VA_ARGS__))

#define CAFFE_NOT_IMPLEMENTED CAFFE_THROW("Not Implemented.")

#define CAFFE2RT_ENFORCE_COMPARE(Compare, op, x, y, ...)                                          \
  do {                                                                                            \
    const auto& caffe2rt_a = (x);                                                                 \
    const auto& caffe2rt_b = (y);                                                                 \
    if (__builtin_expect(!::caffe2rt::internal::Compare(caffe2rt_a, caffe2rt_b), 0)) {            \
      ::caffe2rt::internal::ThrowCompareFailed(__FILE__, __LINE__, #x " " #op " " #y, caffe2rt_a, \
                                               caffe2rt_b, ::caffe2rt::MakeString(__VA_ARGS__));  \
    }                                                                                             \
  } while (false)

// CAFFE_ENFORCE_EQ and siblings evaluate each operand once. The message begins with "<x> vs <y>".
#define CAFFE_ENFORCE_EQ(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareEQ, ==, x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_NE(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareNE, !=, x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LE(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareLE, <=, x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LT(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareLT, <, x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GE(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareGE, >=, x, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GT(x, y, ...) \
  CAFFE2RT_ENFORCE_COMPARE(CompareGT, >, x, y __VA_OPT__(, ) __VA_ARGS__)
