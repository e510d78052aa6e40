#include "caffe2_core/io/net_weights.h"

#include <algorithm>
#include <climits>
#include <map>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/double_fills.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/given_values.h"
#include "caffe2_core/io/proto_binary.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/io/weights_file.h"
#include "caffe2_core/io/weights_reader.h"

namespace caffe2rt {
namespace {

// Fields of NetDef, OperatorDef and Argument.
constexpr int kNetOp = 2;
constexpr int kOpType = 4, kOpArg = 5;
constexpr int kArgName = 1;
constexpr int kLengthDelimited = 2;  // wire type of fields with a length

constexpr char kValues[] = "values";
constexpr size_t kMaxName = 64;  // longer than the names that matter here
// If more than this remains in the NetDef, parsing the file as a stream needs less memory.
constexpr size_t kMaxRestBytes = size_t{32} << 20;

void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value > 127; value >>= 7) bytes->push_back(static_cast<char>((value & 127) | 128));
  bytes->push_back(static_cast<char>(value));
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value > 127; value >>= 7) ++size;
  return size;
}

// What has been found in one operator.
struct Operator {
  ByteRange bytes;
  std::string type;
  int types = 0, args = 0;
  bool has_dtype = false;
  // Argument `values`: the offset of its tag, its bytes, and the list within them.
  int64_t arg_tag = 0;
  ByteRange arg, list;
  int arg_index = -1;
  Tensor values;
};

class Reader {
 public:
  // `file` is the file of the input; null for one that cannot be read again.
  Reader(const RandomAccessInput& input, std::shared_ptr<WeightsFile> file)
      : input_(input), at_(input), file_(std::move(file)) {}

  std::optional<NetWithWeights> Read() {
    while (at_.at() < input_.size()) {
      if (!ReadField()) return std::nullopt;
    }
    std::string reason;
    NetWithWeights result;
    if (!ParseBinary(rest_, &result.net, &reason)) return std::nullopt;
    rest_ = std::string();
    for (const OperatorWeights& found : weights_) {
      if (found.op >= result.net.op_size() || found.arg >= result.net.op(found.op).arg_size()) {
        return std::nullopt;
      }
    }
    result.weights = std::move(weights_);
    return result;
  }

 private:
  // Reads one field of the net. Returns false if the whole net is left to protobuf's parser.
  bool ReadField() {
    const int64_t begin = at_.at();
    int field = 0, wire_type = 0;
    if (!at_.ReadTag(&field, &wire_type)) return false;
    if (field != kNetOp || wire_type != kLengthDelimited) {
      return at_.SkipValue(wire_type, input_.size()) && Copy({begin, at_.at()});
    }
    int64_t length = 0;
    if (!at_.ReadLength(input_.size(), &length)) return false;
    Operator op;
    op.bytes = {at_.at(), at_.at() + length};
    const bool direct = ReadOperator(&op) && op.arg_index >= 0;
    at_.Seek(op.bytes.end);
    const bool copied = direct ? CopyWithoutList(op) : Copy({begin, op.bytes.end});
    if (direct) {
      if (file_ != nullptr) op.values = file_->WithSource(std::move(op.values), op.type, op.list);
      weights_.push_back({.op = ops_, .arg = op.arg_index, .values = std::move(op.values)});
    }
    ++ops_;
    return copied;
  }

  // Returns false if the operator stays as it is.
  bool ReadOperator(Operator* op) {
    while (at_.at() < op->bytes.end) {
      const int64_t begin = at_.at();
      int field = 0, wire_type = 0;
      if (!at_.ReadTag(&field, &wire_type)) return false;
      if (wire_type != kLengthDelimited || (field != kOpType && field != kOpArg)) {
        if (!at_.SkipValue(wire_type, op->bytes.end)) return false;
        continue;
      }
      int64_t length = 0;
      if (!at_.ReadLength(op->bytes.end, &length)) return false;
      const ByteRange value = {at_.at(), at_.at() + length};
      if (field == kOpType) {
        if (++op->types > 1 || length > static_cast<int64_t>(kMaxName)) return false;
        at_.AppendTo(&op->type, length);
      } else {
        if (!ReadArgument(begin, value, op)) return false;
        ++op->args;
      }
      at_.Seek(value.end);
    }
    return !(op->has_dtype && DependsOnDtype(op->type));
  }

