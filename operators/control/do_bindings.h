#pragma once
// The bindings of a Do operator: which of its blobs the names in its net denote.

#include <string>
#include <vector>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2rt/caffe2.pb.h"
#include "operators/control/inner_net.h"

namespace caffe2rt {

inline constexpr NetArgument kDoNet{"net", "the net to run; it must have a name", true};
inline constexpr RepeatedArgumentSpec<std::string> kDoInnerBlobs{
    "inner_blobs", "names in the net that denote blobs outside"};
inline constexpr RepeatedArgumentSpec<int64_t> kDoOuterBlobsIdx{
    "outer_blobs_idx",
    "for each of inner_blobs, the index of the blob that it denotes in the list of the inputs "
    "followed by the outputs, both without the scope; each name in the list is used once"};

struct DoBinding {
  std::string inner;
  std::string outer;
  int position;  // of the outer blob, in the list of all inputs followed by all outputs
};

// Reads the bindings in the order of inner_blobs. THROWS unless the last input and the last output
// are the same blob, inputs are distinct, inner names are distinct, and every other input and output
// name is bound once.
[[gnu::visibility("default")]] std::vector<DoBinding> ReadDoBindings(const OperatorDef& def);

}  // namespace caffe2rt
