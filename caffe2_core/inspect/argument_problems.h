#pragma once
// All problems with the arguments of an operator. Its constructor throws the first one that it finds.
//
// The schema checks each argument by itself (OpSchema::ArgumentProblems). Other problems are known to
// the constructor alone: they concern arguments that must fit each other or the number of inputs, or
// the operator is from a module. These are found by creating the operator again, each time with the
// argument that caused the last error set to its default.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// The problems that the schema finds, required arguments that are missing included.
std::vector<std::string> SchemaProblemsOf(const OpSchema& schema, const OperatorDef& op);

// Not thread safe. Used by ValidateNet, for all operators of its nets.
class ArgumentProblems {
 public:
  // Creates an operator. Throws if its constructor does.
  using Create = std::function<void(const OperatorDef&)>;

  // All problems with the arguments of `op`, whose constructor threw `first`. `schema` may be null.
  // THROWS OutOfMemory if `create` does.
  std::vector<std::string> Of(const OpSchema* schema, const OperatorDef& op,
                              const std::string& first, const Create& create);

 private:
  // The argument that causes an error.
  struct Cause {
    std::string name;  // empty if there is none
    OperatorDef rest;  // the operator with the default value of this argument
    std::string next;  // the error of `rest`, or ""
  };
  std::string ErrorOf(const OperatorDef& op, const Create& create);
  Cause FindCause(const OpSchema* schema, const OperatorDef& op, const std::string& error,
                  const std::vector<std::string>& replaced, const Create& create);

  int64_t work_left_ = 4'000'000;  // bytes of the operators that are created, so that a file with
                                   // many broken operators is checked in about a second
};

}  // namespace caffe2rt
