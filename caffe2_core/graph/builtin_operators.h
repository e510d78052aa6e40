#pragma once
// The interface between caffe2_core and the built-in operators.

#include <string>
#include <thread>

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr int kBuiltinOperatorParts = 16;

// Registers the schema, gradient maker and CPU implementation of every built-in operator of a part, 0 to
// kBuiltinOperatorParts - 1. The parts do not depend on each other. The
// definition is generated from the operator rows of operators/*/CMakeLists.txt
// (operators/register.cc.in). A program that uses a registry therefore links the operators, even
// from a static library. Only RegisterBuiltinOperatorsOnce and RegistrationAhead may call it.
void RegisterBuiltinOperators(int part);

// Registers all parts on the first call and does nothing on later calls. Thread safe.
// Look-ups in the registries of schemas, gradient makers and operators call it; functions that
// register something must not.
void RegisterBuiltinOperatorsOnce();

// For programs: registers the operators on a thread of its own, while the program reads its files. A look-up
// registers what is left. REQUIRES: until the first look-up, the program registers nothing itself and loads no module.
class RegistrationAhead {
 public:
  // Does nothing if the system has no thread left.
  RegistrationAhead();
  ~RegistrationAhead();
  RegistrationAhead(const RegistrationAhead&) = delete;
  RegistrationAhead& operator=(const RegistrationAhead&) = delete;

 private:
  std::thread thread_;
};

// The text of operators/accepted_inputs.tsv; see accepted_inputs.h.
const char* BuiltinAcceptedInputs();

// Whether RegisterSchema (op_schema.h) declared the operator type. The schemas of users' types may
// omit effects. Thread safe.
bool IsBuiltinOperator(const std::string& type);

// Whether the type has a schema now. Registers nothing: the registration of the built-in types asks
// whether a program has taken over one that is not available. Thread safe.
bool HasSchemaAlready(const std::string& type);

}  // namespace caffe2rt
#pragma GCC visibility pop
