#pragma once
// Events of CUDA, for the event table of caffe2_core/device/event.h.
//
//   INITIALIZED -> SCHEDULED  Record on a context: the event is behind the work of its stream
//   INITIALIZED -> FAILED     Record with a text, or CUDA refuses to record (then it THROWS as
//   well) SCHEDULED   -> SUCCESS    seen by Query and Finish; FAILED with CUDA's text when the work
//   failed INITIALIZED -> SUCCESS or FAILED   SetFinished; THROWS in every other state any ->
//   INITIALIZED  Reset, which forgets text and stream
//
// Record twice THROWS, and so does a context on another device than the event's option names.
// Wait and Finish of an event that nobody has recorded block the thread until somebody does.
// CUDA waits for CUDA on the device; not at all on the same stream, or when the event is over. The
// CPU waits for CUDA in Finish, CUDA for the CPU in the CPU's. A good event's text is "No error".

namespace caffe2rt {

// Fills the row for CUDA.
void RegisterCUDAEvents();

}  // namespace caffe2rt
