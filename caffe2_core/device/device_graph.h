#pragma once
// DeviceGraph: work of one stream that is recorded once and then launched as a whole.
//
//   graph->BeginCapture(0);              // from here on, work on stream 0 is recorded, not run
//   for (op : operators) op->Enqueue(0);
//   if (!graph->EndCapture(&why)) ...    // nothing ran: run the operators as usual
//   graph->Launch(0);                    // runs the recorded work; may be called repeatedly
//
// A graph holds memory addresses: the caller must ensure that all memory that the recorded work
// uses is still valid at the same addresses when the graph is launched. May be used by one thread
// at a time, which need not be the one that recorded the work.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  // Starts to record the work that the calling thread enqueues on its stream `stream_id`, instead
  // of running it. It replaces earlier recorded work; similar work is replaced at little cost.
  // THROWS if the device reports an error.
  virtual void BeginCapture(int stream_id) = 0;
  // Ends the recording. Must also be called if an operator threw during the recording. Returns
  // false and sets `*reason` if some of the work cannot be recorded; then none of it has run.
  virtual bool EndCapture(std::string* reason) = 0;
  // Launches the recorded work on the calling thread's stream `stream_id`. THROWS if the device
  // reports an error.
  // REQUIRES: EndCapture returned true.
  virtual void Launch(int stream_id) = 0;
  // Whether options of the device that the recorded work depends on have changed since.
  virtual bool IsStale() const { return false; }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
