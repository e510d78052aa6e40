#pragma once
// Rules that look at one file, or one folder, at a time.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

inline constexpr size_t kMaxLines = 500;

// Longer than kMaxLines.
Violations CheckLength(const std::vector<SourceFile>& files);
// Names that say nothing: _op, _ops, _gpu, _impl, _base, _util, utils.
Violations CheckNames(const std::vector<SourceFile>& files);
// Headers that do not begin with #pragma once.
Violations CheckPragmaOnce(const std::vector<SourceFile>& files);
// What no file may hold: a note of work to do without an issue, OpenMP, headers that a compiler of
// ours lacks, `using namespace` in headers.
Violations CheckForbiddenText(const std::vector<SourceFile>& files);
// const_cast in headers of caffe2_core/tensor: a const Tensor cannot be written through.
Violations CheckTensorIsConstCorrect(const std::vector<SourceFile>& files);
// Checks whose failure would say nothing: CAFFE_ENFORCE(x), CAFFE_ENFORCE_EQ(a, b).
Violations CheckEnforceTexts(const std::vector<SourceFile>& files);
// What formats or parses by the process's locale in the library and the programs, where
// caffe2_core/base/text.h and ClassicStringStream belong: streams, std::to_string, strtod and its
// kin, tolower and its kin, printf of floating-point numbers.
Violations CheckLocale(const std::vector<SourceFile>& files);
// Folders of code without a README.md. Tests that mirror the tree, and compat's folders of Caffe2's
// paths, need none.
Violations CheckReadmes(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
