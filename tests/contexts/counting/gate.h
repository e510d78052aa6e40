#pragma once
// Holds a stream of the counting device, so that tests can observe what happens meanwhile.

#include <functional>
#include <future>
#include <memory>

#include "tests/contexts/counting/counting_context.h"

namespace caffe2rt::test {

// Stops the context's stream here until the returned function is called. It may be called once.
inline std::function<void()> Hold(CountingContext& context) {
  const auto gate = std::make_shared<std::promise<void>>();
  context.stream().Then(
      [opened = gate->get_future().share()](const std::string&) { opened.wait(); });
  return [gate] { gate->set_value(); };
}

}  // namespace caffe2rt::test
