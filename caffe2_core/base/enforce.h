#pragma once
// Checks, and the error type of this library.
//
//   CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
//   CAFFE_ENFORCE_EQ(got, want, "argument group");       // "argument group: got 3, want 4"
//   CAFFE_THROW("file \"", path, "\" is not a NetDef");
//
// The parts after the condition are formatted only if the check fails. A message states the
// subject, what was found, what is required and the remedy, on one line without a final period.
// While the exception propagates, the runtime adds frames that name the operator, its position and
// the net.

#include <exception>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "caffe2_core/base/language.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

namespace internal {
// The types that std::cmp_equal and its siblings accept.
template <class T>
concept PlainInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t>;
template <class T>
concept PrintedInteger =
    PlainInteger<T> && !std::is_same_v<T, signed char> && !std::is_same_v<T, unsigned char>;

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// One part of a message. Text and numbers are stored; of any other object the address is stored,
// and a function that writes it. Valid only in the expression that creates it. The constructors are
// implicit, so that {parts...} makes a list.
class MessagePart {
 public:
  MessagePart(const char* text) : kind_(Kind::kText), text_(text != nullptr ? text : "(null)") {}
  MessagePart(const std::string& text) : kind_(Kind::kText), text_(text) {}
  MessagePart(std::string_view text) : kind_(Kind::kText), text_(text) {}
  MessagePart(char c) : kind_(Kind::kCharacter), character_(c) {}
  MessagePart(signed char c) : MessagePart(static_cast<char>(c)) {}
  MessagePart(unsigned char c) : MessagePart(static_cast<char>(c)) {}
  MessagePart(bool value) : kind_(Kind::kUnsigned), unsigned_(value) {}
  MessagePart(float value) : kind_(Kind::kFloating), floating_(value) {}
  MessagePart(double value) : kind_(Kind::kFloating), floating_(value) {}
  template <PrintedInteger T>
  MessagePart(T value) {
    if constexpr (std::is_signed_v<T>) {
      kind_ = Kind::kSigned;
      signed_ = value;
    } else {
      kind_ = Kind::kUnsigned;
      unsigned_ = value;
    }
  }
  // A vector is written as its elements in brackets, even if an `operator<<` for it is visible; any
  // other object by its `operator<<`, for which the caller includes <ostream>.
  template <class T>
  requires(!PrintedInteger<T>) MessagePart(const T& value) {
    if constexpr (std::is_convertible_v<const T&, const char*>) {
      *this = MessagePart(static_cast<const char*>(value));
    } else if constexpr (kIsVector<T>) {
      kind_ = Kind::kElements;
      elements_ = {&value, &AppendElements<T>};
    } else if constexpr (std::is_function_v<T>) {  // a manipulator such as std::hex
      kind_ = Kind::kStreamed;
      streamed_ = {reinterpret_cast<const void*>(&value),
                   [](std::ostream& out, const void* object) {
                     out << reinterpret_cast<T*>(const_cast<void*>(object));
                   }};
    } else {
      kind_ = Kind::kStreamed;
      streamed_ = {__builtin_addressof(value), [](std::ostream& out, const void* object) {
                     out << *static_cast<const T*>(object);
                   }};
    }
  }

  bool is_streamed() const { return kind_ == Kind::kStreamed; }
  void AppendTo(std::string* text) const;
  void WriteTo(std::ostream& out) const;

 private:
  enum class Kind : unsigned char {
    kText,
    kCharacter,
    kSigned,
    kUnsigned,
    kFloating,
    kElements,
    kStreamed
  };
  struct Elements {
    const void* object;
    void (*append)(const void* object, std::string* text);
  };
  struct Streamed {
    const void* object;
    void (*write)(std::ostream& out, const void* object);
  };

  template <class Vector>
  static void AppendElements(const void* object, std::string* text);

  Kind kind_ = Kind::kText;
  union {
    std::string_view text_ = {};
    char character_;
    long long signed_;
    unsigned long long unsigned_;
    double floating_;
    Elements elements_;
    Streamed streamed_;
  };
};

using MessageParts = std::initializer_list<MessagePart>;
std::string MessageText(MessageParts parts);

template <class Vector>
void MessagePart::AppendElements(const void* object, std::string* text) {
  const char* separator = "";
  *text += '[';
  for (const auto& element : *static_cast<const Vector*>(object)) {
    *text += separator;
    *text += MessageText({element});
    separator = ", ";
  }
  *text += ']';
}
}  // namespace internal

// Returns the text of all arguments, as a stream in the classic locale writes them: numbers do not
// depend on the process's locale.
template <class... Parts>
std::string MakeString(const Parts&... parts) {
  return internal::MessageText({internal::MessagePart(parts)...});
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
                                     MessageParts message, const void* caller = nullptr);
// The message is "<message>: got <a>, want <b>". what() has "<a> vs <b>. " before it, as in Caffe2.
[[noreturn]] void ThrowCompareFailed(const char* file, int line, const char* condition,
                                     const MessagePart& a, const MessagePart& b,
                                     MessageParts message);

// Integers of different signedness are compared by value, not after conversion to a common type.
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
#pragma GCC visibility pop

// The lists of parts name their type, because nvcc miscompiles a list without one in a template.

// CAFFE_ENFORCE for member functions: stores `this` as the caller() of the exception.
#define CAFFE_ENFORCE_WITH_CALLER(condition, ...)                                                 \
  do {                                                                                            \
    if (__builtin_expect(!(condition), 0)) {                                                      \
      ::caffe2rt::internal::ThrowEnforceNotMet(                                                   \
          __FILE__, __LINE__, #condition, ::caffe2rt::internal::MessageParts{__VA_ARGS__}, this); \
    }                                                                                             \
  } while (false)

// Throws EnforceNotMet with the message MakeString(...) if the condition is false.
#define CAFFE_ENFORCE(condition, ...)                                                            \
  do {                                                                                           \
    if (__builtin_expect(!(condition), 0)) {                                                     \
      ::caffe2rt::internal::ThrowEnforceNotMet(__FILE__, __LINE__, #condition,                   \
                                               ::caffe2rt::internal::MessageParts{__VA_ARGS__}); \
    }                                                                                            \
  } while (false)

// Throws EnforceNotMet with the message MakeString(...).
#define CAFFE_THROW(...)                                           \
  ::caffe2rt::internal::ThrowEnforceNotMet(__FILE__, __LINE__, "", \
                                           ::caffe2rt::internal::MessageParts{__VA_ARGS__})

#define CAFFE_NOT_IMPLEMENTED CAFFE_THROW("Not Implemented.")

#define CAFFE2RT_ENFORCE_COMPARE(Compare, op, x, y, ...)                                          \
  do {                                                                                            \
    const auto& caffe2rt_a = (x);                                                                 \
    const auto& caffe2rt_b = (y);                                                                 \
    if (__builtin_expect(!::caffe2rt::internal::Compare(caffe2rt_a, caffe2rt_b), 0)) {            \
      ::caffe2rt::internal::ThrowCompareFailed(__FILE__, __LINE__, #x " " #op " " #y, caffe2rt_a, \
                                               caffe2rt_b,                                        \
                                               ::caffe2rt::internal::MessageParts{__VA_ARGS__});  \
    }                                                                                             \
  } while (false)

// CAFFE_ENFORCE_EQ and siblings evaluate each operand once. The message names both values and what is
// wanted: "rank of X: got 3, want at least 4".
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
