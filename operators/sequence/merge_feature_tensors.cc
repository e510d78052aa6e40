// MergeSingleScalarFeatureTensors, MergeSingleListFeatureTensors, MergeSingleMapFeatureTensors,
// MergeMultiScalarFeatureTensors, MergeMultiListFeatureTensors, MergeMultiMapFeatureTensors and their
// gradients: the features of all examples, one example after the other.
//   Single: the value of one feature in each group of inputs, and whether an example has it
//   Multi: the lengths int32 [E], keys int64 [K] and values of several features in each group
//     -> out_lengths int32 [E], out_keys int64 [K], the values of all features
// The values of numbers are one tensor. Lists have lengths, int32, and values, and maps also have
// keys, one for each value. Only examples that have a single feature have values for it, but
// numbers are given for all examples.
// The gradient takes the presence or lengths of each group and the gradient of the merged values
// apart into those of the values of the groups.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int64_t> kFeatureIds{
    "feature_ids", "the key of each feature; must be given", {}, true};
constexpr RepeatedArgumentSpec<int64_t> kUnusedFeatureIds{"feature_ids",
                                                          "that of the merge; not used"};

// What the groups of inputs of a type consist of.
struct MergeKind {
  std::string_view name;  // the type is Merge...FeatureTensors
  bool is_single;         // one feature in each group
  bool has_lengths;       // a value is a list or a map
  bool has_keys;          // a map
  const char* group;      // names of the inputs of a group
  const char* gradient_group;

  int inputs() const { return (is_single ? 2 : 3) + has_lengths + has_keys; }
  int outputs() const { return 3 + has_lengths + has_keys; }
  // Places in a group of inputs: presence or the numbers of features; lengths of the values, or -1;
  // keys of maps, or -1; values.
  int marks() const { return is_single ? inputs() - 1 : 0; }
  int lengths() const { return !has_lengths ? -1 : is_single ? 0 : 2; }
  int keys() const { return !has_keys ? -1 : is_single ? 1 : 3; }
  int values() const { return is_single ? inputs() - 2 : inputs() - 1; }
  // The same for the inputs of the gradient.
  int gradient_inputs() const { return 1 + has_lengths; }
  int gradient_marks() const { return is_single ? gradient_inputs() - 1 : 0; }
  int gradient_lengths() const { return !has_lengths ? -1 : is_single ? 0 : 1; }
  // Whether a value is given also for examples that do not have the feature.
  bool has_all_values() const { return is_single && !has_lengths; }
};

constexpr MergeKind kMergeKinds[] = {
    {"SingleScalar", true, false, false, "in1, in1_presence, in2, ...", "in1_presence, ..."},
    {"SingleList", true, true, false, "in1_lengths, in1_values, in1_presence, in2_lengths, ...",
     "in1_lengths, in1_presence, ..."},
    {"SingleMap", true, true, true,
     "in1_lengths, in1_keys, in1_values, in1_presence, in2_lengths, ...",
     "in1_lengths, in1_presence, ..."},
    {"MultiScalar", false, false, false, "in1_lengths, in1_keys, in1_values, in2_lengths, ...",
     "in1_lengths, ..."},
    {"MultiList", false, true, false,
     "in1_lengths, in1_keys, in1_values_lengths, in1_values_values, in2_lengths, ...",
     "in1_lengths, in1_values_lengths, ..."},
    {"MultiMap", false, true, true,
     "in1_lengths, in1_keys, in1_values_lengths, in1_values_keys, in1_values_values, in2_lengths, "
     "...",
     "in1_lengths, in1_values_lengths, ..."},
};

const MergeKind& MergeKindOf(std::string_view type) {
  return *std::find_if(std::begin(kMergeKinds), std::end(kMergeKinds), [&](const MergeKind& kind) {
    return type.substr(5, kind.name.size() + 7) == std::string(kind.name) + "Feature";
  });
}

void RequireFeatureElements(const Tensor& values) {
  RequireElementsOf<bool, int32_t, int64_t, float, double, std::string>(values, "the values");
}

// The sum of input `place`, lengths. THROWS if one is negative.
int64_t SumOfLengths(const Tensor& lengths, int place) {
  const int32_t* const length = lengths.data<int32_t>();
  int64_t sum = 0;
  for (int64_t i = 0; i < lengths.numel(); ++i) {
    CAFFE_ENFORCE_GE(length[i], 0, "element ", i, " of input ", place);
    sum += length[i];
  }
  return sum;
}

