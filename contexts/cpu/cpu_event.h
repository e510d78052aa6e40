#pragma once
// Events of the CPU: a state under a mutex, with a condition variable for Finish.

namespace caffe2rt {

// Fills the event table's row for the CPU. Recording twice without Reset, and finishing a finished
// event, THROW. Callbacks are called by the thread that finishes the event, after those who wait
// for it were told; what they throw comes out of its call. The message of a good event is "No
// error".
void RegisterCPUEvents();

}  // namespace caffe2rt
