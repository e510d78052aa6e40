#pragma once
// How the ranks of a world find each other, and get the connections over which they agree.
//
// Each rank listens on a port of its interface and writes a key to the store: its address, host and
// process, and a random number, its token. It then connects to each lower rank, in ascending order, and
// accepts the connections of the higher ones. A connection begins with a Hello from either side, with the
// token of the other one: who cannot read the store is rejected. Connections that do not send a valid
// Hello are closed; the rank goes on. The listening socket is closed when all are connected.
//
// A rank that waits for others sees which of them have a key, and whether a process on its own host that
// wrote a key still runs. If a rank gives up it tells those that it is connected to why, so that they do
// not take it for the one that is lost.

#include <chrono>
#include <string>
#include <vector>

#include "operators/distributed/connections.h"
#include "operators/distributed/control_frame.h"
#include "operators/distributed/store.h"

namespace caffe2rt {

struct GroupOptions {
  std::string name;
  int rank;
  int size;
  int generation;
  std::chrono::milliseconds timeout;
  std::string interface;
};

struct Meeting {
  std::vector<UniqueFd> connections;  // by rank; not open for this rank
  std::string address;                // of this machine, on the interface
};

// The key of a rank in the store.
std::string RankKey(const GroupOptions& options, int rank);

// The IPv4 address of an interface: by name, or an address itself; 127.0.0.1 for "". THROWS if there is
// none.
std::string AddressOfInterface(const std::string& interface);

// Connects the ranks. THROWS RanksLost if ranks do not come in time or end, EnforceNotMet for sizes or
// generations that differ and for keys of other processes; then the key of this rank is erased, unless
// another process wrote it.
Meeting Meet(const GroupOptions& options, Store& store);

// Writes the key of rank options.rank, whose process has ended, so that those that wait for it give up.
// Returns false if it has a key.
bool WriteLoss(const GroupOptions& options, Store& store, const std::string& reason);

}  // namespace caffe2rt
