#pragma once
// Represents databases as maps, for the tests of databases.

#include <map>
#include <string>

#include "caffe2_core/io/db.h"

namespace caffe2rt::test {

using Records = std::map<std::string, std::string>;

// Writes all records in one transaction.
inline void Put(const std::string& type, const std::string& path, db::Mode mode,
                const Records& records) {
  const auto database = db::CreateDB(type, path, mode);
  const auto transaction = database->NewTransaction();
  for (const auto& [key, value] : records) transaction->Put(key, value);
  transaction->Commit();
}

inline Records GetAll(const std::string& type, const std::string& path) {
  Records records;
  const auto database = db::CreateDB(type, path, db::READ);
  const auto cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) records[cursor->key()] = cursor->value();
  return records;
}

}  // namespace caffe2rt::test
