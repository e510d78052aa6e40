#pragma once
// Events of CUDA, for the event table of caffe2_core/device/event.h.
//
//   INITIALIZED -> SCHEDULED           Record on a context: the event is behind its stream's work
//   INITIALIZED -> FAILED              Record with an error text, or CUDA cannot record the event
//                                      (Record then also THROWS)
//   INITIALIZED -> SUCCESS or FAILED   SetFinished; THROWS in every other state
//   SCHEDULED   -> SUCCESS or FAILED   noticed by Query and Finish; FAILED has CUDA's error text
//   any         -> INITIALIZED         Reset, which discards the error text and the stream
//
// Record THROWS if the event has been recorded already, or if the context is on another device than
// the event's option names. Wait and Finish block the thread until the event has been recorded or
// finished.
//
// A CUDA context waits for a CUDA event on the device; it does not wait if the event is of the same
// stream or is over. The CPU waits for a CUDA event in Finish. A CUDA context waits for a CPU event
// on the host, in the Finish of the CPU. The error text of a successful event is "No error".

namespace caffe2rt {

// Fills the row for CUDA.
void RegisterCUDAEvents();

}  // namespace caffe2rt
