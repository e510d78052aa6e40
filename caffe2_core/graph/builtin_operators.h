#pragma once
// The seam between caffe2_core and the operators that come with the library.

namespace caffe2rt {

// Registers schemas, gradient makers and CPU operators of every built-in operator. Generated from
// the operator rows of operators/*/CMakeLists.txt (operators/register.cc.in), so that whoever uses
// a registry links them, from a static library too. Called by RegisterBuiltinOperatorsOnce alone.
void RegisterBuiltinOperators();

// The same, and does nothing from the second call on. Thread safe. Look-ups in the registries of
// schemas, gradient makers and operators call it; a Register function must not.
void RegisterBuiltinOperatorsOnce();

}  // namespace caffe2rt
