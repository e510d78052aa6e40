#pragma once
// Events of the counting device, implemented as marks in its streams.

namespace caffe2rt::test {

// Fills the event table's row for the counting device. Recording twice without Reset THROWS, and so
// does SetFinished on an event that is recorded or finished. A wait for an event that is not
// recorded yet blocks the host until it is recorded.
void RegisterCountingEvents();

}  // namespace caffe2rt::test
