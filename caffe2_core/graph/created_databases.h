#pragma once
// The databases that operators create, so that a plan can check them before it runs.
//
//   DeclareCreatedDatabase("Save", [](const OperatorDef& op) { return CreatedDatabase{...}; });
//
// Thread safe.

#include <functional>
#include <optional>
#include <string>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct CreatedDatabase {
  std::string type;  // of db.h
  std::string path;  // relative to the root folder of the workspace, unless is_absolute
  bool is_absolute = false;
  bool is_pattern = false;  // the name has a printf conversion for the iteration
};

// Declares the database that operators of type `type` create when they run. `find` may throw for an
// invalid def.
void DeclareCreatedDatabase(const std::string& type,
                            std::function<CreatedDatabase(const OperatorDef&)> find);

// Returns the database that the operator creates, or nothing if its type declares none.
std::optional<CreatedDatabase> FindCreatedDatabase(const OperatorDef& op);

}  // namespace caffe2rt
#pragma GCC visibility pop