// A group of inputs, read from the first example to the last one.
struct FeatureGroup {
  const bool* presence = nullptr;          // of a single feature
  const int32_t* counts = nullptr;         // of several: the features of each example
  const int32_t* value_lengths = nullptr;  // of each feature; of a single one, for each example
  int64_t features = 0, values = 0;        // of all examples
  int64_t next_feature = 0, next_value = 0;

  // Checks shapes and types: `marks` and `lengths` are places of inputs, `lengths` may be -1.
  static void Check(const OperatorBase& op, const MergeKind& kind, int marks, int lengths,
                    int64_t examples) {
    const Tensor& mark = op.Input<Tensor>(marks, CPU);
    CAFFE_ENFORCE_EQ(mark.numel(), examples, "elements of input ", marks, " of shape ",
                     mark.sizes(), ", want one for each example");
    if (kind.is_single) {
      RequireElements<bool>(mark);
    } else {
      RequireElements<int32_t>(mark);
    }
    if (lengths < 0) return;
    const Tensor& length = op.Input<Tensor>(lengths, CPU);
    RequireElements<int32_t>(length);
    if (!kind.is_single) return;
    CAFFE_ENFORCE_EQ(length.numel(), examples, "elements of input ", lengths, " of shape ",
                     length.sizes(), ", want one for each example");
  }
  // THROWS for negative lengths. The inputs were checked.
  void Read(const OperatorBase& op, const MergeKind& kind, int marks, int lengths) {
    const Tensor& mark = op.Input<Tensor>(marks, CPU);
    const Tensor* const length = lengths < 0 ? nullptr : &op.Input<Tensor>(lengths, CPU);
    *this = {};
    if (length != nullptr) {
      values = SumOfLengths(*length, lengths);
      value_lengths = length->data<int32_t>();
    }
    if (kind.is_single) {
      presence = mark.data<bool>();
      features = std::count(presence, presence + mark.numel(), true);
      // The lengths of examples without the feature do not count.
      for (int64_t i = 0; length != nullptr && i < mark.numel(); ++i)
        values -= presence[i] ? 0 : value_lengths[i];
    } else {
      features = SumOfLengths(mark, marks);
      counts = mark.data<int32_t>();
      CAFFE_ENFORCE(length == nullptr || features == length->numel(), "input ", marks,
                    " has the sum ", features, ", want the elements of input ", lengths,
                    " of shape ", length == nullptr ? IntArrayRef() : length->sizes());
    }
    if (length == nullptr) values = features;
  }
  int64_t FeaturesOf(int64_t example) const {
    return presence != nullptr ? int64_t{presence[example]} : counts[example];
  }
  // The elements of the values of the next features.
  int64_t ValuesOf(int64_t example, int64_t count) const {
    if (value_lengths == nullptr) return count;
    if (presence != nullptr) return count * value_lengths[example];
    int64_t sum = 0;
    for (int64_t i = next_feature; i < next_feature + count; ++i) sum += value_lengths[i];
    return sum;
  }
};

// Calls visit(g, example, features, values) in the order of the merged features.
template <class Visit>
void ForEachOfMerged(std::vector<FeatureGroup>& groups, bool has_all_values, int64_t examples,
                     const Visit& visit) {
  for (int64_t example = 0; example < examples; ++example) {
    for (size_t g = 0; g < groups.size(); ++g) {
      FeatureGroup& group = groups[g];
      const int64_t features = group.FeaturesOf(example);
      const int64_t values = group.ValuesOf(example, features);
      visit(g, example, features, values);
      group.next_feature += features;
      group.next_value += has_all_values ? 1 : values;
    }
  }
}

class MergeFeatureTensorsOp final : public Operator<CPUContext> {
 public:
  MergeFeatureTensorsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        kind_(MergeKindOf(def.type())),
        groups_(static_cast<size_t>(InputSize() / kind_.inputs())) {
    if (!kind_.is_single) return;
    feature_ids_ = ReadArgument(kFeatureIds);
    CAFFE_ENFORCE_EQ(feature_ids_.size(), groups_.size(),
                     "values of argument feature_ids, want one for each group of inputs");
  }

