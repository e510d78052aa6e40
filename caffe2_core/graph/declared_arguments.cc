#include "caffe2_core/graph/declared_arguments.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

DeclaredArguments::DeclaredArguments(const OperatorDef& def)
    : ArgumentHelper(def), type_(def.type()), schema_(OpSchemaRegistry::Schema(def.type())) {}

const std::string& DeclaredArguments::DefaultOf(const std::string& name) const {
  CAFFE_ENFORCE(schema_ != nullptr, "operator type \"", type_, "\" has no schema");
  const auto& declared = schema_->args();
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const OpSchema::Argument& arg) { return arg.name == name; });
  CAFFE_ENFORCE(found != declared.end(), "the schema of operator type \"", type_,
                "\" does not declare argument \"", name, "\"");
  return found->default_value;
}

template <class T>
T DeclaredArguments::Get(const std::string& name) const {
  const std::string& text = DefaultOf(name);
  if (HasArgument(name)) return GetSingleArgument<T>(name, T{});
  if constexpr (std::is_same_v<T, std::string>) {
    return text;
  } else {
    std::conditional_t<std::is_same_v<T, bool>, int, T> value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    CAFFE_ENFORCE(text.empty() || (error == std::errc() && end == text.data() + text.size()),
                  "argument \"", name, "\" of operator type \"", type_, "\" has the default ", text,
                  ", want a number");
    return static_cast<T>(value);
  }
}

template bool DeclaredArguments::Get<bool>(const std::string&) const;
template int DeclaredArguments::Get<int>(const std::string&) const;
template float DeclaredArguments::Get<float>(const std::string&) const;
template std::string DeclaredArguments::Get<std::string>(const std::string&) const;

}  // namespace caffe2rt
