#pragma once
// Operators of one device started together as a recorded graph (device_graph.h): net argument
// `cuda_graph: 1`.
//
// Operators that start one after the other on one stream of a device that has graphs, with no wait
// between them, make a piece: nothing outside of it comes between, whatever the net's order. A
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
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class GraphRuns {
 public:
  // `operators` by position, which must outlive this object; `waits` as PlanDeviceWaits gives them
  // for the order, so that what depends on other streams begins a piece.
  GraphRuns(std::string net, const std::vector<OperatorBase*>& operators,
            const ExecutionOrder& order, const DeviceWaits& waits);
  ~GraphRuns();
  GraphRuns(const GraphRuns&) = delete;
  GraphRuns& operator=(const GraphRuns&) = delete;

  // Whether anything may be recorded.
  bool empty() const { return pieces_.empty(); }
  // Starts the operators from place `i` of the order on that go together, at least one; returns the
  // place after them. `running` is the position of the operator that is being started on its own,
  // or kNoPosition. THROWS what the operators do. REQUIRES: one thread at a time.
  size_t Start(size_t i, size_t* running);
  // Pieces that are graphs now.
  int num_recorded() const;

 private:
  struct Piece;
  void AddPiece(size_t first, size_t end);
  bool MayBeRecorded(const OperatorBase& op, size_t place) const;
  void StartPlain(const Piece& piece, size_t* running);
  bool Record(Piece& piece);
  void Replay(Piece& piece, size_t* running);
  void LeaveOut(Piece& piece, size_t place, const std::string& reason);

  const std::string net_;
  const ExecutionOrder order_;
  std::vector<OperatorBase*> operators_;        // in that order
  std::vector<std::unique_ptr<Piece>> pieces_;  // by first place; null: none begins there
};

}  // namespace caffe2rt
