#pragma once
// Reads arguments of an operator with the defaults that its schema declares, for code that does not
// know the declarations (ArgumentSpec) of the operator, such as graph passes.
//
//   const DeclaredArguments args(def);
//   const float epsilon = args.Get<float>("epsilon");

#include <string>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

class DeclaredArguments : public ArgumentHelper {
 public:
  // `def` must outlive this object. THROWS as ArgumentHelper does.
  explicit DeclaredArguments(const OperatorDef& def);

  // The value of the argument, or its declared default; 0, false or "" if it is required and
  // missing. THROWS if the value is in the field of another type, or if the schema does not declare
  // the argument. T is bool, int, float or std::string.
  template <class T>
  T Get(const std::string& name) const;

 private:
  const std::string& DefaultOf(const std::string& name) const;

  const std::string& type_;
  const OpSchema* const schema_;  // null if there is none
};

}  // namespace caffe2rt
