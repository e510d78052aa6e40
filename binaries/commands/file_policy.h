#pragma once
// Which files the nets of a command may open. A net may come from anywhere, so it reaches the files
// beside it and those below --root, unless --allow-files-anywhere is given.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/io/file_access.h"

namespace caffe2rt {

inline constexpr Option kAllowFilesOption = {
    "allow-files-anywhere", "", "",
    "let nets open any file, not only below the root and beside them"};

// Below `root` and the folders of `files`, from which the nets come. A pipe and standard input
// (/dev/stdin, /dev/fd/N, whatever they are redirected from) have no folder.
FileAccess FileAccessOf(const CommandLine& line, const std::string& root,
                        const std::vector<std::string>& files);

}  // namespace caffe2rt
