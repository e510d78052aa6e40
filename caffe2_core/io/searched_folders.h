#pragma once
// Names the folders in which a file of a net was sought, for errors.

#include <string>

#include "caffe2_core/io/file_access.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns `; "weights.minidb" was sought in "/data" and "/models"` if the relative path `name` of a
// net leads to no file: the folders are those that `access` allows, which are the root folder and
// the folders of the nets. `path` is the path that was opened. Returns "" if it exists, if `name` is
// absolute, or if there is only one folder.
std::string SearchedFolders(const FileAccess& access, const std::string& name,
                            const std::string& path);

}  // namespace caffe2rt
#pragma GCC visibility pop
