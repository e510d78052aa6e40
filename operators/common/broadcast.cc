#include "operators/common/broadcast.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

static_assert(BroadcastLoops::kMaxLoops == Tensor::kMaxRank);

BroadcastArguments::BroadcastArguments(const ArgumentHelper& args, bool always_legacy)
    : legacy(always_legacy || args.Read(kBroadcast)), axis(args.Read(kBroadcastAxis)) {
  const std::string axis_str = args.Read(kBroadcastAxisStr);
  const std::string order = args.Read(kBroadcastOrder);
  if (!legacy || axis_str.empty()) return;
  CAFFE_ENFORCE_EQ(axis, -1, "argument axis together with axis_str \"", axis_str,
                   "\", want only one of them");
  CAFFE_ENFORCE_EQ(axis_str.size(), 1u, "length of argument axis_str \"", axis_str,
                   "\", want one letter of argument order");
  const size_t found = order.find(axis_str);
  CAFFE_ENFORCE(found != std::string::npos, "argument axis_str \"", axis_str,
                "\" is not a letter of argument order \"", order, "\"");
  axis = CheckedCast<int>(found, "position of axis_str in order");
}

void DeclareBroadcastArguments(OpSchema& schema) {
  schema.Args(kBroadcast, kBroadcastAxis, kBroadcastAxisStr, kBroadcastOrder);
}

namespace {

// Calls function(i, size) for each dimension i of `a` that a dimension of `b` matches by the older
// rules.
template <class Function>
void ForEachMatchLegacy(IntArrayRef a, IntArrayRef b, int axis, const Function& function) {
  if (std::all_of(b.begin(), b.end(), [](int64_t dim) { return dim == 1; })) return;
  CAFFE_ENFORCE_GE(a.size(), b.size(), "rank of input 0 (A) ", a,
                   ", want at least the rank of input 1 (B) ", b,
                   " when the argument broadcast is set");
  const int64_t room = static_cast<int64_t>(a.size() - b.size());
  const int64_t start = axis == -1 ? room : axis;
  CAFFE_ENFORCE(start >= 0 && start <= room, "argument axis is ", axis, ", want 0 to ", room,
                ": input 1 (B) ", b, " must lie within input 0 (A) ", a);
  size_t first = 0, end = b.size();
  while (b[first] == 1) ++first;
  while (b[end - 1] == 1) --end;
  for (size_t i = first; i < end; ++i) {
    const size_t at = static_cast<size_t>(start) + i;
    CAFFE_ENFORCE_EQ(a[at], b[i], "input 1 (B) has shape ", b,
                     ", which does not fit into input 0 (A) ", a, " at axis ", start, ": dim ", at,
                     " of A must equal dim ", i, " of B");
    function(at, b[i]);
  }
}

}  // namespace

void BroadcastPlan::Align(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments) {
  if (arguments.legacy) {
    a_dims_.assign(a.begin(), a.end());
    output_dims_.assign(a.begin(), a.end());
    b_dims_.assign(a.size(), 1);
    ForEachMatchLegacy(a, b, arguments.axis,
                       [this](size_t at, int64_t size) { b_dims_[at] = size; });
    return;
  }
  const size_t rank = std::max(a.size(), b.size());
  a_dims_.assign(rank, 1);
  b_dims_.assign(rank, 1);
  output_dims_.resize(rank);
  std::copy(a.begin(), a.end(), a_dims_.end() - static_cast<int64_t>(a.size()));
  std::copy(b.begin(), b.end(), b_dims_.end() - static_cast<int64_t>(b.size()));
  for (size_t i = 0; i < rank; ++i) {
    CAFFE_ENFORCE(a_dims_[i] == b_dims_[i] || a_dims_[i] == 1 || b_dims_[i] == 1,
                  "input 1 (B) has shape ", b, ", which does not fit input 0 (A) ", a,
                  ": counted from the end, dimensions must be equal or 1");
    output_dims_[i] = a_dims_[i] == 1 ? b_dims_[i] : a_dims_[i];
  }
}

void BroadcastPlan::Collapse() {
  // Builds the loops from the innermost dimension outwards. Strides are in elements. Neighbouring
  // dimensions share a loop if A advances along both or neither of them, and B does too.
  int count = 0;
  int64_t a_step = 1, b_step = 1;
  bool last_a = false, last_b = false;
  std::array<BroadcastLoop, BroadcastLoops::kMaxLoops> loops;
  for (size_t i = output_dims_.size(); i-- > 0;) {
    const int64_t size = output_dims_[i];
    if (size == 1) continue;
    const bool moves_a = a_dims_[i] != 1, moves_b = b_dims_[i] != 1;
    if (count > 0 && moves_a == last_a && moves_b == last_b) {
      loops[static_cast<size_t>(count - 1)].size *= size;
    } else {
      loops[static_cast<size_t>(count++)] = {size, moves_a ? a_step : 0, moves_b ? b_step : 0};
      last_a = moves_a;
      last_b = moves_b;
    }
    if (moves_a) a_step *= size;
    if (moves_b) b_step *= size;
  }
  loops_.inner = count > 0 ? loops[0] : BroadcastLoop{1, 1, 1};
  loops_.middle = count > 1 ? loops[1] : BroadcastLoop{1, 0, 0};
  loops_.outer_count = std::max(0, count - 2);
  for (int i = 0; i < loops_.outer_count; ++i) {
    loops_.outer[static_cast<size_t>(loops_.outer_count - 1 - i)] =
        loops[static_cast<size_t>(i + 2)];
  }
}

void BroadcastPlan::Make(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments) {
  Align(a, b, arguments);
  CAFFE_ENFORCE_LE(output_dims_.size(), static_cast<size_t>(Tensor::kMaxRank),
                   "rank of the result");
  loops_.output_size = CheckedProduct(output_dims_);
  if (loops_.output_size > 0) Collapse();
}

void MarkBroadcastDims(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments,
                       std::vector<char>* marks) {
  marks->assign(a.size(), 1);
  ForEachMatchLegacy(a, b, arguments.axis, [marks](size_t at, int64_t) { (*marks)[at] = 0; });
}

std::vector<int64_t> BroadcastShape(IntArrayRef a, IntArrayRef b,
                                    const BroadcastArguments& arguments) {
  BroadcastPlan plan;
  plan.Make(a, b, arguments);
  return plan.output_dims();
}

}  // namespace caffe2rt
