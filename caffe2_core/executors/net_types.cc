#include "caffe2_core/executors/net_types.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/executors/refcount_net.h"
#include "caffe2_core/executors/scheduled_net.h"
#include "caffe2_core/executors/simple_net.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {
namespace {

struct NetType {
  std::string_view name;
  NetPolicy policy;
};

// rnn is the type of step nets. It runs as `simple`, which has a class of its own.
constexpr std::string_view kRunAsSimple[] = {"simple", "rnn"};
constexpr std::string_view kRefcount = "simple_refcount";

constexpr NetType kNetTypes[] = {
    {"async_dag", {NetOrder::kByDependencies, NetThreads::kPool}},
    {"async_polling", {NetOrder::kByDependencies, NetThreads::kPool}},
    {"async_scheduling", {NetOrder::kByDependencies, NetThreads::kPool}},
    {"async_simple", {NetOrder::kOrderOfNet, NetThreads::kOne}},
    {"dag", {NetOrder::kByDependencies, NetThreads::kOne}},
    {"parallel", {NetOrder::kByDependencies, NetThreads::kPool}},
    {"prof_dag", {NetOrder::kByDependencies, NetThreads::kOne, /*logs_statistics=*/true}},
};

bool RunsAsSimple(std::string_view type) {
  return std::find(std::begin(kRunAsSimple), std::end(kRunAsSimple), type) !=
         std::end(kRunAsSimple);
}

}  // namespace

NetOrder OrderOfType(const std::string& type) {
  if (type.empty() || RunsAsSimple(type) || type == kRefcount) return NetOrder::kOrderOfNet;
  const auto* const row = std::find_if(std::begin(kNetTypes), std::end(kNetTypes),
                                       [&](const NetType& row) { return row.name == type; });
  return row == std::end(kNetTypes) ? NetOrder::kUnknown : row->policy.order;
}

std::string TooManyWorkers(const NetDef& net, const std::string& executor) {
  const int threads = GetNumThreads();
  if (OrderOfType(executor) != NetOrder::kByDependencies || net.num_workers() <= threads) return {};
  return MakeString("net \"", net.name(), "\" asks for ", CountText(net.num_workers(), "worker"),
                    " and gets the ", CountText(threads, "thread"),
                    " of the pool: SetNumThreads or --threads sets their number");
}

bool FreesBlobs(const std::string& type) { return type == kRefcount; }

std::shared_ptr<const NetDef> WithExecutor(std::shared_ptr<const NetDef> def,
                                           const std::string& executor) {
  CAFFE_ENFORCE(OrderOfType(executor) != NetOrder::kUnknown, "executor \"", executor,
                "\" is not a built-in net type, want for example simple or async_scheduling");
  const std::string& type = def->type().empty() ? "simple" : def->type();
  if (type == executor || OrderOfType(type) == NetOrder::kUnknown) return def;
  NetDef changed = *def;
  changed.set_type(executor);
  return std::make_shared<const NetDef>(std::move(changed));
}

void internal::RegisterBuiltinNets(NetRegistry* registry) {
  for (const std::string_view type : kRunAsSimple) {
    registry->Register(
        std::string(type),
        [](const std::shared_ptr<const NetDef>& def, Workspace* ws) {
          return NewSimpleNet(def, ws);
        },
        __FILE__);
  }
  registry->Register(
      std::string(kRefcount),
      [](const std::shared_ptr<const NetDef>& def, Workspace* ws) {
        return NewRefcountNet(def, ws);
      },
      __FILE__);
  for (const NetType& type : kNetTypes) {
    registry->Register(
        std::string(type.name),
        [policy = type.policy](const std::shared_ptr<const NetDef>& def, Workspace* ws) {
          return NewScheduledNet(def, ws, policy);
        },
        __FILE__);
  }
}

}  // namespace caffe2rt
