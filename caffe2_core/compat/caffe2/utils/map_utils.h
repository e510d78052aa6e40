#pragma once
// Functions on maps.
#include <utility>

namespace caffe2 {

// The value of the key, or `otherwise` if the map does not have the key.
template <class Map, class Key = typename Map::key_type, class Value = typename Map::mapped_type>
typename Map::mapped_type get_default(const Map& map, const Key& key, Value&& otherwise) {
  const auto found = map.find(key);
  if (found != map.end()) return found->second;
  return typename Map::mapped_type(std::forward<Value>(otherwise));
}

}  // namespace caffe2
