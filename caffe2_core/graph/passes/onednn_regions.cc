#include "caffe2_core/graph/passes/onednn_regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/onednn_estimates.h"
#include "caffe2_core/graph/passes/onednn_joins.h"
#include "caffe2_core/graph/passes/onednn_placement.h"
#include "caffe2_core/graph/passes/onednn_precisions.h"
#include "caffe2_core/graph/passes/user_operators.h"

namespace caffe2rt {
namespace {

constexpr char kLayoutArgument[] = "layout";
constexpr char kNhwcLayout[] = "nhwc";
constexpr char kBlockedLayout[] = "nChw16c";
// Below this many channels, the CPU's own kernels read NCHW without conversion.
constexpr int64_t kFewChannels = 16;

// Disjoint sets of the numbers below `size`.
class DisjointSets {
 public:
  explicit DisjointSets(size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), 0u);
  }
  uint32_t Find(uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void Join(uint32_t a, uint32_t b) { parents_[Find(a)] = Find(b); }

 private:
  std::vector<uint32_t> parents_;
};

// Steps: find the operators that IDEEP supports, join them to regions, keep the regions that gain,
// choose their layouts, name the values on IDEEP, and write the net with the copies.
class RegionPlacer {
 public:
  RegionPlacer(const NetDef& net, PassContext& context)
      : net_(net),
        context_(context),
        machine_(context.MachineOfChoices()),
        values_(net, context),
        estimates_(net, context),
        roles_(values_.num_operators(), OnednnRole::kNone),
        precisions_(net, context, machine_, values_, estimates_, roles_),
        data_inputs_(values_.num_operators()),
        on_ideep_(values_.num_operators()),
        regions_(values_.num_operators()),
        names_(values_.num_values()),
        name_sets_(values_.num_values()) {}

  NetDef Run() {
    FindCandidates();
    JoinRegions();
    if (!ChooseRegions()) return net_;
    FindBorder();
    ChoosePrecisions();
    NameValues();
    return Rewrite();
  }

 private:
  using Value = NetValues::Value;
  static constexpr uint32_t kNone = NetValues::kNone;

  struct Region {
    double gain_us = 0, border_us = 0;   // of the operators, and of the conversions
    double nhwc_us = 0, blocked_us = 0;  // of the convolutions, by base layout
    bool quantized = false;              // of any of the convolutions
    bool placed = false;
    const char* layout = kNhwcLayout;
  };

  const OperatorDef& Def(size_t op) const { return net_.op(static_cast<int>(op)); }
  bool IsCandidate(size_t op) const { return roles_[op] != OnednnRole::kNone; }
  bool IsPlaced(size_t op) const { return on_ideep_[op]; }
  // Whether a candidate computes the value, so that it may stay on IDEEP.
  bool IsComputed(Value value) const {
    return values_.writer(value) != kNone && IsCandidate(values_.writer(value));
  }

  // --- candidates ---