  bool RunOnDevice() override {
    const int64_t examples = Input(kind_.marks()).numel();
    for (size_t g = 0; g < groups_.size(); ++g) CheckGroup(g, examples);
    int64_t features = 0, values = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      FeatureGroup& group = groups_[g];
      group.Read(*this, kind_, Place(g, kind_.marks()),
                 kind_.has_lengths ? Place(g, kind_.lengths()) : -1);
      if (!kind_.is_single) {
        CAFFE_ENFORCE_EQ(Input(Place(g, 1)).numel(), group.features, "elements of input ",
                         Place(g, 1), ", want the sum of input ", Place(g, 0));
      }
      if (!kind_.has_all_values()) {
        CAFFE_ENFORCE_EQ(Input(Place(g, kind_.values())).numel(), group.values,
                         "elements of input ", Place(g, kind_.values()),
                         ", want as many as its features have");
      }
      features = CheckedAdd(features, group.features);
      values = CheckedAdd(values, group.values);
    }
    (void)CheckedCast<int32_t>(features, "the number of features");
    Merge(examples, features, values);
    return true;
  }

 private:
  // Input `place` of a group.
  int Place(size_t g, int place) const { return static_cast<int>(g) * kind_.inputs() + place; }

  void CheckGroup(size_t g, int64_t examples) {
    FeatureGroup::Check(*this, kind_, Place(g, kind_.marks()),
                        kind_.has_lengths ? Place(g, kind_.lengths()) : -1, examples);
    const int place = Place(g, kind_.values());
    const Tensor& values = Input(place);
    if (g == 0) RequireFeatureElements(values);
    CheckType(place, kind_.values());
    if (kind_.has_all_values()) {
      CAFFE_ENFORCE_EQ(values.numel(), examples, "elements of input ", place, " of shape ",
                       values.sizes(), ", want one for each example");
    }
    if (!kind_.is_single) RequireElements<int64_t>(Input(Place(g, 1)));
    if (!kind_.has_keys) return;
    const int keys = Place(g, kind_.keys());
    if (g == 0) RequireFeatureElements(Input(keys));
    CheckType(keys, kind_.keys());
    CAFFE_ENFORCE_EQ(Input(keys).numel(), values.numel(), "elements of input ", keys, " of shape ",
                     Input(keys).sizes(), ", want those of input ", place, " of shape ",
                     values.sizes());
  }
  // THROWS unless the elements have the type of those of the first group.
  void CheckType(int place, int first) {
    CAFFE_ENFORCE(Input(place).dtype() == Input(first).dtype(), "input ", place,
                  " has elements of type ", Input(place).dtype().name(), ", want that of input ",
                  first, ", ", Input(first).dtype().name());
  }

  // A tensor of the inputs, and the merged one.
  struct MergedTensor {
    TypeMeta type;
    std::vector<const void*> from;
    void* to = nullptr;

    void Copy(CPUContext& context, size_t g, int64_t offset, int64_t items) {
      if (items == 0) return;
      CopyRow(context, type, items, ItemAt(from[g], type, offset), to);
      to = ItemAt(to, type, items);
    }
  };
  void Start(int place, int output, int64_t items, MergedTensor* merged) {
    merged->type = Input(place).dtype();
    merged->from.resize(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Tensor& input = Input(Place(g, place));
      merged->from[g] = input.numel() > 0 ? input.raw_data() : nullptr;
    }
    Output(output)->Resize(items);
    merged->to = OutputMemory(Output(output), merged->type);
  }

  void Merge(int64_t examples, int64_t features, int64_t values) {
    int32_t* const lengths = OutputData<int32_t>(0, {examples});
    int64_t* key = OutputData<int64_t>(1, {features});
    int32_t* value_length = kind_.has_lengths ? OutputData<int32_t>(2, {features}) : nullptr;
    Start(kind_.values(), kind_.outputs() - 1, values, &values_);
    if (kind_.has_keys) Start(kind_.keys(), 3, values, &keys_);
    std::fill_n(lengths, examples, 0);
    ForEachOfMerged(
        groups_, kind_.has_all_values(), examples,
        [&](size_t g, int64_t example, int64_t count, int64_t items) {
          const FeatureGroup& group = groups_[g];
          lengths[example] += static_cast<int32_t>(count);
          if (kind_.is_single) {
            key = std::fill_n(key, count, feature_ids_[g]);
          } else if (count > 0) {
            const int64_t* const keys = Input(Place(g, 1)).data<int64_t>() + group.next_feature;
            key = std::copy_n(keys, count, key);
          }
          if (value_length != nullptr) {
            const int64_t first = kind_.is_single ? example : group.next_feature;
            value_length = std::copy_n(group.value_lengths + first, count, value_length);
          }
          if (kind_.has_keys) keys_.Copy(context_, g, group.next_value, items);
          values_.Copy(context_, g, group.next_value, items);
        });
  }

  const MergeKind& kind_;
  std::vector<FeatureGroup> groups_;
  std::vector<int64_t> feature_ids_;
  MergedTensor keys_, values_;
};

