#pragma once
// The connections that carry the data of a world: one between each two ranks.
//
// Each rank listens, and tells each other one over the control connection: its port, and a secret, a random number.
// It then connects to the lower ranks and accepts the connections of the higher ones. A connection begins
// with the secret of the other side in either direction, which nobody else knows, and otherwise is closed. The
// listening sockets are closed when all ranks are connected.
//
// Ranks on the same machine, and in the same network namespace, use local (Unix domain) sockets, which cost half of
// the time of TCP.

#include <functional>
#include <vector>

#include "operators/distributed/collective_engine.h"
#include "operators/distributed/connections.h"

namespace caffe2rt {

// Returns the connections by rank; that of this rank is not open. Called by all ranks at the same time.
// `connecting` is called before this rank waits for others. THROWS what `check` throws, RanksLost, and
// EnforceNotMet for a rank that does not answer as one.
std::vector<UniqueFd> ConnectData(const TransportOptions& options, TransportBootstrap& bootstrap,
                                  const WaitCheck& check);

}  // namespace caffe2rt