  bool ReadArgument(int64_t tag, ByteRange arg, Operator* op) {
    int field = 0, wire_type = 0;
    int64_t length = 0;
    if (!at_.ReadTag(&field, &wire_type) || field != kArgName || wire_type != kLengthDelimited ||
        !at_.ReadLength(arg.end, &length)) {
      return false;
    }
    if (length > static_cast<int64_t>(kMaxName)) return !MayHaveName(arg);
    std::string name;
    at_.AppendTo(&name, length);
    if (name != kValues) {
      op->has_dtype |= name == "dtype";
      return !MayHaveName({at_.at(), arg.end});
    }
    if (op->arg_index >= 0) return false;  // the first of several is the one that counts
    op->arg_tag = tag;
    op->arg = arg;
    op->list = {at_.at(), arg.end};
    op->arg_index = op->args;
    return DecodeGivenValues(op->type, arg.end, &at_, &op->values);
  }

  // Whether a second name may follow, which would replace the first. The order of an exporter has
  // no field 1 behind the first field.
  bool MayHaveName(ByteRange fields) {
    at_.Seek(fields.begin);
    while (at_.at() < fields.end) {
      int field = 0, wire_type = 0;
      if (!at_.ReadTag(&field, &wire_type) || field == kArgName) return true;
      if (!at_.SkipValue(wire_type, fields.end)) return true;
    }
    return false;
  }

  bool Copy(ByteRange bytes) {
    if (static_cast<size_t>(bytes.size()) > kMaxRestBytes - std::min(rest_.size(), kMaxRestBytes)) {
      return false;
    }
    at_.AppendRange(bytes.begin, bytes.size(), &rest_);
    return true;
  }

  bool CopyWithoutList(const Operator& op) {
    const auto argument = static_cast<uint64_t>(op.arg.size() - op.list.size());
    const auto around = static_cast<uint64_t>(op.arg_tag - op.bytes.begin) +
                        static_cast<uint64_t>(op.bytes.end - op.arg.end);
    rest_.push_back(static_cast<char>(kNetOp << 3 | kLengthDelimited));
    AppendVarint(around + 1 + VarintSize(argument) + argument, &rest_);
    if (!Copy({op.bytes.begin, op.arg_tag})) return false;
    rest_.push_back(static_cast<char>(kOpArg << 3 | kLengthDelimited));
    AppendVarint(argument, &rest_);
    return Copy({op.arg.begin, op.list.begin}) && Copy({op.arg.end, op.bytes.end});
  }

  const RandomAccessInput& input_;
  WireCursor at_;
  const std::shared_ptr<WeightsFile> file_;  // shared with the weights
  std::string rest_;                         // the net without the lists
  int ops_ = 0;
  std::vector<OperatorWeights> weights_;
};

// Whether the bytes may be a NetDef in binary format.
bool MayBeBinaryNet(const RandomAccessInput& input) {
  if (input.size() == 0 || input.size() > INT_MAX) return false;
  constexpr int64_t kBeginningBytes = 1 << 20;  // all that DetectContentKind inspects
  std::string beginning(static_cast<size_t>(std::min(input.size(), kBeginningBytes)), '\0');
  input.Read(0, beginning.data(), beginning.size());
  if (LooksLikeText(beginning)) return false;
  const FileKindResult found = DetectContentKind(beginning, input.size());
  return found.kind == FileKind::kNetDef || found.kind == FileKind::kUnknown || found.weak;
}

}  // namespace