class MergeFeatureTensorsGradientOp final : public Operator<CPUContext> {
 public:
  MergeFeatureTensorsGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        kind_(MergeKindOf(def.type())),
        groups_(static_cast<size_t>(OutputSize())),
        to_(groups_.size()) {}

  bool RunOnDevice() override {
    const int64_t examples = Input(kind_.gradient_marks()).numel();
    const Tensor& merged = Input(InputSize() - 1);
    const TypeMeta type = merged.dtype();
    RequireFeatureElements(merged);
    for (size_t g = 0; g < groups_.size(); ++g)
      FeatureGroup::Check(*this, kind_, Marks(g), Lengths(g), examples);
    int64_t values = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].Read(*this, kind_, Marks(g), Lengths(g));
      values = CheckedAdd(values, groups_[g].values);
    }
    CAFFE_ENFORCE_EQ(merged.numel(), values, "elements of input ", InputSize() - 1, " of shape ",
                     merged.sizes(), ", want as many as all features have");
    for (size_t g = 0; g < groups_.size(); ++g) {
      Tensor* const output = Output(static_cast<int>(g));
      if (kind_.has_all_values()) {
        output->Resize(Input(Marks(g)).sizes());
      } else {
        output->Resize(groups_[g].values);
      }
      to_[g] = OutputMemory(output, type);
    }
    const void* from = values > 0 ? merged.raw_data() : nullptr;
    ForEachOfMerged(
        groups_, kind_.has_all_values(), examples, [&](size_t g, int64_t, int64_t, int64_t items) {
          if (items == 0) {
            if (kind_.has_all_values())
              FillBlanks(type, 1, ItemAt(to_[g], type, groups_[g].next_value));
            return;
          }
          CopyRow(context_, type, items, from, ItemAt(to_[g], type, groups_[g].next_value));
          from = ItemAt(from, type, items);
        });
    return true;
  }

 private:
  int Marks(size_t g) const {
    return static_cast<int>(g) * kind_.gradient_inputs() + kind_.gradient_marks();
  }
  int Lengths(size_t g) const {
    if (!kind_.has_lengths) return -1;
    return static_cast<int>(g) * kind_.gradient_inputs() + kind_.gradient_lengths();
  }

  const MergeKind& kind_;
  std::vector<FeatureGroup> groups_;
  std::vector<void*> to_;
};

class GetMergeFeatureTensorsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const MergeKind& kind = MergeKindOf(Def().type());
    std::vector<std::string> inputs, outputs;
    for (int first = 0; first < Def().input_size(); first += kind.inputs()) {
      // In the order of the forward operator's inputs.
      if (kind.has_lengths && kind.is_single) inputs.push_back(I(first + kind.lengths()));
      inputs.push_back(I(first + kind.marks()));
      if (kind.has_lengths && !kind.is_single) inputs.push_back(I(first + kind.lengths()));
      outputs.push_back(GI(first + kind.values()));
    }
    inputs.push_back(GO(kind.outputs() - 1));
    return SingleGradientDef(Def().type() + "Gradient", "", inputs, outputs);
  }
};

// The number of elements of the input as the only dimension, if it is known.
TensorShape OneForEach(const std::vector<TensorShape>& in, int place) {
  const auto i = static_cast<size_t>(place);
  if (i >= in.size() || !IsKnown(in[i])) return UnknownShapeOf(TensorProto::INT32);
  return CreateTensorShape(std::vector<int64_t>{static_cast<int64_t>(NumElements(in[i]))},
                           TensorProto::INT32);
}
TensorShape UnknownShapeOfInputType(const std::vector<TensorShape>& in, size_t place) {
  const bool known = place < in.size() && in[place].has_data_type();
  return known ? UnknownShapeOf(in[place].data_type()) : UnknownShape();
}

