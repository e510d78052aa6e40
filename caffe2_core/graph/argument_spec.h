#pragma once
// The one declaration of an operator's argument: name, default, documentation and check.
//
//   inline constexpr ArgumentSpec<float> kAlpha{"alpha", 0.01f, "slope for x < 0"};
//   inline constexpr ArgumentSpec<int> kGroup{
//       "group", 1, "number of groups", {[](int group) { return group > 0; }, "above 0"}};
//   inline constexpr RepeatedArgumentSpec<int64_t> kPads{"pads", "heads, then tails"};
//
//   alpha_(this->ReadArgument(kAlpha))                  // in the operator's constructor
//   RegisterSchema("LeakyRelu", __FILE__).Arg(kAlpha)   // for documentation and `caffe2 check`
//   ArgumentHelper(def).Read(kAlpha)                    // in inference functions, gradient makers
//
// Plain constants without protobuf, so that tables of element functions can hold them in .cu files.

#include <string>
#include <type_traits>
#include <vector>

namespace caffe2rt {

// What a value must be: a test, and words for the error: "argument "group" is 0, want above 0".
template <class T>
struct ArgumentCheck {
  using Value = std::conditional_t<std::is_arithmetic_v<T>, T, const T&>;
  bool (*holds)(Value) = nullptr;  // null: every value
  const char* want = nullptr;
};

namespace internal {
template <class T>
constexpr auto ZeroArgument() {
  if constexpr (std::is_same_v<T, std::string>) {
    return "";
  } else {
    return T{};
  }
}
}  // namespace internal

// Names of declarations in headers must differ across the library: two constants of one name would
// be one variable to the linker.
//
// T: the types of ArgumentHelper::GetSingleArgument but NetDef.
template <class T>
struct ArgumentSpec {
  using Default = std::conditional_t<std::is_same_v<T, std::string>, const char*, T>;

  const char* name;
  Default default_value = internal::ZeroArgument<T>();
  const char* doc = "";
  ArgumentCheck<T> check{};
  bool required = false;  // reading it THROWS where it is missing; the default means nothing
};

// A list; empty by default.
template <class T>
struct RepeatedArgumentSpec {
  const char* name;
  const char* doc = "";
  ArgumentCheck<std::vector<T>> check{};
  bool required = false;
};

}  // namespace caffe2rt
