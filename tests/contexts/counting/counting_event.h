#pragma once
// Events of the counting device: marks in its streams.

namespace caffe2rt::test {

// Fills the event table's row for the counting device. Recording twice without Reset, and
// SetFinished of an event that is recorded or finished, THROW. A wait for an event that is not
// recorded yet blocks the host until it is.
void RegisterCountingEvents();

}  // namespace caffe2rt::test
