#pragma once
// Events of the CPU: a state guarded by a mutex, with a condition variable for Finish.

namespace caffe2rt {

// Fills the event table's row for the CPU. Recording an event twice without Reset, and finishing a
// finished event, THROW. The thread that finishes the event calls the callbacks, after it has woken
// the waiting threads; its call THROWS the first exception of a callback. The error message of a
// successful event is "No error".
void RegisterCPUEvents();

}  // namespace caffe2rt
