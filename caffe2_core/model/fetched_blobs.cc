#include "caffe2_core/model/fetched_blobs.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

// Adds the names that the operator writes. Returns false if it may write others too.
bool AddWrittenBy(const OperatorDef& op, std::vector<std::string>* names) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  if (schema != nullptr && schema->accesses_unlisted_blobs(op)) return false;
  names->insert(names->end(), op.output().begin(), op.output().end());
  if (HasNestedNets(op)) {
    for (std::string& name : NestedBlobsOf(op).written) names->push_back(std::move(name));
  }
  return true;
}

}  // namespace

std::string WhyNotFetchable(const std::vector<const NetDef*>& nets, const std::string& name,
                            const std::vector<std::string>& existing) try {
  std::vector<std::string> names = existing;
  for (const NetDef* net : nets) {
    CAFFE_ENFORCE(net != nullptr, "argument nets of WhyNotFetchable has a null net");
    for (const OperatorDef& op : net->op()) {
      if (!AddWrittenBy(op, &names)) return "";
    }
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string close = absl::StrJoin(NearestNames(name, names), "\", \"");
  return MakeString(nets.size() == 1 ? MakeString("net \"", Shortened(nets[0]->name()), "\" does")
                                     : "the plan's nets do",
                    " not make blob \"", Shortened(name), "\"",
                    close.empty() ? "" : "; close: \"" + close + "\"");
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
