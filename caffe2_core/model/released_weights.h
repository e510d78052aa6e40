#pragma once
// Releases the memory of weights whose prepared forms can restore every byte (Storage::ReleaseData).
// Whoever reads such a weight later gets the same bytes.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/model/preparation.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Storage;

// Of the tensors `names` in `ws`, unless stays(name, storage). Returns the bytes that were released. If many megabytes
// of weights are prepared, also returns what loading them left behind to the system: freed memory, and pages of code
// (base/release_pages.h). REQUIRES: nothing runs, and nobody has a pointer into a weight.
size_t ReleaseWeightsOf(const Workspace& ws, const std::vector<std::string>& names,
                        const std::function<bool(const std::string&, const Storage&)>& stays);

// Of the constants of a net in `ws` that was prepared in this way, and that has planned ahead or run. Marks them
// read-only: who writes one later gets a copy. In int8 a weight is restored to the numbers that stand for it;
// therefore those in `kept` stay.
size_t ReleaseConstants(const NetDef& net, const PreparationOptions& how,
                        const std::set<std::string>& kept, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
