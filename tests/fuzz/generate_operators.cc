#include "tests/fuzz/generate_operators.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/fuzz/generate_inputs.h"
#include "tests/fuzz/mutate_argument.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxNetDepth = 2;

class Generator {
 public:
  Generator(std::vector<const OpSchema*> types, Random* random)
      : types_(std::move(types)), random_(random), fits_(random->OneIn(2)) {}

  NetDef Generate(int depth) {
    NetDef net;
    net.set_name("generated");
    for (uint64_t n = 1 + random_->Below(depth == 0 ? 4 : 2); n-- > 0;) AddOperator(depth, &net);
    return net;
  }

 private:
  int Between(int low, int high) {
    high = std::min(high, low + 3);
    return low +
           static_cast<int>(random_->Below(static_cast<uint64_t>(std::max(0, high - low)) + 1));
  }

  void AddOperator(int depth, NetDef* net) {
    const OpSchema& schema = *random_->Pick(types_);
    OperatorDef op;
    op.set_type(schema.type());
    for (const OpSchema::Argument& known : schema.args()) {
      if (known.required || random_->OneIn(3)) AddArgument(known, depth, &op);
    }
    DocumentedSizes sizes(schema, op, random_);
    const int documented = static_cast<int>(schema.input_docs().size());
    const int inputs = random_->OneIn(2)
                           ? std::clamp(documented, schema.min_input(), schema.max_input())
                           : Between(schema.min_input(), schema.max_input());
    for (int i = 0; i < inputs; ++i) {
      const OpSchema::NamedDoc doc =
          documented == 0 ? OpSchema::NamedDoc{}
                          : schema.input_docs()[static_cast<size_t>(std::min(i, documented - 1))];
      op.add_input(InputOf(doc, &sizes, net));
    }
    const int outputs = random_->OneIn(2)
                            ? std::clamp(static_cast<int>(schema.output_docs().size()),
                                         schema.min_output(), schema.max_output())
                            : Between(schema.min_output(), schema.max_output());
    for (int i = 0; i < outputs; ++i) op.add_output(OutputOf(schema, op, i));
    *net->add_op() = op;
  }

  // A new blob, an earlier one, or one that does not exist.
  std::string InputOf(const OpSchema::NamedDoc& doc, DocumentedSizes* sizes, NetDef* net) {
    if (!fits_ && !blobs_.empty() && random_->OneIn(6)) {
      const std::string earlier = random_->Pick(blobs_);
      if (!random_->OneIn(4)) return earlier;
      // Another name for the same memory.
      const std::string alias = "b" + std::to_string(blobs_.size());
      *net->add_op() = CreateOperatorDef("Alias", "", {earlier}, {alias});
      blobs_.push_back(alias);
      return alias;
    }
    const std::string blob = "b" + std::to_string(blobs_.size());
    if (fits_ || !random_->OneIn(40)) AddInput(doc, blob, fits_, sizes, random_, net);
    blobs_.push_back(blob);
    return blob;
  }

  std::string OutputOf(const OpSchema& schema, const OperatorDef& op, int i) {
    for (int k = 0; k < op.input_size(); ++k) {
      const bool may = schema.inplace_allowed(k, i) && random_->OneIn(3);
      const bool may_not = !fits_ && random_->OneIn(60);
      if (schema.inplace_enforced(k, i) || may || may_not) return op.input(k);
    }
    if (!fits_ && !blobs_.empty() && random_->OneIn(30)) return random_->Pick(blobs_);
    blobs_.push_back("y" + std::to_string(blobs_.size()));
    return blobs_.back();
  }

  // A value that the argument's type and default suggest, or any value.
  void AddArgument(const OpSchema::Argument& known, int depth, OperatorDef* op) {
    Argument* const arg = op->add_arg();
    arg->set_name(known.name);
    if (known.name.ends_with("_net") && depth < kMaxNetDepth) {
      *arg->mutable_n() = Generate(depth + 1);
    } else if (!fits_ && random_->OneIn(12)) {
      FillArg(random_, arg);
    } else if (known.type == "bool") {
      arg->set_i(random_->OneIn(2));
    } else if (known.type == "int") {
      arg->set_i(!fits_ && random_->OneIn(5) ? EdgeInt(random_)
                                             : static_cast<int64_t>(random_->Below(5)));
    } else if (known.type == "float") {
      arg->set_f(static_cast<float>(random_->Below(40)) / 8 - (random_->OneIn(4) ? 2.5f : 0));
    } else if (known.type == "ints") {
      for (uint64_t n = random_->Below(5); n-- > 0;) {
        arg->add_ints(!fits_ && random_->OneIn(8) ? EdgeInt(random_)
                                                  : static_cast<int64_t>(random_->Below(4)));
      }
    } else if (known.type == "floats") {
      for (uint64_t n = random_->Below(6); n-- > 0;) arg->add_floats(static_cast<float>(n) / 2);
    } else if (known.type == "strings") {
      for (uint64_t n = random_->Below(4); n-- > 0;) arg->add_strings(AnyBlob());
    } else if (known.type == "string") {
      arg->set_s(random_->OneIn(2) ? known.default_value : TextFor(known));
    } else {
      FillArg(random_, arg);
    }
  }

  std::string AnyBlob() {
    return blobs_.empty() || random_->OneIn(8) ? "b0" : random_->Pick(blobs_);
  }

  // A word of the argument's documentation, which often lists its values, or any string.
  std::string TextFor(const OpSchema::Argument& known) {
    if (random_->OneIn(3)) return EdgeString(random_);
    std::vector<std::string> words(1);
    for (const char c : known.doc) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        words.back() += c;
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
    return random_->Pick(words);
  }

  const std::vector<const OpSchema*> types_;
  Random* const random_;
  const bool fits_;  // every operator matches its documentation, as far as the generator knows
  std::vector<std::string> blobs_;  // of the net so far
};

}  // namespace

NetDef GenerateOperatorNet(const std::string& part, Random* random) {
  std::vector<const OpSchema*> types;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    if (schema != nullptr && type.find(part) != std::string::npos) types.push_back(schema);
  }
  CAFFE_ENFORCE(!types.empty(), "no operator type contains \"", part, "\"");
  return Generator(std::move(types), random).Generate(0);
}

}  // namespace caffe2rt::test
