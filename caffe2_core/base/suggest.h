#pragma once
// "Did you mean": the known names closest to an unknown one.

#include <string>
#include <vector>

namespace caffe2rt {

// Levenshtein distance, bounded: more than `limit` edits give limit + 1.
int EditDistance(const std::string& a, const std::string& b, int limit);

// At most `most` of `known` that are close to `name`, best first: few edits, the same name in
// another case, one holding the other, or the same beginning.
std::vector<std::string> NearestNames(const std::string& name,
                                      const std::vector<std::string>& known, size_t most = 3);

}  // namespace caffe2rt
