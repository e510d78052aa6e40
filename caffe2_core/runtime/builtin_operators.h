#pragma once
// The seam between the runtime and the operators that come with the library.

namespace caffe2rt {

// Registers schemas and CPU operators of every built-in family. Defined in operators/register.cc,
// so that whoever uses the operator registry links them, from a static library too. Called once by
// EnsureBuiltinOperators.
void RegisterBuiltinOperators();

}  // namespace caffe2rt
