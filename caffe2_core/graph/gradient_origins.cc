#include "caffe2_core/graph/gradient_origins.h"

#include <string_view>
#include <unordered_map>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

void GradientOrigins::Check(const std::vector<OperatorDef>& ops) const {
  std::unordered_map<std::string_view, GradientOutput> written;
  auto read = reads_.begin();
  for (size_t op = 0; op < ops.size(); ++op) {
    for (; read != reads_.end() && read->op == op; ++read) {
      const auto found = written.find(read->name);
      if (found == written.end()) continue;
      const bool same = read->origin && read->origin->op == found->second.op &&
                        read->origin->index == found->second.index;
      CAFFE_ENFORCE(same, ops[op].type(), " needs the gradient \"", read->name, "\", but ",
                    ops[found->second.op].type(),
                    " overwrites it before; write the outputs of operators that work in place to "
                    "other blobs");
    }
    for (int i = 0; i < ops[op].output_size(); ++i) written[ops[op].output(i)] = {op, i};
  }
}

}  // namespace caffe2rt
