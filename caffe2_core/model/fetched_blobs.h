#pragma once
// Which blobs a caller can fetch after nets have run, decided before they run.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns why no blob `name` will exist after `nets` have run in a workspace with the blobs
// `existing`, with the closest names:
//   net "n" does not make blob "porb"; close: "prob"
// Returns "" if the blob exists, if an operator or a net in its arguments writes it, or if an
// operator may write blobs that it does not list.
std::string WhyNotFetchable(const std::vector<const NetDef*>& nets, const std::string& name,
                            const std::vector<std::string>& existing);

}  // namespace caffe2rt
#pragma GCC visibility pop
