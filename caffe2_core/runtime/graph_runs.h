#pragma once
// Operators of one device started together as a recorded graph (device_graph.h): net argument
// `cuda_graph: 1`.
//
// Consecutive operators of a device that has graphs, with no wait between them, make a piece. A
// piece is run operator by operator twice; when the memory and the shapes of all its blobs were the
// same from run to run, the third run records it, and from then on one call starts it. Before each
// run pointers, types and shapes of its blobs are compared with those that were recorded: when one
// has changed, or another thread runs the net, the graph is dropped and the piece begins anew. What
// comes out is what a plain run gives, bit by bit.
//
// Not recorded, and run as usual between the pieces around: operators with inputs that are not on
// their device (the values may change under the same address) or with outputs on the CPU alone;
// those that draw random numbers, whose state is on the host; those that say no by the argument
// `cuda_graph: 0`; and those that wait for the device or do what it cannot record, which is found
// by trying and logged once with the reason. Observed operators are not recorded while they are
// observed.
//
// An operator that keeps state on the host from run to run, or that takes memory for each run and
// gives it back, must say no: a replay runs no code of the host.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/device_waits.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class GraphRuns {
 public:
  // `waits` as PlanDeviceWaits gives them. The operators must outlive this object.
  GraphRuns(std::string net, const std::vector<OperatorBase*>& operators,
            const std::vector<std::vector<DeviceWork>>& waits);
  ~GraphRuns();
  GraphRuns(const GraphRuns&) = delete;
  GraphRuns& operator=(const GraphRuns&) = delete;

  // Whether anything may be recorded.
  bool empty() const { return pieces_.empty(); }
  // Starts the operators from position `i` on that go together, at least one; returns the position
  // after them. `running` is the operator that is being started on its own, or what is no position.
  // THROWS what the operators do. REQUIRES: one thread at a time.
  size_t Start(size_t i, size_t* running);
  // Pieces that are graphs now.
  int num_recorded() const;

 private:
  struct Piece;
  void AddPiece(size_t first, size_t end);
  bool MayBeRecorded(const OperatorBase& op, size_t position) const;
  void StartPlain(const Piece& piece, size_t* running);
  bool Record(Piece& piece);
  void Replay(Piece& piece, size_t* running);
  void LeaveOut(Piece& piece, size_t position, const std::string& reason);

  const std::string net_;
  const std::vector<OperatorBase*> operators_;
  std::vector<std::unique_ptr<Piece>> pieces_;  // by first position; null: none begins there
};

}  // namespace caffe2rt
