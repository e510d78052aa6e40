#pragma once
// Arguments that several operators of this family share.

#include <string>

#include "caffe2_core/graph/argument_spec.h"

namespace caffe2rt {

inline constexpr ArgumentCheck<std::string> kNotEmpty{
    [](const std::string& text) { return !text.empty(); }, "a text that is not empty"};

inline constexpr ArgumentSpec<int> kDatabaseIsAbsolute{
    "absolute_path", 0, "1: use the path of the database as it is, not below the root folder"};
inline constexpr ArgumentSpec<std::string> kDatabasePath{"db", "", "path of the database",
                                                         kNotEmpty, true};
// The default is empty; Save and Load reject it if they need a type.
inline constexpr ArgumentSpec<std::string> kDatabaseType{"db_type", "",
                                                         "minidb, leveldb, lmdb or protodb"};
inline constexpr ArgumentSpec<std::string> kStripPrefix{
    "strip_prefix", "", "removed from the names of the blobs, with all that precedes it"};

}  // namespace caffe2rt
