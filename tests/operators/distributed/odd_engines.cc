// A module with several engines, most of which cannot be used. The name of an engine chooses its
// function.
#include <memory>
#include <string>

#include "operators/distributed/collective_engine.h"

namespace {

using caffe2rt::CollectiveEngine;

std::unique_ptr<caffe2rt::CollectiveTransport> Connect(const caffe2rt::TransportOptions&,
                                                       caffe2rt::TransportBootstrap&) {
  return nullptr;
}

constexpr CollectiveEngine kWhole{.describe = [] { return std::string("a whole engine"); },
                                  .connect = &Connect};
constexpr CollectiveEngine kOld{.interface = caffe2rt::kCollectiveEngineInterface - 1,
                                .describe = [] { return std::string("an old engine"); },
                                .connect = &Connect};
constexpr CollectiveEngine kLone{.describe = [] { return std::string("a lone engine"); }};

}  // namespace

extern "C" {
[[gnu::visibility("default")]] const CollectiveEngine* caffe2rt_odd_whole_engine() {
  return &kWhole;
}
[[gnu::visibility("default")]] const CollectiveEngine* caffe2rt_odd_old_engine() { return &kOld; }
[[gnu::visibility("default")]] const CollectiveEngine* caffe2rt_odd_lone_engine() { return &kLone; }
[[gnu::visibility("default")]] const CollectiveEngine* caffe2rt_odd_null_engine() {
  return nullptr;
}
}
