#pragma once
// GraphRuns: captures sequences of device operators as graphs and replays them (device_graph.h).
// Enabled by the net argument `cuda_graph: 1`.
//
// Pieces: a piece is a sequence of at least two operators that start one after the other on one
// stream, with no wait between them, on a device that supports graphs.
//
// Capture: a piece is first run twice, operator by operator. If the memory and the shapes of all
// its blobs were the same in both runs, the third run captures it as a graph. From then on, a
// single call launches the piece. Before each run, the addresses, types and shapes of its blobs are
// compared with those of the capture. If only addresses have changed, for example of an input that
// alternates between two buffers, the piece is captured for these addresses, too; the captures of
// the last four sets of addresses are kept. If a type, a shape or an option of the device has
// changed, the graphs are dropped and the piece starts again with two plain runs. Any thread may
// replay a graph. The results are bit by bit those of a plain run.
//
// The following operators are never captured. They run as usual, between pieces:
//   - operators with an input on another device, because its values may change at the same address;
//   - operators whose outputs are all on other devices;
//   - operators that draw random numbers, because the generator's state is on the host;
//   - operators with the argument `cuda_graph: 0`;
//   - operators that wait for the device, or do something else that cannot be captured. This is
//     found by trying, and logged once with the reason.
// A piece is not replayed while one of its operators has observers.
//
// A replay runs no host code. An operator must therefore have the argument `cuda_graph: 0` if it
// keeps state on the host between runs, or if it allocates and frees memory in each run.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class GraphRuns {
 public:
  // `operators` are in the order of their positions. `waits` is the result of PlanDeviceWaits for
  // `order`; an operator with a wait before it begins a new piece. REQUIRES: the operators outlive
  // this object.
  GraphRuns(std::string net, const std::vector<OperatorBase*>& operators,
            const ExecutionOrder& order, const DeviceWaits& waits);
  ~GraphRuns();
  GraphRuns(const GraphRuns&) = delete;
  GraphRuns& operator=(const GraphRuns&) = delete;

  // Whether there is no piece to capture.
  bool empty() const { return pieces_.empty(); }
  // Starts the piece that begins at index `i` of the order, or the single operator there. Returns
  // the index after the last operator started. Keeps `*running` set to the position of the operator
  // that is being started, or to kNoPosition while a graph is launched. THROWS what the operators
  // throw. REQUIRES: one thread at a time.
  size_t Start(size_t i, size_t* running);
  // The number of pieces that are currently captured.
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
  std::vector<OperatorBase*> operators_;        // in execution order
  std::vector<std::unique_ptr<Piece>> pieces_;  // by first index; null if none begins there
};

}  // namespace caffe2rt
