#pragma once
// Arguments that several operators of this family share.

#include <string>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/io/db.h"

namespace caffe2rt {

inline constexpr ArgumentCheck<std::string> kNotEmpty{
    [](const std::string& text) { return !text.empty(); }, "a non-empty string"};

inline constexpr ArgumentSpec<int> kDatabaseIsAbsolute{
    "absolute_path", 0, "1: use the path as it is; 0: the path is relative to the root folder"};
inline constexpr ArgumentSpec<std::string> kDatabasePath{"db", "", "path of the database",
                                                         kNotEmpty, true};
inline constexpr ArgumentCheck<std::string> kKnownDatabaseType{
    [](const std::string& type) { return type.empty() || db::Caffe2DBRegistry().Has(type); },
    "minidb, leveldb, lmdb, protodb or a type that a module registers"};
// The default is empty; Save and Load reject it if they need a type.
inline constexpr ArgumentSpec<std::string> kDatabaseType{
    "db_type", "", "type of the database: minidb, leveldb, lmdb or protodb", kKnownDatabaseType};
inline constexpr ArgumentSpec<std::string> kStripPrefix{
    "strip_prefix", "",
    "prefix to remove from the names of the blobs, together with everything before it"};

}  // namespace caffe2rt