std::vector<TensorShape> InferMerged(const MergeKind& kind, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = {OneForEach(in, kind.marks()), UnknownShapeOf(TensorProto::INT64)};
  if (kind.has_lengths) out.push_back(UnknownShapeOf(TensorProto::INT32));
  if (kind.has_keys) out.push_back(UnknownShapeOfInputType(in, static_cast<size_t>(kind.keys())));
  out.push_back(UnknownShapeOfInputType(in, static_cast<size_t>(kind.values())));
  return out;
}

std::vector<TensorShape> InferTakenApart(const MergeKind& kind, const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  const size_t merged = static_cast<size_t>(def.input_size()) - 1;
  std::vector<TensorShape> out(static_cast<size_t>(def.output_size()),
                               UnknownShapeOfInputType(in, merged));
  for (size_t g = 0; kind.has_all_values() && g < out.size() && g < in.size(); ++g) {
    if (!IsKnown(in[g]) || !out[g].has_data_type()) continue;
    out[g] = CreateTensorShape(GetDimsVector(in[g]), out[g].data_type());
  }
  return out;
}

void RegisterMergeOfKind(const MergeKind& kind) {
  const std::string type = MakeString("Merge", kind.name, "FeatureTensors");
  const int last = kind.outputs() - 1;
  OpSchema& schema =
      RegisterSchema(type, __FILE__)
          .NumInputs([&kind](int n) { return n > 0 && n % kind.inputs() == 0; })
          .NumOutputs(kind.outputs())
          .Input(0, kind.group,
                 kind.is_single ? "for each feature: its values, and presence, bool [E]; lengths "
                                  "are int32 [E]"
                                : "for each group: lengths, int32 [E], the number of features of "
                                  "each example, keys, int64 [K], and their values; lengths of "
                                  "values are int32 [K]")
          .Output(0, "out_lengths", "[E] int32: the number of features of each example")
          .Output(1, "out_keys", "int64: the key of each feature")
          .TensorInferenceFunction([&kind](const OperatorDef&, const std::vector<TensorShape>& in) {
            return InferMerged(kind, in);
          })
          .SetDoc(
              "Merges the features of several inputs. Those of an example are in the order of the "
              "inputs. Values and the keys of maps are bool, int32, int64, float, double or "
              "strings.");
  if (kind.has_lengths)
    schema.Output(2, "out_values_lengths", "int32: the number of values of each feature");
  if (kind.has_keys) schema.Output(3, "out_values_keys", "the key of each value");
  schema.Output(last, kind.has_lengths ? "out_values_values" : "out_values",
                "the values of all features");
  if (kind.is_single) schema.Arg(kFeatureIds);
  RegisterCpuOperator<MergeFeatureTensorsOp>(type, __FILE__);
  RegisterGradient<GetMergeFeatureTensorsGradient>(type, __FILE__);

  OpSchema& gradient =
      RegisterSchema(type + "Gradient", __FILE__)
          .NumInputsOutputs([&kind](int inputs, int outputs) {
            return outputs > 0 && inputs == outputs * kind.gradient_inputs() + 1;
          })
          .NumInputs(kind.gradient_inputs() + 1, INT_MAX)
          .NumOutputs(1, INT_MAX)
          .Input(
              0, std::string(kind.gradient_group) + ", out_values_grad",
              "those of each group of inputs of the merge, and the gradient of the merged values")
          .Output(0, "in1_values_grad, ...", "the gradients of the values of each group")
          .TensorInferenceFunction(
              [&kind](const OperatorDef& def, const std::vector<TensorShape>& in) {
                return InferTakenApart(kind, def, in);
              })
          .SetDoc(MakeString("Computes the gradient of ", type, "."));
  if (kind.is_single) gradient.Arg(kUnusedFeatureIds);
  RegisterCpuOperator<MergeFeatureTensorsGradientOp>(type + "Gradient", __FILE__);
}

}  // namespace

void RegisterMergeFeatureTensors() {
  for (const MergeKind& kind : kMergeKinds) RegisterMergeOfKind(kind);
}

}  // namespace caffe2rt
