#pragma once
// Holds a stream of the counting device, so that tests can observe what happens meanwhile.

#include <functional>
#include <future>
#include <memory>

#include "tests/contexts/counting/counting_context.h"

namespace caffe2rt::test {

// Stops the context's stream here until the returned function is called, or until its last copy is
// destroyed.
inline std::function<void()> Hold(CountingContext& context) {
  struct Gate {
    ~Gate() { Open(); }
    void Open() {
      if (!is_open) opened.set_value();
      is_open = true;
    }
    std::promise<void> opened;
    bool is_open = false;
  };
  const auto gate = std::make_shared<Gate>();
  context.stream().Then(
      [opened = gate->opened.get_future().share()](const std::string&) { opened.wait(); });
  return [gate] { gate->Open(); };
}

}  // namespace caffe2rt::test
