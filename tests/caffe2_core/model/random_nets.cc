#include "tests/caffe2_core/model/random_nets.h"

#include <algorithm>
#include <functional>

#include "caffe2_core/graph/arguments.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

using Names = std::vector<std::string>;
using Dims = std::vector<int64_t>;

// Numbers that are the same on every machine, unlike those of std's distributions.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed * 2654435761u + 12345) {}
  uint32_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>(state_ >> 16);
  }
  int Below(int end) { return static_cast<int>(Next() % static_cast<uint32_t>(end)); }
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : numbers_(seed), nhwc_(numbers_.Chance(15)) {
    result_.net.set_name("random_" + std::to_string(seed));
    result_.net.set_type(numbers_.Chance(20) ? "dag" : "simple");
  }

  RandomNet Make() {
    const int64_t channels = 2 * (1 + numbers_.Below(4)), size = 3 + numbers_.Below(5);
    const Dims dims = nhwc_ ? Dims{1 + numbers_.Below(2), size, size, channels}
                            : Dims{1 + numbers_.Below(2), channels, size, size};
    AddInput("data", dims);
    const int steps = 4 + numbers_.Below(24);
    for (int i = 0; i < steps; ++i) Step();
    if (numbers_.Chance(60)) Tail();
    Finish();
    return std::move(result_);
  }

 private:
  struct Blob {
    std::string name;
    Dims dims;
  };

  // --- pieces ---
  OperatorDef* Add(const std::string& type, const Names& inputs, const Names& outputs) {
    OperatorDef* const op = result_.net.add_op();
    *op = CreateOperatorDef(type, numbers_.Chance(30) ? type + std::to_string(count_) : "", inputs,
                            outputs);
    if (numbers_.Chance(3)) op->add_control_input(Pick().name);
    if (numbers_.Chance(3)) op->set_engine("CUDNN");  // which the CPU does not have
    return op;
  }
  std::string NewName(const char* stem = "t") { return stem + std::to_string(count_++); }
  void AddInput(const std::string& name, const Dims& dims) {
    result_.filled.push_back({name, dims, -1, 1, numbers_.Next()});
    result_.inputs.insert(name);
    blobs_.push_back({name, dims});
  }
  std::string Weight(const Dims& dims, float low, float high) {
    if (!weights_.empty() && numbers_.Chance(10)) {  // shared weights
      for (const Blob& weight : weights_) {
        if (weight.dims == dims && low < 0) return weight.name;
      }
    }
    const std::string name = NewName("w");
    result_.filled.push_back({name, dims, low, high, numbers_.Next()});
    if (low < 0) weights_.push_back({name, dims});
    return name;
  }
  // A blob, more often a recent one.
  Blob& Pick() {
    const int size = static_cast<int>(blobs_.size());
    const int from_end = numbers_.Chance(70) ? 0 : numbers_.Below(size);
    return blobs_[static_cast<size_t>(size - 1 - from_end)];
  }
  int64_t ChannelsOf(const Dims& dims) const {
    return dims.size() == 4 && nhwc_ ? dims[3] : dims[1];
  }
  void SetOrder(OperatorDef* op) const {
    if (nhwc_) AddArgument("order", std::string("NHWC"), op);
  }
  // Records a result. `in_place` is the name of the input that it overwrites, or empty.
  std::string Result(const Dims& dims, const std::string& in_place = "") {
    if (!in_place.empty()) {
      for (Blob& blob : blobs_) {
        if (blob.name == in_place) blob.dims = dims;
      }
      return in_place;
    }
    // Sometimes a blob that was written before is written again.
    if (blobs_.size() > 3 && numbers_.Chance(8)) {
      const size_t at =
          1 + static_cast<size_t>(numbers_.Below(static_cast<int>(blobs_.size()) - 2));
      Blob old = blobs_[at];
      if (!result_.inputs.contains(old.name) && old.name != last_read_ &&
          !pinned_.contains(old.name)) {
        blobs_.erase(blobs_.begin() + static_cast<ptrdiff_t>(at));
        blobs_.push_back({old.name, dims});
        return old.name;
      }
    }
    blobs_.push_back({NewName(), dims});
    return blobs_.back().name;
  }

  // --- operators ---
  void Conv(bool transposed) {
    const Blob x = Pick();
    if (x.dims.size() != 4) return Pointwise();
    last_read_ = x.name;
    const int64_t c = ChannelsOf(x.dims), m = 2 * (1 + numbers_.Below(4));
    const int64_t kernel = transposed ? 1 : numbers_.Chance(50) ? 3 : 1;
    const int64_t groups = c % 2 == 0 && numbers_.Chance(25) ? 2 : 1;
    const int64_t pad = kernel / 2;
    Dims filter =
        transposed
            ? (nhwc_ ? Dims{c, kernel, kernel, m / groups} : Dims{c, m / groups, kernel, kernel})
            : (nhwc_ ? Dims{m, kernel, kernel, c / groups} : Dims{m, c / groups, kernel, kernel});
    Names inputs = {x.name, Weight(filter, -0.4f, 0.4f)};
    if (numbers_.Chance(60)) inputs.push_back(Weight({m}, -0.5f, 0.5f));
    Dims dims = x.dims;
    dims[nhwc_ ? 3 : 1] = m;
    OperatorDef* const op = Add(transposed ? "ConvTranspose" : "Conv", inputs, {Result(dims)});
    AddArgument("kernel", static_cast<int>(kernel), op);
    if (pad > 0) AddArgument("pad", static_cast<int>(pad), op);
    if (groups > 1) AddArgument("group", static_cast<int>(groups), op);
    SetOrder(op);
  }

  void ChannelNorm() {
    const Blob x = Pick();
    if (x.dims.size() != 4) return Pointwise();
    last_read_ = x.name;
    const int64_t c = ChannelsOf(x.dims);
    const std::string y = Result(x.dims, numbers_.Chance(40) && MayOverwrite(x) ? x.name : "");
    if (numbers_.Chance(70)) {
      OperatorDef* const op = Add("SpatialBN",
                                  {x.name, Weight({c}, 0.5f, 1.5f), Weight({c}, -0.5f, 0.5f),
                                   Weight({c}, -0.2f, 0.2f), Weight({c}, 0.3f, 1.5f)},
                                  {y});
      AddArgument("is_test", 1, op);
      if (numbers_.Chance(50)) AddArgument("epsilon", 1e-3f, op);
      SetOrder(op);
    } else {
      SetOrder(
          Add("AffineChannel", {x.name, Weight({c}, 0.5f, 1.5f), Weight({c}, -0.5f, 0.5f)}, {y}));
    }
  }

  void ConstantArithmetic() {
    const Blob x = Pick();
    last_read_ = x.name;
    const int64_t c = ChannelsOf(x.dims);
    const bool image = x.dims.size() == 4;
    Dims dims = {1};
    const bool along_channels = numbers_.Chance(70);
    const bool legacy = along_channels && numbers_.Chance(40);
    if (along_channels) dims = image && !nhwc_ && !legacy ? Dims{c, 1, 1} : Dims{c};
    std::string operand = Weight(dims, 0.5f, 1.5f);
    if (numbers_.Chance(20)) {  // an expression of constants
      const std::string t = NewName("c");
      Add("Mul", {operand, Weight({1}, 0.5f, 1.5f)}, {t});
      operand = t;
    }
    static const char* const kTypes[] = {"Mul", "Add", "Sub", "Div"};
    const std::string type = kTypes[numbers_.Below(4)];
    const bool swapped = !legacy && (type == "Mul" || type == "Add") && numbers_.Chance(20);
    const std::string y = Result(x.dims);
    OperatorDef* const op =
        Add(type, swapped ? Names{operand, x.name} : Names{x.name, operand}, {y});
    if (!legacy) return;
    AddArgument("broadcast", 1, op);
    AddArgument("axis", image && nhwc_ ? 3 : 1, op);
  }

  void Pointwise() {
    const Blob x = Pick();
    last_read_ = x.name;
    static const char* const kTypes[] = {"Relu",      "Relu",    "Relu", "Clip",
                                         "LeakyRelu", "Sigmoid", "Tanh", "Elu"};
    const std::string type = kTypes[numbers_.Below(8)];
    const bool in_place = numbers_.Chance(50) && MayOverwrite(x);
    OperatorDef* const op = Add(type, {x.name}, {Result(x.dims, in_place ? x.name : "")});
    if (type == "Clip") {
      AddArgument("min", 0.0f, op);
      AddArgument("max", 0.75f, op);
    }
  }

  void Addition() {
    const Blob a = Pick();
    last_read_ = a.name;
    Names same;
    for (const Blob& blob : blobs_) {
      if (blob.dims == a.dims) same.push_back(blob.name);
    }
    const std::string b = same[static_cast<size_t>(numbers_.Below(static_cast<int>(same.size())))];
    const bool in_place = numbers_.Chance(30) && MayOverwrite(a) && a.name != b;
    if (!in_place) pinned_.insert(b);  // b must not become the result
    const std::string y = Result(a.dims, in_place ? a.name : "");
    if (!in_place) pinned_.erase(b);
    Add(numbers_.Chance(60) ? "Sum" : "Add", {a.name, b}, {y});
  }

  void NoOp() {
    const Blob x = Pick();
    last_read_ = x.name;
    static const char* const kTypes[] = {"Copy", "StopGradient", "Dropout", "Sum", "Alias", "Cast"};
    const std::string type = kTypes[numbers_.Below(6)];
    const std::string y = Result(x.dims);
    OperatorDef* const op = Add(type, {x.name}, {y});
    if (type == "Dropout") {
      AddArgument("is_test", 1, op);
      if (numbers_.Chance(50)) op->add_output(NewName("mask"));
    }
    if (type == "Cast") AddArgument("to", 1, op);
  }

  void Join() {
    const Blob x = Pick();
    if (x.dims.size() != 4) return Pointwise();
    last_read_ = x.name;
    Dims dims = x.dims;
    dims[nhwc_ ? 3 : 1] *= 2;
    if (ChannelsOf(dims) > 32) return Pool();
    SetOrder(Add("Concat", {x.name, x.name}, {Result(dims), NewName("sizes")}));
  }

  void Pool() {
    const Blob x = Pick();
    if (x.dims.size() != 4) return Pointwise();
    last_read_ = x.name;
    OperatorDef* const op =
        Add(numbers_.Chance(50) ? "MaxPool" : "AveragePool", {x.name}, {Result(x.dims)});
    AddArgument("kernel", 3, op);
    AddArgument("pad", 1, op);
    AddArgument("stride", 1, op);
    SetOrder(op);
  }

  // A blob that the net reads before it writes it.
  void State() {
    const Blob x = Pick();
    last_read_ = x.name;
    const std::string state = NewName("state"), y = Result(x.dims);
    result_.filled.push_back({state, x.dims, -1, 1, numbers_.Next()});
    Add("Sum", {x.name, state}, {y});
    if (numbers_.Chance(50)) {
      Add("Tanh", {y}, {state});
    } else {
      Add("Copy", {y}, {state});
    }
  }

  // Reads and writes blobs that it does not list.
  void Branch() {
    const Blob x = Pick();
    last_read_ = x.name;
    const std::string y = Result(x.dims);
    Add("Copy", {x.name}, {y});
    const std::string condition = NewName("condition");
    OperatorDef* const fill = Add("ConstantFill", {}, {condition});
    fill->clear_control_input();
    AddArgument("shape", Dims{}, fill);
    AddArgument("dtype", static_cast<int>(TensorProto::BOOL), fill);
    AddArgument("value", numbers_.Chance(50), fill);
    OperatorDef* const op = Add("If", {condition}, {});
    op->clear_engine();
    NetDef inner;
    *inner.add_op() = CreateOperatorDef("Tanh", "", Names{x.name}, Names{y});
    AddArgument("then_net", inner, op);
  }

  void Step() {
    const int kind = numbers_.Below(100);
    if (kind < 26) return Conv(false);
    if (kind < 31) return Conv(true);
    if (kind < 45) return ChannelNorm();
    if (kind < 55) return ConstantArithmetic();
    if (kind < 70) return Pointwise();
    if (kind < 82) return Addition();
    if (kind < 91) return NoOp();
    if (kind < 94) return Join();
    if (kind < 96) return Pool();
    if (kind < 98) return State();
    Branch();
  }

  // Flattens an image and adds FC operators.
  void Tail() {
    const Blob x = Pick();
    last_read_ = x.name;
    int64_t columns = 1;
    for (size_t i = 1; i < x.dims.size(); ++i) columns *= x.dims[i];
    std::string flat = x.name;
    if (numbers_.Chance(70)) {
      flat = Result({x.dims[0], columns});
      if (numbers_.Chance(50)) {
        Add("Flatten", {x.name}, {flat});
      } else {
        AddArgument("shape", Dims{0, -1}, Add("Reshape", {x.name}, {flat, NewName("old")}));
      }
    }
    const int64_t n = 2 + numbers_.Below(8);
    last_read_ = flat;
    Add("FC", {flat, Weight({n, columns}, -0.2f, 0.2f), Weight({n}, -0.5f, 0.5f)},
        {Result({x.dims[0], n})});
    for (int i = numbers_.Below(4); i > 0; --i) Step();
    const Blob last = Pick();
    last_read_ = last.name;
    if (last.dims.size() == 2) Add("Softmax", {last.name}, {Result(last.dims)});
  }

  // Whether an operator may write the blob in place: it is not an input.
  bool MayOverwrite(const Blob& blob) const { return !result_.inputs.contains(blob.name); }

  // Declares outputs: the last blob, and some others.
  void Finish() {
    const std::string last = blobs_.back().name;
    result_.net.add_external_output(last);
    result_.kept.insert(last);
    for (const Blob& blob : blobs_) {
      if (numbers_.Chance(10) && !result_.inputs.contains(blob.name))
        result_.kept.insert(blob.name);
    }
    if (!numbers_.Chance(50)) return;
    for (const RandomNet::Filled& filled : result_.filled) {
      result_.net.add_external_input(filled.name);
    }
  }

  Numbers numbers_;
  const bool nhwc_;
  RandomNet result_;
  std::vector<Blob> blobs_;    // that hold a value
  std::vector<Blob> weights_;  // that may be shared
  std::set<std::string> pinned_;
  std::string last_read_;
  int count_ = 0;
};

}  // namespace

void RandomNet::Fill(Workspace* ws) const {
  for (const Filled& blob : filled) {
    FeedRandom(ws, blob.name, blob.dims, blob.low, blob.high, blob.seed);
  }
}

RandomNet MakeRandomNet(uint32_t seed) { return Maker(seed).Make(); }

}  // namespace caffe2rt::test
