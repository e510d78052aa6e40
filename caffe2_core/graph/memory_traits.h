#pragma once
// MemoryTraits: what memory plans and reports have to know about an operator type. Built-in operators
// state them with their schemas:
//
//   RegisterSchema("Concat", __FILE__).Memory({.input_parts = PartsOfConcat});
//
// All functions are thread safe.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct MemoryTraits {
  // A tensor that can be a part of another one: input or output `index` begins `offset_bytes` after
  // the beginning of the whole.
  struct Part {
    int index = 0;
    size_t offset_bytes = 0;
  };
  using PartsFunction =
      std::function<std::vector<Part>(const OperatorDef&, const std::vector<TensorShape>& inputs,
                                      const std::vector<TensorShape>& outputs)>;
  // Memory that an operator uses besides its inputs and outputs.
  struct Extra {
    int64_t scratch_bytes = 0;   // in each thread, while the operator runs; operators share it
    int64_t prepared_bytes = 0;  // for weights in another layout, as long as the operator exists
    // The operator prepares weights, but how many bytes is not known before it has planned with them.
    bool prepared_unknown = false;
  };
  using ExtraFunction =
      std::function<Extra(const OperatorDef&, const std::vector<TensorShape>& inputs,
                          const std::vector<TensorShape>& outputs)>;

  // The operator keeps memory of its inputs or outputs after it has run, puts foreign memory into
  // its outputs, or reads what an earlier run left in its outputs. Planned memory (memory_demand.h)
  // is never given to such blobs.
  bool keeps_memory = false;
  // The operator works in place only if an output is the same blob as an input, as its schema
  // allows, and not if two blobs have the same address.
  bool same_blob_in_place = false;
  // The outputs, except those with elements of type float, are Int8TensorCPU objects instead of
  // tensors.
  bool quantized_outputs = false;
  // The inputs are parts of output 0 (Concat), or the outputs are parts of input 0 (Split). If a
  // part is already at its place in memory, the operator does not copy it. The function returns the
  // places for known shapes; an input or output that it leaves out is always copied. If a part lies
  // in the memory of the whole, but not at its place, the operator still has to be correct.
  PartsFunction input_parts = {};
  PartsFunction output_parts = {};
  // What the operator needs for known shapes; null: nothing.
  ExtraFunction extra = {};
};

// The traits of the type's schema. The memory of users' operators, and of types without a schema, is
// never planned: they keep memory. The reference stays valid.
const MemoryTraits& MemoryTraitsOf(const std::string& type);

// The extra memory of an operator; nothing if a shape is not known, or if the operator would reject
// the arguments or shapes.
MemoryTraits::Extra ExtraMemoryOf(const OperatorDef& def, const std::vector<TensorShape>& inputs,
                                  const std::vector<TensorShape>& outputs);

}  // namespace caffe2rt
#pragma GCC visibility pop
