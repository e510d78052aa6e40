#include "caffe2_core/graph/passes/onednn_placement.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

namespace {

// Each returns the reason why the arguments do not fit, or "".
std::string WantNchw(const DeclaredArguments& args) {
  const std::string order = args.Get<std::string>("order");
  return order == "NCHW" ? "" : "order is " + order;
}

std::string WantImageWindow(const DeclaredArguments& args) {
  const size_t axes = args.GetRepeatedArgument<int>("kernels").size();
  if (axes != 0 && axes != 2) return MakeString("windows of ", axes, " axes");
  return WantNchw(args);
}

std::string WantTestMode(const DeclaredArguments& args) {
  if (args.Get<int>("is_test") == 0) return "is_test is 0";
  return WantNchw(args);
}

std::string WantChannelAxis(const DeclaredArguments& args) {
  if (args.Get<int>("add_axis") != 0) return "add_axis is 1";
  const int axis = args.Get<int>("axis");
  return axis == 1 || axis == -3 ? WantNchw(args) : MakeString("axis is ", axis);
}

std::string ProblemWith(OnednnArguments want, const DeclaredArguments& args) {
  switch (want) {
    case OnednnArguments::kAny:
      return "";
    case OnednnArguments::kNchw:
      return WantNchw(args);
    case OnednnArguments::kImageWindow:
      return WantImageWindow(args);
    case OnednnArguments::kTestMode:
      return WantTestMode(args);
    case OnednnArguments::kChannelAxis:
      return WantChannelAxis(args);
  }
  return "";
}

OnednnTraits OnednnTraitsOf(const std::string& type) {
  const OperatorTraits& traits = TraitsOf(type);
  return traits.fused_activation ? OnednnTraits{.role = OnednnRole::kAnyLayout} : traits.onednn;
}

// Reads a pair of values from the list `list`, the scalar `one`, or `one`_h and `one`_w.
void ReadPair(const DeclaredArguments& args, const std::string& list, const std::string& one,
              int64_t* pair) {
  const std::vector<int> values = args.GetRepeatedArgument<int>(list);
  if (values.size() == 2) {
    pair[0] = values[0];
    pair[1] = values[1];
  } else if (args.HasArgument(one)) {
    pair[0] = pair[1] = args.GetSingleArgument<int>(one, 1);
  } else if (args.HasArgument(one + "_h") && args.HasArgument(one + "_w")) {
    pair[0] = args.GetSingleArgument<int>(one + "_h", 1);
    pair[1] = args.GetSingleArgument<int>(one + "_w", 1);
  }
}

}  // namespace

OnednnPlacement PlaceOnOnednn(const OperatorDef& op, const PassContext& context) {
  const OnednnTraits traits = OnednnTraitsOf(op.type());
  if (traits.role == OnednnRole::kNone) {
    return {OnednnRole::kNone, op.type() + " is not an operator on images"};
  }
  if (!context.has_operator || !context.has_operator(op.type(), IDEEP)) {
    return {OnednnRole::kNone, op.type() + " has no IDEEP implementation"};
  }
  try {
    (void)OnednnWindowOf(op);  // throws if an argument has the wrong type
    std::string reason = ProblemWith(traits.arguments, DeclaredArguments(op));
    const bool fits = reason.empty();
    return {fits ? traits.role : OnednnRole::kNone, std::move(reason)};
  } catch (const EnforceNotMet& error) {
    return {OnednnRole::kNone, error.message()};
  }
}

OnednnWindow OnednnWindowOf(const OperatorDef& op) {
  const DeclaredArguments args(op);
  OnednnWindow window;
  ReadPair(args, "kernels", "kernel", window.kernel);
  ReadPair(args, "strides", "stride", window.stride);
  ReadPair(args, "dilations", "dilation", window.dilation);
  window.group = args.GetSingleArgument<int>("group", window.group);
  return window;
}

}  // namespace caffe2rt
