#pragma once
// Work of one stream that was recorded once and is started again as a whole.
//
//   graph->BeginCapture(0);          // nothing of the thread's stream 0 runs from here on
//   for (op : operators) op->Enqueue(0);
//   if (!graph->EndCapture(&why)) ...  // nothing ran: run the operators as usual
//   graph->Launch(0);                // all of it, as often as wanted
//
// A graph holds addresses: whoever replays it must see to it that the memory is where it was.
// Used by one thread at a time.

#include <string>

namespace caffe2rt {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  // Records what the calling thread gives its stream of that id, in place of running it. THROWS.
  virtual void BeginCapture(int stream_id) = 0;
  // Ends the recording, also when an operator threw in between. False and the reason when something
  // cannot be recorded; nothing of it has run then.
  virtual bool EndCapture(std::string* reason) = 0;
  // Starts what was recorded, on the calling thread's stream of that id. THROWS.
  // REQUIRES: EndCapture returned true.
  virtual void Launch(int stream_id) = 0;
};

}  // namespace caffe2rt
