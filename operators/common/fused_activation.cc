#include "operators/common/fused_activation.h"

#include <absl/strings/str_join.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace caffe2rt {
namespace {

constexpr char kFastGelu[] = "FastGelu";

// Calls visit(row, spec) for each argument of each activation.
template <class Visit>
void ForEachArgument(const Visit& visit) {
  kActivations.ForEach([&visit]<class F, class... Ts>(const UnaryRow<F, Ts...>& row) {
    if constexpr (HasArguments<F>) {
      std::apply([&](const auto&... specs) { (visit(row, specs), ...); }, F::kArguments);
    }
  });
}

// An argument of activations as one of fused operators. Declarations point to these texts, which are
// never freed.
struct FusedArgument {
  std::string name;
  std::string doc;
};
using FusedArguments = std::map<std::string, FusedArgument>;  // by the name in the activation

FusedArguments FindFusedArguments() {
  std::map<std::string, std::vector<std::string>> users;
  ForEachArgument(
      [&users](const auto& row, const auto& spec) { users[spec.name].emplace_back(row.type); });
  FusedArguments arguments;
  for (const auto& [name, types] : users) {
    arguments[name] = {
        .name = "activation_" + name,
        .doc = "argument " + name + " of " + absl::StrJoin(types, ", ") + "; default: as there"};
  }
  return arguments;
}

template <class T>
ArgumentSpec<T> AsFused(ArgumentSpec<T> spec) {
  static const auto* const arguments = new FusedArguments(FindFusedArguments());
  const FusedArgument& fused = arguments->at(spec.name);
  spec.name = fused.name.c_str();
  spec.doc = fused.doc.c_str();
  return spec;
}

std::vector<std::string> ActivationNames() {
  std::vector<std::string> names;
  kActivations.ForEach([&names](const auto& row) { names.emplace_back(row.type); });
  names.emplace_back(kFastGelu);
  return names;
}

bool IsActivation(const std::string& name) {
  bool known = name.empty() || name == kFastGelu;
  kActivations.ForEach([&](const auto& row) { known |= name == row.type; });
  return known;
}

const ArgumentSpec<std::string>& NameSpec() {
  static const auto* const want =
      new std::string("\"\" or one of " + absl::StrJoin(ActivationNames(), ", "));
  static const ArgumentSpec<std::string> spec{
      "activation",
      "",
      "operator type of the activation; FastGelu: Gelu by tanh; empty: none",
      {IsActivation, want->c_str()}};
  return spec;
}

template <class F>
F ReadFunction(const ArgumentHelper& args) {
  if constexpr (HasArguments<F>) {
    return std::apply([&args](const auto&... specs) { return F{args.Read(AsFused(specs))...}; },
                      F::kArguments);
  } else {
    return F{};
  }
}

}  // namespace

void DeclareActivation(OpSchema& schema) {
  schema.Arg(NameSpec());
  std::set<std::string> declared;
  ForEachArgument([&]<class T>(const auto&, const ArgumentSpec<T>& spec) {
    if (!declared.insert(spec.name).second) return;
    ArgumentSpec<T> fused = AsFused(spec);
    fused.check = {};  // differs between activations; ReadActivation checks
    schema.Arg(fused);
  });
}

Activation ReadActivation(const ArgumentHelper& args) {
  const std::string name = args.Read(NameSpec());
  if (name == kFastGelu) return Gelu{.fast = true};
  Activation activation;
  kActivations.ForEach([&]<class F, class... Ts>(const UnaryRow<F, Ts...>& row) {
    if (name == row.type) activation = ReadFunction<F>(args);
  });
  return activation;
}

}  // namespace caffe2rt
