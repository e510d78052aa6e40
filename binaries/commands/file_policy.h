#pragma once
// Which files the nets of a command may open. A net may come from an untrusted source, so it can
// only open files below its own folder and below --root, unless --allow-files-anywhere is given.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/io/file_access.h"

namespace caffe2rt {

inline constexpr Option kAllowFilesOption = {
    "allow-files-anywhere",
    "",
    "",
    "let nets open any file, not only below the root and their own folder",
    false,
    true};

// Returns the policy that allows `root` and the folders of `files`, which contain the nets. A pipe
// or standard input (/dev/stdin, /dev/fd/N, even if redirected from a regular file) adds no folder.
FileAccess FileAccessOf(const CommandLine& line, const std::string& root,
                        const std::vector<std::string>& files);

}  // namespace caffe2rt
