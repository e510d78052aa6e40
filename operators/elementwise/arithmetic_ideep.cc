// Add, Sub and Mul on IDEEP. Tensors of the same shape are combined in the layout of one of them.
// If B has one value for all elements, for each channel, or for each channel of each image, Y has
// the layout of A. Other shapes are broadcast in row-major order.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/broadcast.h"
#include "operators/common/channel_functions.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.h"
#include "operators/elementwise/same_layout_ideep.h"

namespace caffe2rt {

namespace {

// The shape of B relative to A.
struct ArithmeticInput {
  bool per_channel = false;  // one value for each channel, or one for all
  int64_t rows = 1;          // images that have their own values
  bool one = false;          // one value for all elements
};

// Dims of B as those of A: [N or 1, C or 1, 1, 1].
ArithmeticInput DescribeOperand(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                                const BroadcastArguments& arguments) {
  ArithmeticInput input;
  if (a.size() != 4 || b.size() > 4) return input;
  const size_t missing = 4 - b.size();
  const size_t start = arguments.legacy && arguments.axis >= 0
                           ? std::min(static_cast<size_t>(arguments.axis), missing)
                           : missing;
  std::vector<int64_t> dims(4, 1);
  std::copy(b.begin(), b.end(), dims.begin() + static_cast<int64_t>(start));
  input.one = CheckedProduct(b) == 1;
  const bool images = dims[0] == 1 || dims[0] == a[0];
  input.per_channel = input.one || (images && dims[1] == a[1] && dims[2] == 1 && dims[3] == 1);
  input.rows = input.one ? 1 : dims[0];
  return input;
}

template <class Function, class ChannelFunction>
class BinaryOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  BinaryOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), arguments_(args()) {}

