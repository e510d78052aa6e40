#pragma once
// The prepared net in a packed model (packed_model.h), which is used instead of preparing the packed
// net again. Internal to optimizer.cc and packed_model.cc.
//
// The stored net is used only where preparing the packed net would be the same work: for the same
// net and constants, the same version of this library, instruction set, number of threads, options,
// and known shapes of inputs. Everywhere else the packed net is prepared as any other.

#include <optional>

#include "caffe2_core/model/preparation.h"
#include "caffe2rt/packed_model.pb.h"

namespace caffe2rt {

class PackedModel;

// Everything that a preparation depends on besides the net, its constants and the names and shapes
// of blobs, as text.
std::string DescribePreparation(const PreparationOptions& options);

// The message that stores the preparation. `options` are those that PrepareNet applied
// (Preparation::options). The constants are not stored.
PackedPreparation StorePreparation(const Preparation& preparation);

// The stored preparation of the model, if it may be used for `net`, whose constants are in `ws`.
// Creates the blobs of its constants. Returns nothing if it may not be used.
std::optional<Preparation> UseStoredPreparation(const PackedModel& model, const NetDef& net,
                                                const PreparationOptions& options, Workspace* ws);

}  // namespace caffe2rt
