#pragma once
// Which blobs share memory after an operator has run. Most operators that share memory declare it in
// their schema (OpSchema::OutputSharesInput). Others do it here, next to their schema:
//
//   DeclareSharedMemory("RecurrentNetwork", [](const OperatorDef& def) { return pairs; });
//
// A declaration is never removed. All functions are thread safe.

#include <string>
#include <utility>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Pairs of names.
using NamePairs = std::vector<std::pair<std::string, std::string>>;

// `pairs` returns the names of blobs that share memory: two outputs, or blobs that the operator
// does not list. Declaring a type again has no effect.
void DeclareSharedMemory(const std::string& type, NamePairs (*pairs)(const OperatorDef&));

// All pairs of blobs that share memory after `def` has run. Ignores inputs and outputs that `def`
// lacks, and invalid arguments.
NamePairs SharedNamesOf(const OperatorDef& def);

}  // namespace caffe2rt
#pragma GCC visibility pop
