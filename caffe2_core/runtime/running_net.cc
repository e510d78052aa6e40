#include "caffe2_core/runtime/running_net.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "caffe2_core/base/pool_workers.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {
namespace {

// A line in memory of its own, because a signal handler must not allocate.
class Line {
 public:
  const char* text() const { return text_; }

  void Add(std::string_view part) {
    for (const char c : part.substr(0, kMostBytesOfPart)) text_[size_++] = c;
  }
  void AddName(std::string_view name) {
    const size_t begin = size_;
    Add(name);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
    std::replace_if(text_ + begin, text_ + size_, is_control, '?');
  }
  void Add(size_t number) {
    size_ = static_cast<size_t>(std::to_chars(text_ + size_, text_ + sizeof(text_), number).ptr -
                                text_);
  }

 private:
  static constexpr size_t kMostBytesOfPart = 100;
  char text_[512] = {};  // for three names, a number, less than 100 other bytes and the final zero
  size_t size_ = 0;
};

}  // namespace

void RunningNet::Describe(void (*write)(const char* line)) {
  for (const RunningNet* net = t_thread_state.running_net; net != nullptr; net = net->outer_) {
    const size_t position = net->position_;
    if (position >= net->operators_.size()) continue;
    const OperatorDef& def = net->operators_[position]->debug_def();
    Line line;
    line.Add("while running operator ");
    line.Add(position);
    line.Add(" (");
    line.AddName(def.type());
    if (def.output_size() > 0) {
      line.Add(", output \"");
      line.AddName(def.output(0));
      line.Add("\"");
    }
    line.Add(") of net \"");
    line.AddName(net->name_);
    line.Add("\"\n");
    write(line.text());
  }
}

std::vector<size_t> RunningNet::Positions() {
  std::vector<size_t> positions;
  for (const RunningNet* net = t_thread_state.running_net; net != nullptr; net = net->outer_) {
    if (net->position_ < net->operators_.size()) positions.push_back(net->position_);
  }
  std::reverse(positions.begin(), positions.end());
  return positions;
}

uint64_t RunningOperatorKey() { return RunningNet::KeyOfOperator(); }

uint64_t RunningNet::KeyOfOperator() {
  const RunningNet* const net = t_thread_state.running_net;
  if (net == nullptr || net->position_ >= net->operators_.size()) return 0;
  return reinterpret_cast<uintptr_t>(net->operators_[net->position_]);
}

}  // namespace caffe2rt