  void PlanAhead(const AheadInputs&) override {
    const Tensor& A = Input(0);
    const Tensor& B = OperandB();
    if (HaveSameShape(A, B)) {
      PlanSameShape(A, B, Output(0));
      PrepareOutput(Output(0), A.dims(), inputs_.layout());
      return;
    }
    plan_.Make(A.sizes(), B.sizes(), arguments_);
    PlanChannels(A, B);
    const bool in_layout = operand_.per_channel && Output(0) != &B;
    PrepareOutput(Output(0), plan_.output_dims(), in_layout ? layout_ : nullptr);
  }

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    const Tensor& B = OperandB();
    CAFFE_ENFORCE(B.IsType<float>(), "input 1 (B) has elements of type ", B.dtype().name(),
                  ", want float");
    (void)OnednnData(A), (void)OnednnData(B);  // THROWS before the output is modified
    Tensor* Y = Output(0);
    CAFFE_ENFORCE(
        !arguments_.legacy || Y != &B,
        "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be "
        "overwritten in place");
    if (HaveSameShape(A, B)) {
      RunSameShape(A, B, Y);
      return true;
    }
    plan_.Make(A.sizes(), B.sizes(), arguments_);
    CAFFE_ENFORCE((Y != &A && Y != &B) || Y->dims() == plan_.output_dims(),
                  "output 0 (Y) is an input of shape ", Y->sizes(), ", but the result has shape ",
                  IntArrayRef(plan_.output_dims()), ": use another blob");
    if (!input_.Matches(A) || B.dims() != b_dims_) PlanChannels(A, B);
    if (operand_.per_channel && Y != &B) {
      RunChannels(A, Y);
    } else {
      RunBroadcast(Y);
    }
    return true;
  }

 private:
  const Tensor& OperandB() { return InputIsTensorType(1, CPU) ? Input(1, CPU) : Input(1); }
  bool HaveSameShape(const Tensor& A, const Tensor& B) const {
    return A.dims() == B.dims() && arguments_.FitsEqualShapes() && B.GetDeviceType() == IDEEP;
  }

  void PlanSameShape(const Tensor& A, const Tensor& B, const Tensor* Y) {
    const auto input = [&](int i) -> const Tensor& { return i == 0 ? A : B; };
    if (!inputs_.Match(input)) inputs_.Plan(input, Y == &A ? 0 : Y == &B ? 1 : -1);
  }

  void RunSameShape(const Tensor& A, const Tensor& B, Tensor* Y) {
    PlanSameShape(A, B, Y);
    const float* const a = inputs_.Read(0, A);
    const float* const b = inputs_.Read(1, B);
    const InplaceInput kept(A, Y), kept_b(B, Y);
    float* const y = PrepareOutput(Y, A.dims(), inputs_.layout());
    ForEachRange(inputs_.floats(), 1, 2, [&](int64_t first, int64_t last) {
      RunSimd(internal::ZipKernel<Function>{}, last - first, a + first, b + first, y + first);
    });
  }

  void PlanChannels(const Tensor& A, const Tensor& B) {
    input_.Forget();
    operand_ = DescribeOperand(A.dims(), B.dims(), arguments_);
    b_dims_ = B.dims();
    layout_ = SharedLayout(A);
    const std::optional<ChannelPlanes> planes = PlanesOf(A);
    if (A.dim() == 4 && plan_.output_dims() == A.dims()) {
      // A row-major image is a plane for each channel.
      row_major_ = !planes.has_value() && layout_ == nullptr;
      operand_.per_channel = operand_.per_channel && (planes.has_value() || row_major_);
      planes_ = planes.value_or(ChannelPlanes{});
    } else {
      operand_.per_channel = false;
    }
    input_.Remember(A);
  }

  void RunChannels(const Tensor& A, Tensor* Y) {
    const Tensor& B = b_input_.Read(*this, 1);
    const float* b = B.data<float>();
    const float* const a = OnednnData(A);
    const int64_t channels = A.dims()[1];
    if (operand_.one) {
      values_.assign(static_cast<size_t>(channels), *b);
      b = values_.data();
    }
    const InplaceInput kept(A, Y);
    float* const y = PrepareOutput(Y, A.dims(), layout_);
    if (A.numel() == 0) return;
    if (row_major_) {
      RunRowMajor(A, a, b, y);
      return;
    }
    PadChannels(planes_, b, operand_.rows, &padded_);
    const int64_t per_image = operand_.rows == 1 ? 0 : planes_.padded_channels();
    MapChannels(planes_, ChannelFunction{}, padded_.data(), padded_.data(), per_image, a, y);
  }

  void RunRowMajor(const Tensor& A, const float* a, const float* b, float* y) const {
    const int64_t channels = A.dims()[1], pixels = A.dims()[2] * A.dims()[3];
    ForEachRange(A.dims()[0] * channels, pixels, 1, [&](int64_t first, int64_t last) {
      const BroadcastLoop inner{pixels, 1, 0}, middle{1, 0, 0};
      for (int64_t i = first; i < last; ++i) {
        const int64_t at = operand_.rows == 1 ? i % channels : i;
        RunSimd(internal::BroadcastKernel<Function>{}, inner, middle, a + i * pixels, b + at,
                y + i * pixels);
      }
    });
  }

  void RunBroadcast(Tensor* Y) {
    const Tensor& A = a_input_.Read(*this, 0);
    const Tensor& B = b_input_.Read(*this, 1);
    const float* const a = A.data<float>();
    const float* const b = B.data<float>();
    plain_.Resize(plan_.output_dims());
    float* const y = plain_.mutable_data<float>();
    if (plan_.output_size() > 0) {
      const internal::BroadcastKernel<Function> kernel{};
      const BroadcastLoops& loops = plan_.loops();
      loops.ForEachBlock([&](int64_t a_offset, int64_t b_offset, int64_t y_offset) {
        RunSimd(kernel, loops.inner, loops.middle, a + a_offset, b + b_offset, y + y_offset);
      });
    }
    // Y may be an input.
    std::copy_n(y, plain_.numel(), PrepareOutput(Y, plan_.output_dims(), nullptr));
  }

  const BroadcastArguments arguments_;
  SameLayoutInputs inputs_{2};
  BroadcastPlan plan_;
  // For operands that are not of the same shape.
  OnednnInput input_;
  std::vector<int64_t> b_dims_;
  ArithmeticInput operand_;
  bool row_major_ = false;
  ChannelPlanes planes_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> values_, padded_;
  HostInput a_input_, b_input_;
  Tensor plain_{CPU};
};

}  // namespace

void RegisterArithmeticIdeep() {
  RegisterOperator<BinaryOnednnOp<AddFunction, AddChannel>>(IDEEP, "Add", __FILE__);
  RegisterOperator<BinaryOnednnOp<SubFunction, SubtractChannel>>(IDEEP, "Sub", __FILE__);
  RegisterOperator<BinaryOnednnOp<MulFunction, MultiplyChannel>>(IDEEP, "Mul", __FILE__);
}

}  // namespace caffe2rt
