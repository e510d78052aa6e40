#pragma once
// The interface between caffe2_core and the built-in operators.

#include <string>

namespace caffe2rt {

// Registers the schema, gradient maker and CPU implementation of every built-in operator. The
// definition is generated from the operator rows of operators/*/CMakeLists.txt
// (operators/register.cc.in). A program that uses a registry therefore links the operators, even
// from a static library. Only RegisterBuiltinOperatorsOnce may call it.
void RegisterBuiltinOperators();

// Calls RegisterBuiltinOperators on the first call and does nothing on later calls. Thread safe.
// Look-ups in the registries of schemas, gradient makers and operators call it; functions that
// register something must not.
void RegisterBuiltinOperatorsOnce();

// The text of operators/accepted_inputs.tsv; see accepted_inputs.h.
const char* BuiltinAcceptedInputs();

// Whether RegisterSchema (op_schema.h) declared the operator type. The schemas of users' types may
// omit effects. Thread safe.
bool IsBuiltinOperator(const std::string& type);

// Whether the type has a schema now. Registers nothing: the registration of the built-in types asks
// whether a program has taken over one that is not available. Thread safe.
bool HasSchemaAlready(const std::string& type);

}  // namespace caffe2rt
