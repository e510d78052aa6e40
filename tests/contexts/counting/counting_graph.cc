#include "tests/contexts/counting/counting_graph.h"

#include <vector>

namespace caffe2rt::test {
namespace {

class CountingGraph final : public DeviceGraph {
 public:
  explicit CountingGraph(CountingDevice* device) : device_(device) {}

  void BeginCapture(int stream_id) override {
    stream_ = &device_->stream(stream_id);
    stream_->BeginCapture();
  }
  bool EndCapture(std::string* reason) override {
    operations_ = stream_->EndCapture(reason);
    return reason->empty();
  }
  void Launch(int stream_id) override {
    device_->Count(&CountingCounts::graphs);
    device_->stream(stream_id).Launch([operations = operations_] {
      for (const auto& operation : operations) operation();
    });
  }

 private:
  CountingDevice* const device_;
  CountingStream* stream_ = nullptr;
  std::vector<std::function<void()>> operations_;
};

}  // namespace

std::unique_ptr<DeviceGraph> NewCountingGraph(CountingDevice* device) {
  return std::make_unique<CountingGraph>(device);
}

}  // namespace caffe2rt::test
