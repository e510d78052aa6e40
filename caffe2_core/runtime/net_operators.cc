#include "caffe2_core/runtime/net_operators.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

// The position in the user's net of the first operator that `def` stands for.
int UserPosition(const OperatorDef& def, size_t position) {
  const std::vector<UserOperator> users = UserOperatorsOf(def);
  return users.empty() ? static_cast<int>(position) : users[0].position;
}

// `operator 3 (<description>)`; for an operator that stands for others of the user's net
// `operators 3 Conv "c1", 4 Relu (run as <description>)`.
std::string NameOperator(const OperatorDef& def, size_t position, const std::string& description) {
  constexpr size_t kMost = 8;  // a hostile net may list any number
  const std::vector<UserOperator> users = UserOperatorsOf(def);
  const std::string own = def.name().empty() ? def.type() : def.type() + " \"" + def.name() + "\"";
  if (users.empty() || (users.size() == 1 && users[0].text == own)) {
    return MakeString("operator ", UserPosition(def, position), " (", description, ")");
  }
  std::string text = users.size() == 1 ? "operator " : "operators ";
  for (size_t i = 0; i < std::min(users.size(), kMost); ++i) {
    text += MakeString(i == 0 ? "" : ", ", users[i].position, " ", Shortened(users[i].text));
  }
  if (users.size() > kMost) text += MakeString(" and ", users.size() - kMost, " more");
  return MakeString(text, " (run as ", description, ")");
}

// Passes the net argument allow_tf32 on to an operator: in the extra_info of its device option,
// where the contexts of devices find it, and as an argument of the nets in its arguments.
void PassAllowTf32(const Argument& from, OperatorDef* op) {
  const auto pass = [&from](NetDef* net) {
    if (GetArgumentPtr(*net, from.name()) == nullptr) *net->add_arg() = from;
  };
  DeviceOption base;
  base.add_extra_info(MakeString(from.name(), ":", from.i() != 0 ? 1 : 0));
  *op->mutable_device_option() = MergeDeviceOption(base, op->device_option());
  for (Argument& argument : *op->mutable_arg()) {
    if (argument.has_n()) pass(argument.mutable_n());
    for (NetDef& net : *argument.mutable_nets()) pass(&net);
  }
}

}  // namespace

ExecutionOrder InOrderOfNet(size_t operators) {
  ExecutionOrder order{.positions = std::vector<size_t>(operators)};
  std::iota(order.positions.begin(), order.positions.end(), size_t{0});
  return order;
}

void ThrowReportedFailure() {
  CAFFE_THROW("the operator reports a failure (RunOnDevice returned false)");
}

NetOperators::NetOperators(std::shared_ptr<const NetDef> def, Workspace* ws)
    : def_(std::move(def)), ws_(ws) {
  CAFFE_ENFORCE(def_ != nullptr, "argument def of a net's operators is null");
  owned_.reserve(static_cast<size_t>(def_->op_size()));
  all_.reserve(static_cast<size_t>(def_->op_size()));
  for (int i = 0; i < def_->op_size(); ++i) Add(def_->op(i), static_cast<size_t>(i));
  has_async_part_ = std::any_of(all_.begin(), all_.end(),
                                [](const OperatorBase* op) { return op->HasAsyncPart(); });
}

NetOperators::~NetOperators() = default;

void NetOperators::Add(const OperatorDef& def, size_t position) try {
  const Argument* const allow_tf32 = GetArgumentPtr(*def_, "allow_tf32");
  if (def_->has_device_option() || allow_tf32 != nullptr) {
    // The net's option is the base; fields set on the operator override it.
    OperatorDef merged = def;
    *merged.mutable_device_option() = MergeDeviceOption(def_->device_option(), def.device_option());
    if (allow_tf32 != nullptr) PassAllowTf32(*allow_tf32, &merged);
    owned_.push_back(CreateOperator(merged, ws_, UserPosition(def, position)));
  } else {
    owned_.push_back(CreateOperator(def, ws_, UserPosition(def, position)));
  }
  all_.push_back(owned_.back().get());
} catch (...) {
  const std::string output =
      def.output_size() > 0 ? ", output \"" + def.output(0) + "\"" : std::string();
  RethrowWithFrame(
      MakeString("net \"", def_->name(), "\", ", NameOperator(def, position, def.type() + output)));
}

NetDependencies NetOperators::FindDependencies() const {
  std::vector<BoundBlobs> bound;
  bound.reserve(all_.size());
  for (OperatorBase* op : all_) bound.push_back({.inputs = op->Inputs(), .outputs = op->Outputs()});
  return NetDependencies(*def_, bound);
}

std::string NetOperators::FrameOf(size_t position) const {
  std::string frame = MakeString("net \"", def_->name(), "\"");
  if (position < size()) {
    frame += ", " + NameOperator(all_[position]->debug_def(), position, all_[position]->Describe());
  }
  return frame;
}

bool NetOperators::Drain() noexcept {
  bool good = true;
  for (OperatorBase* op : all_) {
    try {
      if (op->HasAsyncPart()) op->FinishDevice();
    } catch (...) {  // only the first failure is reported, by the caller
      good = false;
    }
  }
  return good;
}

void NetOperators::Fail(size_t position, const std::function<std::string()>& cause) {
  if (!Drain()) {
    try {
      throw;
    } catch (EnforceNotMet& error) {
      if (const std::string frame = cause(); !frame.empty()) error.AppendMessage(frame);
    } catch (...) {  // RethrowWithFrame turns it into an EnforceNotMet
    }
  }
  if (position < size()) {
    ws_->last_failed_op_net_position = UserPosition(all_[position]->debug_def(), position);
  }
  RethrowWithFrame(FrameOf(position));
}

}  // namespace caffe2rt
