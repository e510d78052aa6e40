#pragma once
// Keeps a stream of the counting device from going on, to see what happens meanwhile.

#include <functional>
#include <future>
#include <memory>

#include "tests/contexts/counting/counting_context.h"

namespace caffe2rt::test {

// The context's stream stops here until the returned function is called, once.
inline std::function<void()> Hold(CountingContext& context) {
  const auto gate = std::make_shared<std::promise<void>>();
  context.stream().Then(
      [opened = gate->get_future().share()](const std::string&) { opened.wait(); });
  return [gate] { gate->set_value(); };
}

}  // namespace caffe2rt::test
