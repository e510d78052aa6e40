#pragma once
// Save: writes blobs to a new database, tensors in chunks.
//   inputs: blobs of any type that has a serializer; tensors may be on any device. No outputs.
// All records are committed together at the end (minidb replaces the file then), so that an error
// leaves an existing database unchanged.

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/created_databases.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/io/database_arguments.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<std::string> kBlobNameOverrides{
    "blob_name_overrides", "names in the database, one for each input; default: the input names"};
inline constexpr ArgumentSpec<int> kChunkSize{
    "chunk_size", kDefaultChunkSize,
    "maximum number of elements of a tensor in a record; -1: 1000000, 0: no limit"};

// Returns the path of a database argument: relative to the workspace's root folder unless
// `absolute_path` is set. The caller must check the path with the workspace's file policy before it
// opens the file.
inline std::string DatabasePath(const Workspace& ws, const std::string& db, bool absolute_path) {
  return absolute_path ? db : ws.RootFolder() + "/" + db;
}

// Returns what follows the first occurrence of `prefix` in `name`, or `name` if there is none.
inline std::string WithoutPrefix(const std::string& name, const std::string& prefix) {
  const size_t at = prefix.empty() ? std::string::npos : name.find(prefix);
  return at == std::string::npos ? name : name.substr(at + prefix.size());
}

// The database that an operator with the arguments of Save creates (created_databases.h).
CreatedDatabase DatabaseOfSave(const OperatorDef& def);

template <class Context>
class SaveOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SaveOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        absolute_path_(this->ReadArgument(kDatabaseIsAbsolute) != 0),
        strip_prefix_(this->ReadArgument(kStripPrefix)),
        db_name_(this->ReadArgument(kDatabasePath)),
        db_type_(this->ReadArgument(kDatabaseType)),
        names_(this->ReadArgument(kBlobNameOverrides)),
        chunk_size_(this->ReadArgument(kChunkSize)) {
    CAFFE_ENFORCE(!db_type_.empty(), "Must specify a db type.");
    CAFFE_ENFORCE(names_.empty() || names_.size() == static_cast<size_t>(def.input_size()),
                  "argument blob_name_overrides has ", names_.size(), " names, want ",
                  def.input_size(), ": one per input");
    CAFFE_ENFORCE(names_.empty() || strip_prefix_.empty(),
                  "strip_prefix and blob_name_overrides are mutually exclusive.");
    if (!names_.empty()) return;
    std::set<std::string> seen;
    for (const std::string& input : def.input()) {
      const std::string name = WithoutPrefix(input, strip_prefix_);
      CAFFE_ENFORCE(seen.insert(name).second, "Duplicated input: ", input);
      names_.push_back(name);
    }
  }

  bool RunOnDevice() override {
    context_.FinishDeviceComputation();  // the device may still be computing the blobs
    const Workspace& ws = *this->workspace();
    const std::string path =
        ws.file_access().CheckWrite(DatabasePath(ws, db_name_, absolute_path_));
    const std::unique_ptr<db::DB> database = db::CreateDB(db_type_, path, db::NEW);
    CAFFE_ENFORCE(database != nullptr, "Cannot find db implementation of type ", db_type_,
                  " (while trying to open ", path, ")");
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    for (int i = 0; i < this->InputSize(); ++i) {
      SerializeBlob(
          this->InputBlob(i), names_[static_cast<size_t>(i)],
          [&](const std::string& key, const std::string& record) { transaction->Put(key, record); },
          chunk_size_);
    }
    transaction->Commit();
    return true;
  }

 private:
  const bool absolute_path_;
  const std::string strip_prefix_;
  const std::string db_name_;
  const std::string db_type_;
  std::vector<std::string> names_;  // names of the blobs in the database
  const int chunk_size_;
};

}  // namespace caffe2rt
