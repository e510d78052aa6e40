#pragma once
// Events of the CPU: a state under a mutex, with a condition variable for Finish.

namespace caffe2rt {

// Fills the event table's row for the CPU. Recording twice without Reset, and finishing a finished
// event, THROW.
void RegisterCPUEvents();

}  // namespace caffe2rt
