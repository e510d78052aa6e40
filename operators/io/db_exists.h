#pragma once
// DBExists: whether a database can be opened for reading. It is an error if the workspace's file
// policy forbids the path.
//   no inputs  ->  exists: bool, rank 0, on the CPU

#include <string>

#include "operators/io/save.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kDatabaseName{"db_name", "", "path of the database"};
// A database of a type that is not known does not exist.
inline constexpr ArgumentSpec<std::string> kSoughtDatabaseType{"db_type", "", kDatabaseType.doc};

template <class Context>
class DBExistsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DBExistsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        path_(DatabasePath(*ws, this->ReadArgument(kDatabaseName),
                           this->ReadArgument(kDatabaseIsAbsolute) != 0)),
        db_type_(this->ReadArgument(kSoughtDatabaseType)) {}

  bool RunOnDevice() override {
    const std::string path = this->workspace()->file_access().CheckRead(path_);
    Tensor* exists = this->OutputTensor(0, CPU, IntArrayRef(), TypeMeta::Make<bool>());
    *exists->template mutable_data<bool>() = db::DBExists(db_type_, path);
    return true;
  }

 private:
  const std::string path_;
  const std::string db_type_;
};

}  // namespace caffe2rt
