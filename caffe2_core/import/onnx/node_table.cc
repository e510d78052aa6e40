#include "caffe2_core/import/onnx/node_table.h"

#include <map>
#include <utility>

namespace caffe2rt {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, OnnxRow>& Table() {
  static const std::map<Key, OnnxRow> table = [] {
    std::map<Key, OnnxRow> rows;
    for (const auto& subject :
         {OnnxControlRows(), OnnxImageRows(), OnnxElementwiseRows(), OnnxLayerRows(),
          OnnxWindowRows(), OnnxShapeRows(), OnnxReduceRows(), OnnxQuantizedRows(),
          OnnxRecurrentRows(), OnnxNumericRows(), OnnxFunctionRows(), OnnxAttentionRows(),
          OnnxContribRows(), OnnxRandomRows(), OnnxTransformerRows(), OnnxSequenceRows()}) {
      for (const OnnxRow& row : subject) rows.emplace(Key(row.domain, row.type), row);
    }
    return rows;
  }();
  return table;
}

}  // namespace

const OnnxRow* FindOnnxRow(std::string_view domain, std::string_view type) {
  const auto found = Table().find(Key(domain, type));
  return found == Table().end() ? nullptr : &found->second;
}

std::vector<std::string> OnnxTypes() {
  std::vector<std::string> types;
  for (const auto& [key, row] : Table()) {
    types.push_back(key.first.empty() ? std::string(key.second)
                                      : MakeString(key.first, "::", key.second));
  }
  return types;
}

}  // namespace caffe2rt
