#include "caffe2_core/graph/blob_values.h"

#include <map>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/dependencies.h"

namespace caffe2rt {

std::string BlobValue::Title() const {
  if (only) return blob;
  return position < 0 ? blob + " before the run" : MakeString(blob, " after operator ", position);
}

std::vector<BlobValue> ListBlobValues(const NetDef& net) {
  const NetDependencies blobs(net);
  std::vector<BlobValue> values;
  for (const uint32_t blob : blobs.read_first()) values.push_back({.blob = blobs.name(blob)});
  for (int i = 0; i < net.op_size(); ++i) {
    for (const std::string& name : net.op(i).output()) {
      values.push_back({.blob = name, .position = i});
    }
  }
  std::vector<int> names_of_memory(blobs.size(), 0);
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) ++names_of_memory[blobs.memory(blob)];

  std::map<std::string, int> count;
  for (const BlobValue& value : values) ++count[value.blob];
  std::map<std::string, int> later = count;
  std::set<std::string> keys;
  for (BlobValue& value : values) {
    value.only = count[value.blob] == 1;
    value.from_last = --later[value.blob];
    value.stays =
        value.from_last == 0 && names_of_memory[blobs.memory(blobs.Find(value.blob))] == 1;
    value.key = value.from_last == 0 ? value.blob : value.Title();
    while (value.from_last > 0 && (count.contains(value.key) || keys.contains(value.key))) {
      value.key += '_';
    }
    keys.insert(value.key);
  }
  return values;
}

}  // namespace caffe2rt
