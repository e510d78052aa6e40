#pragma once
// The declaration of an operator argument: name, default, documentation and check. It is written
// once and serves the constructor, the schema and inference functions.
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
// Declarations are plain constants without protobuf, so that tables of element functions can
// contain them in .cu files.

#include <string>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// A condition on the value, and its description for the error message:
// argument "group" is 0, want above 0
template <class T>
struct ArgumentCheck {
  using Value = std::conditional_t<std::is_arithmetic_v<T>, T, const T&>;
  bool (*holds)(Value) = nullptr;  // null: every value is valid
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

// A single argument. T is any type that ArgumentHelper::GetSingleArgument supports, except NetDef.
//
// Declarations in headers are inline variables, so their names must be unique in the library: the
// linker would merge two of the same name.
template <class T>
struct ArgumentSpec {
  using Default = std::conditional_t<std::is_same_v<T, std::string>, const char*, T>;

  const char* name;
  Default default_value = internal::ZeroArgument<T>();
  const char* doc = "";
  ArgumentCheck<T> check{};
  bool required = false;  // reading THROWS if the argument is missing; default_value is not used
};

// A list of values. The default is the empty list.
template <class T>
struct RepeatedArgumentSpec {
  const char* name;
  const char* doc = "";
  ArgumentCheck<std::vector<T>> check{};
  bool required = false;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
