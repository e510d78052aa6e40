#pragma once
// Releases the memory of weights that a net reads only in the forms that its operators have prepared, such as
// filters in another layout, in bf16 or in int8.
//
//   PreparedNet net(...);
//   net.Run();
//   ReleaseWeights(net.net().debug_def(), kept, &ws);
//
// Whoever reads such a weight later gets it again byte for byte: from the form, or from the file from which it
// was loaded. One that comes from no file and whose form is rounded gets the rounded numbers, with a warning.

#include <set>
#include <string>
#include <unordered_set>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Storage;
class Workspace;

// Releases them in `ws`, and marks them read-only before. Blobs of parents stay, and so does what the net
// changes, what `kept` names, and what `net` puts out. Returns the number of bytes released. REQUIRES: nothing
// uses the workspace meanwhile, and nobody has pointers into the weights.
size_t ReleaseWeights(const NetDef& net, const std::set<std::string>& kept, Workspace* ws);

// The same for the memory of weights that the caller has chosen. If many megabytes of them are prepared, also
// returns what loading them left behind to the system: freed memory, and pages of code (base/release_pages.h).
size_t ReleaseStorages(const std::unordered_set<Storage*>& weights);

}  // namespace caffe2rt
#pragma GCC visibility pop
