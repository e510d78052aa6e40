#pragma once
// Standard input, standard output and pipes as the files of a program.
//
//   UseStandardStreams();             // once, at the start of a program
//   ReadNpy("-");                     // reads standard input
//   ReadNpy("/dev/fd/63");            // a pipe, for example <(...) of a shell
//   WriteFileAtomically("-", bytes);  // writes standard output
//
// Detecting a file's kind and parsing it are two passes over the file, and a pipe can be read only
// once. Therefore the first function that opens a pipe reads it to its end and keeps the content in
// memory, and every later one opens that content (OpenForReading). Sockets, terminals and other
// character devices are handled in the same way. A pipe may have up to kMaxPipeBytes bytes, which
// count against the memory limit until the process ends.
//
// Without the call, "-" is the name of an ordinary file and pipes are not kept, because a library
// should not decide this for the program that embeds it. Thread safe.

#include <cstdint>
#include <string>

#include "caffe2_core/io/atomic_file.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr int64_t kMaxPipeBytes = INT32_MAX;

// Turns the meaning of "-" and the keeping of pipes on, for the rest of the process.
void UseStandardStreams();

// Whether `path` is "-" and UseStandardStreams has been called.
bool IsStandardStream(const std::string& path);

// Whether `path` names a file or folder that exists, or is a standard stream.
bool PathExists(const std::string& path);

// Whether a reader may open `path` several times and finds the same bytes each time: a regular
// file, a standard stream, or a pipe whose content is kept.
bool CanReadAgain(const std::string& path);

namespace internal {
// Opens the content of a pipe, a device or standard input, which is read on the first call. Returns
// no descriptor if the path is a file or folder, or if UseStandardStreams has not been called.
// THROWS if the content cannot be read, has more than `limit_bytes` or kMaxPipeBytes bytes, or has
// no end, as that of /dev/zero.
FileDescriptor OpenKeptPipe(const std::string& path, int64_t limit_bytes = kMaxPipeBytes);

// Returns a new file without a name, open for reading and writing, whose content is in memory.
FileDescriptor AnonymousFile();
}  // namespace internal

}  // namespace caffe2rt
#pragma GCC visibility pop
