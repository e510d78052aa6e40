#pragma once
// ConnectedPair: a pair of Gloo's transport tcp on a connection that exists already.
//
// Gloo's own pairs find each other by ports on which anybody may connect, and what a stranger sends there
// ends the process in the loop thread. So the engine makes the connections (data_connections.h), and Gloo only
// uses them.

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>

#include <chrono>
#include <memory>

#include "operators/distributed/connections.h"
#include "operators/distributed/gloo/loop_gate.h"

namespace caffe2rt {

// Makes the pair for rank `peer` of the context. The connection is a stream socket that does not block.
// Gloo cannot make a pair that does not listen; the loop thread is at rest until the listening socket, of the
// device's address, is closed again, so that nobody who connects to it is heard.
std::unique_ptr<::gloo::transport::Pair> MakeConnectedPair(::gloo::transport::tcp::Context* context,
                                                           ::gloo::transport::tcp::Device* device,
                                                           LoopGate* gate, int peer,
                                                           UniqueFd connection);

}  // namespace caffe2rt