std::optional<NetWithWeights> ReadNetWithWeights(const RandomAccessInput& input) try {
  if (input.size() == 0 || input.size() > INT_MAX) return std::nullopt;
  return Reader(input, nullptr).Read();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::optional<NetWithWeights> ReadNetWithWeights(const std::string& path) try {
  // Opening a pipe that is not kept would break it for its writer.
  if (!CanReadAgain(path)) return std::nullopt;
  std::shared_ptr<WeightsFile> file = WeightsFile::Of(path);
  const FileInput input(path);
  if (!MayBeBinaryNet(input)) return std::nullopt;
  return Reader(input, std::move(file)).Read();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::optional<NetWithWeights> ReadNetWithWeightsFromMemory(std::string_view bytes) try {
  const MemoryInput input(bytes);
  return MayBeBinaryNet(input) ? ReadNetWithWeights(input) : std::nullopt;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool AddFill(const std::string& blob, const Tensor& tensor, NetWithWeights* net) try {
  const char* const type = GivenFillOf(tensor.meta());
  if (type == nullptr) return false;
  OperatorDef* const op = net->net.add_op();
  op->set_type(type);
  op->add_output(blob);
  Argument* const shape = op->add_arg();
  shape->set_name("shape");
  for (const int64_t dim : tensor.sizes()) shape->add_ints(dim);
  op->add_arg()->set_name(kValues);
  Tensor values = tensor;
  values.Reshape({tensor.numel()});
  net->weights.push_back({.op = net->net.op_size() - 1, .arg = 1, .values = std::move(values)});
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

namespace {

// A beginning that no name of a blob of the net has.
std::string UnusedBeginning(const NetDef& net) {
  for (int number = 0;; ++number) {
    const std::string beginning = MakeString("double_", number, "/");
    const auto has = [&](const auto& names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return name.starts_with(beginning); });
    };
    if (std::none_of(net.op().begin(), net.op().end(),
                     [&](const OperatorDef& op) { return has(op.input()) || has(op.output()); }) &&
        !has(net.external_input()) && !has(net.external_output())) {
      return beginning;
    }
  }
}

bool IsOnCpu(const OperatorDef& op, const NetDef& net) {
  const DeviceOption& device =
      op.device_option().has_device_type() ? op.device_option() : net.device_option();
  return device.device_type() == PROTO_CPU;
}

// Replaces operators of the net, by their positions.
void ReplaceOperators(std::map<int, std::vector<OperatorDef>>* operators, NetDef* net) {
  google::protobuf::RepeatedPtrField<OperatorDef> all;
  for (int i = 0; i < net->op_size(); ++i) {
    const auto found = operators->find(i);
    if (found == operators->end()) {
      all.Add()->Swap(net->mutable_op(i));
      continue;
    }
    for (OperatorDef& op : found->second) all.Add()->Swap(&op);
  }
  net->mutable_op()->Swap(&all);
}

}  // namespace

void RestoreWeights(NetWithWeights* net) try {
  CAFFE_ENFORCE(net != nullptr, "argument net of RestoreWeights is null");
  std::map<int, std::vector<OperatorDef>> exact;
  std::string unused;
  for (OperatorWeights& weights : net->weights) {
    OperatorDef* const op = net->net.mutable_op(weights.op);
    if (weights.values.IsType<double>() && op->output_size() == 1 && !AreFloats(weights.values)) {
      if (unused.empty()) unused = UnusedBeginning(net->net);
      exact[weights.op] = ExactFills(*op, weights.arg, weights.values,
                                     MakeString(unused, exact.size(), "/"), IsOnCpu(*op, net->net));
    } else {
      RestoreValues(weights, op);
    }
    weights.values = Tensor();
  }
  if (!exact.empty()) ReplaceOperators(&exact, &net->net);
  net->weights.clear();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void RestoreValues(const OperatorWeights& weights, OperatorDef* op) try {
  EncodeGivenValues(weights.values, op->type(), op->mutable_arg(weights.arg));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