  void FindCandidates() {
    std::vector<bool> images(values_.num_values());
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!values_.is_plain(op) || !AreOutputsPlain(op)) continue;
      const OnednnRole role = PlaceOnOnednn(Def(op), context_).role;
      if (role == OnednnRole::kNone || !AreInputsImages(op, role, &images)) continue;
      roles_[op] = role;
      data_inputs_[op] = FindDataInputs(Def(op));
      for (size_t i = 0; i < values_.num_outputs(op); ++i) images[values_.output(op, i)] = true;
    }
  }

  // Whether nothing but inputs of operators, or the caller at the end, sees the outputs. More
  // outputs than the first one may be used only if they are parts of the input, as those of Split.
  bool AreOutputsPlain(size_t op) const {
    for (size_t i = 0; i < values_.num_outputs(op); ++i) {
      const Value value = values_.output(op, i);
      const bool used = !values_.readers(value).empty() || values_.is_observable(value);
      if (i > 0 && used && !MemoryTraitsOf(Def(op).type()).output_parts) return false;
      if (!IsPlainValue(value)) return false;
    }
    return values_.num_outputs(op) > 0;
  }

  // A value that shares its memory with another blob must not be changed through that blob while
  // it is in use.
  bool IsPlainValue(Value value) const {
    if (!values_.is_observable(value) || values_.is_only_kept(value)) return true;
    if (!values_.is_only_shared(value)) return false;
    const auto readers = values_.readers(value);
    const uint32_t writer = values_.writer(value);
    return readers.empty() ||
           !values_.IsWrittenBetween(values_.blob(value), writer != kNone ? writer : 0,
                                     readers.back().op);
  }

  // The inputs that the operator reads on IDEEP.
  static std::vector<uint32_t> FindDataInputs(OperatorDef def) {
    SetIdeep(&def);
    const auto devices = InferOpInputOutputDevice(def).first;
    std::vector<uint32_t> inputs;
    for (uint32_t i = 0; i < devices.size(); ++i) {
      if (devices[i].device_type() == IDEEP) inputs.push_back(i);
    }
    return inputs;
  }

  // A convolution proves that its input is an image. Operators on inputs of equal ranks have only
  // images as inputs if one of them is an image.
  bool AreInputsImages(size_t op, OnednnRole role, std::vector<bool>* images) const try {
    if (role == OnednnRole::kConvolution) {
      const Tensor* filter = context_.constants.Find(Def(op).input(1));
      if (filter == nullptr || !filter->IsType<float>() || filter->dim() != 4) return false;
      (*images)[values_.input(op, 0)] = true;
    }
    const std::vector<uint32_t> inputs = FindDataInputs(Def(op));
    const bool alike =
        role == OnednnRole::kConvolution || TraitsOf(Def(op).type()).onednn.same_rank;
    size_t count = 0;
    for (const uint32_t i : inputs) {
      const Value value = values_.input(op, i);
      if (!IsPlainValue(value)) return false;
      count += (*images)[value] || estimates_.IsImage(op, i);
    }
    return alike ? count > 0 : count == inputs.size();
  } catch (const EnforceNotMet&) {  // the operator will report it
    return false;
  }

  // --- regions ---

  void JoinRegions() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!IsCandidate(op)) continue;
      for (const uint32_t i : data_inputs_[op]) {
        const Value value = values_.input(op, i);
        if (IsComputed(value)) regions_.Join(static_cast<uint32_t>(op), values_.writer(value));
      }
    }
  }

  // Returns whether any region is placed.
  bool ChooseRegions() {
    std::unordered_map<uint32_t, Region> regions;
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (IsCandidate(op)) Account(op, &regions[regions_.Find(static_cast<uint32_t>(op))]);
    }
    bool any = false;
    for (auto& [root, region] : regions) {
      region.placed = region.gain_us > region.border_us;
      const bool blocked = region.blocked_us < region.nhwc_us && !region.quantized;
      region.layout = blocked ? kBlockedLayout : kNhwcLayout;
      any = any || region.placed;
    }
    layouts_.resize(values_.num_operators(), nullptr);
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!IsCandidate(op)) continue;
      const Region& region = regions[regions_.Find(static_cast<uint32_t>(op))];
      on_ideep_[op] = region.placed;
      layouts_[op] = region.layout;
    }
    return any;
  }

  // Adds the operator to the estimates of its region.
  void Account(size_t op, Region* region) {
    for (const uint32_t i : data_inputs_[op]) {
      const Value value = values_.input(op, i);
      // A value is copied once for all its readers.
      if (IsComputed(value) || values_.readers(value)[0].op != op) continue;
      region->border_us += ReorderUs(estimates_.InputCount(op, i));
    }
    if (IsReadOutside(values_.output(op, 0))) {
      region->border_us += ReorderUs(estimates_.OutputCount(op));
    }
    // In blocks, the parts of a single image are written in place.
    if (MemoryTraitsOf(Def(op).type()).input_parts) {
      region->nhwc_us += ReorderUs(estimates_.OutputCount(op));
    }
    if (roles_[op] != OnednnRole::kConvolution) return;
    const ConvSize size = estimates_.SizeOfConv(op);
    const double in = ReorderUs(estimates_.InputCount(op, 0));
    const double out = ReorderUs(estimates_.OutputCount(op));
    // What the CPU's convolution spends on conversions.
    if (size.in_channels >= kFewChannels) region->gain_us += in;
    if (size.out_channels >= kFewChannels) region->gain_us += out;
    const ConvLayoutTimes times = EstimateConvLayouts(size, machine_, context_.deterministic);
    region->nhwc_us += times.nhwc_us;
    region->blocked_us += std::min(times.blocked_us, times.nhwc_us + in + out);
    region->quantized = region->quantized || precisions_.MayQuantize(op);
  }

  double ReorderUs(double count) const { return EstimateReorder(count, machine_); }

  // Whether something other than a candidate uses the value.
  bool IsReadOutside(Value value) const {
    if (values_.is_observable(value)) return true;
    for (const NetValues::Read& read : values_.readers(value)) {
      if (!IsCandidate(read.op) || !ReadsOnIdeep(read)) return true;
    }
    return false;
  }

  bool ReadsOnIdeep(const NetValues::Read& read) const {
    const std::vector<uint32_t>& inputs = data_inputs_[read.op];
    return std::find(inputs.begin(), inputs.end(), read.input) != inputs.end();
  }

  // --- values on IDEEP ---

  // Finds the values that are copied to IDEEP, before their first reader there, and those that are
  // copied back, after the operator that computes them.
  void FindBorder() {
    copied_in_.resize(values_.num_operators());
    copied_out_.resize(values_.num_operators());
    std::unordered_set<Value> seen;
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!IsPlaced(op)) continue;
      for (const uint32_t i : data_inputs_[op]) {
        const Value value = values_.input(op, i);
        const uint32_t writer = values_.writer(value);
        if (writer != kNone && IsPlaced(writer)) continue;
        if (seen.insert(value).second) copied_in_[op].push_back(value);
      }
      for (size_t i = 0; i < values_.num_outputs(op); ++i) {
        const Value value = values_.output(op, i);
        if (IsNeededOnCpu(value)) copied_out_[op].push_back(value);
      }
    }
    copied_ = std::move(seen);
  }

  void ChoosePrecisions() {
    std::vector<bool> on_cpu(values_.num_values());
    for (Value value = 0; value < values_.num_values(); ++value)
      on_cpu[value] = IsNeededOnCpu(value);
    precisions_.Choose(on_ideep_, data_inputs_, on_cpu);
    joins_.emplace(net_, values_, precisions_, on_ideep_);
  }

  bool IsNeededOnCpu(Value value) const {
    if (values_.is_observable(value)) return true;
    for (const NetValues::Read& read : values_.readers(value)) {
      if (!IsPlaced(read.op) || !ReadsOnIdeep(read)) return true;
    }
    return false;
  }

  bool IsOnIdeep(Value value) const {
    const uint32_t writer = values_.writer(value);
    return copied_.contains(value) || (writer != kNone && IsPlaced(writer));
  }

  // Values that an operator overwrites in place share a name. Each set of them gets a name that
  // nothing else in the net has, so that no blob changes its device.
  void NameValues() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!IsPlaced(op)) continue;
      for (const uint32_t i : data_inputs_[op]) {
        const Value in = values_.input(op, i), out = values_.output(op, 0);
        const bool in_place = values_.blob(in) == values_.blob(out) && !copied_.contains(in);
        if (in_place || IsSumInPlace(op, i)) name_sets_.Join(in, out);
      }
    }
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      for (const Value value : Values(op)) {
        std::string& name = names_[name_sets_.Find(value)];
        if (name.empty()) name = UnusedName(values_.blobs().name(values_.blob(value)) + "_ideep");
      }
    }
  }

  // The values on IDEEP that appear first at this operator.
  std::vector<Value> Values(size_t op) const {
    std::vector<Value> values;
    if (!IsPlaced(op)) return values;
    values = copied_in_[op];
    for (size_t i = 0; i < values_.num_outputs(op); ++i) values.push_back(values_.output(op, i));
    return values;
  }

  // Whether input `i` is the tensor that the convolution adds and nothing reads it later.
  bool IsSumInPlace(size_t op, size_t i) const {
    const OperatorDef& def = Def(op);
    if (def.type() != kConvFusionType || i < 2 || i + 1 != values_.num_inputs(op)) return false;
    const Value value = values_.input(op, i);
    const auto readers = values_.readers(value);
    const size_t reads = static_cast<size_t>(std::count_if(
        readers.begin(), readers.end(), [&](const auto& read) { return read.op == op; }));
    return reads == 1 && readers.back().op == op && !IsTakenInPlace(value);
  }

  // Whether another operator overwrites the value in place.
  bool IsTakenInPlace(Value value) const {
    for (const NetValues::Read& read : values_.readers(value)) {
      for (size_t i = 0; i < values_.num_outputs(read.op); ++i) {
        if (values_.blob(values_.output(read.op, i)) == values_.blob(value)) return true;
      }
    }
    return false;
  }

  std::string UnusedName(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; values_.blobs().Find(name) != NetBlobs::kNone || used_.contains(name) ||
                    context_.kept.contains(name) || context_.constants.Find(name) != nullptr;
         ++i) {
      name = MakeString(wanted, "_", i);
    }
    used_.insert(name);
    return name;
  }

  const std::string& NameOf(Value value) { return names_[name_sets_.Find(value)]; }

  // --- the new net ---

  NetDef Rewrite() {
    NetDef out = net_;
    out.clear_op();
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (!IsPlaced(op)) {
        *out.add_op() = Def(op);
        continue;
      }
      for (const Value value : copied_in_[op]) AddCopyIn(op, value, &out);
      AddPlaced(op, &out);
      for (const Value value : copied_out_[op]) AddCopyOut(op, value, &out);
    }
    return out;
  }

  // The device has id 0, whatever id the net or the operator gives the CPU.
  static void SetIdeep(OperatorDef* def) {
    def->mutable_device_option()->set_device_type(IDEEP);
    def->mutable_device_option()->set_device_id(0);
  }

  void AddPlaced(size_t op, NetDef* out) {
    OperatorDef* def = out->add_op();
    *def = Def(op);
    SetIdeep(def);
    for (const uint32_t i : data_inputs_[op]) {
      def->set_input(static_cast<int>(i), NameOf(values_.input(op, i)));
    }
    for (size_t i = 0; i < values_.num_outputs(op); ++i) {
      def->set_output(static_cast<int>(i), NameOf(values_.output(op, i)));
    }
    precisions_.State(op, def);
    joins_->State(op, def);
    if (roles_[op] != OnednnRole::kConvolution) return;
    SetArgument(kLayoutArgument, std::string(layouts_[op]), def);
    if (context_.deterministic) SetArgument("deterministic", 1, def);
  }

  template <class T>
  static void SetArgument(const std::string& name, const T& value, OperatorDef* def) {
    *GetMutableArgument(name, true, def) = MakeArgument(name, value);
  }

  void AddCopy(const char* type, size_t op, const std::string& from, const std::string& to,
               NetDef* out) {
    OperatorDef* def = out->add_op();
    def->set_type(type);
    def->add_input(from);
    def->add_output(to);
    SetIdeep(def);
    AddUserOperators(Def(op), def);
  }

  // The copy has the base layout of the region, except that a convolution in blocks reads few
  // channels in NCHW.
  void AddCopyIn(size_t op, Value value, NetDef* out) {
    AddCopy(kCopyFromCPUType, op, values_.blobs().name(values_.blob(value)), NameOf(value), out);
    const bool plain = layouts_[op] == kBlockedLayout && roles_[op] == OnednnRole::kConvolution &&
                       BlockedConvReadsNchw(estimates_.SizeOfConv(op));
    OperatorDef* const def = out->mutable_op(out->op_size() - 1);
    if (!plain) SetArgument(kLayoutArgument, std::string(layouts_[op]), def);
    if (precisions_.MayRoundCopy(value, on_ideep_)) {
      SetArgument("output_precision", std::string("bf16"), def);
    }
  }

  void AddCopyOut(size_t op, Value value, NetDef* out) {
    AddCopy(kCopyToCPUType, op, NameOf(value), values_.blobs().name(values_.blob(value)), out);
  }

  const NetDef& net_;
  PassContext& context_;
  const Machine machine_;  // for which layouts are chosen
  const NetValues values_;
  const OnednnEstimates estimates_;
  std::vector<OnednnRole> roles_;  // by operator
  OnednnPrecisions precisions_;
  std::optional<OnednnJoins> joins_;
  std::vector<std::vector<uint32_t>> data_inputs_;          // by operator: positions
  std::vector<bool> on_ideep_;                              // by operator
  std::vector<const char*> layouts_;                        // by operator
  DisjointSets regions_;                                    // of operators
  std::vector<std::vector<Value>> copied_in_, copied_out_;  // by operator
  std::unordered_set<Value> copied_;                        // to IDEEP
  std::vector<std::string> names_;                          // by representative of name_sets_
  DisjointSets name_sets_;                                  // of values
  std::unordered_set<std::string> used_;
};

}  // namespace

NetDef PlaceOnednnRegions(NetDef net, PassContext& context) {
  if (!context.has_operator || !context.has_operator(kCopyFromCPUType, IDEEP)) return net;
  return RegionPlacer(net, context).Run();
}

}  // namespace caffe2rt
