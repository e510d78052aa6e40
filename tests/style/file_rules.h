#pragma once
// Rules about single files and folders.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

inline constexpr size_t kMaxLines = 500;

// Files longer than kMaxLines.
Violations CheckLength(const std::vector<SourceFile>& files);
// File names that end in _op, _ops, _gpu, _impl, _base, _util or utils.
Violations CheckNames(const std::vector<SourceFile>& files);
// Names of tests that do not state a behaviour (Works, Basic), or do so in words that the project
// does not use: Refuses (rejects), Tells and Says (reports), Anew (again), Picture (image), Nobody.
Violations CheckTestNames(const std::vector<SourceFile>& files);
// Headers that do not begin with #pragma once.
Violations CheckPragmaOnce(const std::vector<SourceFile>& files);
// Text that no file may contain: notes of work to do without an issue number, OpenMP pragmas,
// headers that a supported compiler lacks, and in headers `using namespace` and abseil except its
// lock annotations.
Violations CheckForbiddenText(const std::vector<SourceFile>& files);
// const_cast in headers of caffe2_core/tensor, which would allow writing through a const Tensor.
Violations CheckTensorIsConstCorrect(const std::vector<SourceFile>& files);
// Checks without a message: CAFFE_ENFORCE(x), CAFFE_ENFORCE_EQ(a, b).
Violations CheckEnforceTexts(const std::vector<SourceFile>& files);
// Functions of the library and the programs that depend on the process's locale: streams,
// std::to_string, strtod, tolower and similar functions, printf of floating-point numbers. Use
// caffe2_core/base/text.h, abseil's strings and ClassicStringStream instead.
Violations CheckLocale(const std::vector<SourceFile>& files);
// Locks of the standard library, whose use clang does not check. Use caffe2_core/base/mutex.h.
Violations CheckLocks(const std::vector<SourceFile>& files);
// Folders with code but without a README.md. Tests that mirror the tree, and compat's folders with
// Caffe2's paths, are exempt.
Violations CheckReadmes(const std::vector<SourceFile>& files);
// READMEs of binaries, caffe2_core, contexts, operators and proto whose tables do not match their
// folder: the first cells of the rows name each header in backticks, and name no .h, .cuh or .cc
// that exists neither in the folder nor from the root. Not checked are compat, names with '<', and
// an x_kernels.h beside x.h, x.cc or x.cu.
Violations CheckReadmeTables(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
