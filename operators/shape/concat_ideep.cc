// Concat on IDEEP. Images are joined along their channels in the layout that most of their elements
// have; the others are converted. An input whose memory is already its place in the output is not
// copied. Everything else is joined in row-major order. With blocked_inputs, whole blocks of 16 channels are
// joined in nChw16c. With output_precision int8, images in bytes that
// mean the same are joined in bytes, and with bf16 images of bf16 as such.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/shape/channel_copies.h"
#include "operators/shape/concat.h"
#include "operators/shape/parts_in_place.h"

namespace caffe2rt {

namespace {

class ConcatOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  ConcatOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        join_(ReadJoinAxis(args())),
        kept_(ElementOf(ReadArgument(kOutputPrecision))),
        joins_blocks_(ReadArgument(kBlockedInputs) >= 0),
        inputs_(static_cast<size_t>(InputSize())),
        plain_inputs_(static_cast<size_t>(InputSize())) {}

  void PlanAhead(const AheadInputs&) override {
    Plan();
    WriteShares();
    if (planes_.channels > 0 || reduced_) {
      PrepareOutputMemory(Output(0), shape_.dims(), layout_);
    } else {
      Output(0)->Resize(shape_.dims());
      OutputMemory(Output(0), Input(0).dtype());
    }
  }

  bool RunOnDevice() override {
    if (!Matches()) Plan();
    WriteShares();
    if (reduced_) {
      JoinReduced();
    } else if (planes_.channels > 0) {
      JoinPlanes();
    } else {
      JoinRowMajor();
    }
    return true;
  }

 private:
  bool Matches() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].place.Matches(Input(static_cast<int>(i)))) return false;
    }
    return true;
  }

  void Plan() {
    for (Place& input : inputs_) input.place.Forget();
    const TypeMeta type = Input(0).dtype();
    shape_.First(Input(0).sizes(), join_);
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).dtype() == type, "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want ", type.name(), " as input 0");
      shape_.Next(Input(i).sizes(), i);
    }
    planes_ = {};
    reduced_ = CommonPlanes();
    const std::optional<OnednnFormat> format = CommonFormat();
    if (reduced_) {
      const auto named = reduced_->blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc;
      layout_ = OnednnLayout::New(DescIn(named, shape_.dims(), kept_), QuantizationOf(Input(0)));
    } else if (format.has_value()) {
      planes_ = PlanesIn(*format, shape_.dims());
      layout_ = LayoutOf(planes_);
      ChannelPlanes part = planes_;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const Tensor& X = Input(static_cast<int>(i));
        part.channels = X.dim(1);
        inputs_[i].planes.PlanIn(part, X);
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].place.Remember(Input(static_cast<int>(i)));
    }
  }

  static dnnl::memory::data_type ElementOf(const std::string& precision) {
    using enum dnnl::memory::data_type;
    return precision == "int8" ? u8 : precision == "bf16" ? bf16 : f32;
  }
  static const OnednnQuantization& QuantizationOf(const Tensor& X) {
    return static_cast<const OnednnLayout&>(*X.opaque_layout()).quantization();
  }

  // The planes of Y if all inputs are images of the element type that is kept, in the same layout and with
  // the same scale, joined along their channels. In blocks, their channels are multiples of 16.
  std::optional<ChannelPlanes> CommonPlanes() const {
    if (!JoinsChannels()) return std::nullopt;
    bool blocked = false;
    for (int i = 0; i < InputSize(); ++i) {
      const std::optional<ChannelPlanes> planes = ReducedPlanesOf(Input(i), kept_);
      if (!planes || QuantizationOf(Input(i)) != QuantizationOf(Input(0))) return std::nullopt;
      blocked = blocked || planes->blocked;
    }
    // 16 channels lie in nChw16c as in nhwc.
    for (int i = 0; i < InputSize(); ++i) {
      const int64_t channels = Input(i).dim(1);
      const bool both = channels == kChannelBlock;
      if (blocked && channels % kChannelBlock != 0) return std::nullopt;
      if (blocked && !both && !ReducedPlanesOf(Input(i), kept_)->blocked) return std::nullopt;
    }
    return PlanesIn(blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc, shape_.dims());
  }

  // Whether images are joined along their channels, if the inputs are images.
  bool JoinsChannels() const { return (join_.axis == 1 || join_.axis == -3) && !join_.add_axis; }

  void JoinReduced() {
    Tensor* const Y = Output(0);
    void* y = PrepareOutputMemory(Y, shape_.dims(), layout_);
    const size_t element = dnnl::memory::data_type_size(kept_);
    const auto bytes = static_cast<size_t>(Y->numel()) * element;
    const int64_t image = Y->dim(2) * Y->dim(3);  // pixels
    const int64_t rows = Y->dim(0) * (reduced_->blocked ? 1 : image);
    pieces_.clear();
    bool misplaced = false;
    size_t offset = 0;
    for (int i = 0; i < InputSize(); ++i) {
      const Tensor& X = Input(i);
      if (X.numel() == 0) continue;
      const size_t nbytes = static_cast<size_t>(X.numel()) * element;
      const void* const place = rows == 1 ? static_cast<char*>(y) + offset : nullptr;
      pieces_.push_back({OnednnMemory(X), X.numel() / rows});
      misplaced = misplaced || IsMisplaced(pieces_.back().data, nbytes, place, y, bytes);
      offset += nbytes;
    }
    if (misplaced) {
      Y->FreeMemory();  // planned for floats
      y = PrepareOutputMemory(Y, shape_.dims(), layout_);
    }
    if (pieces_.empty()) return;
    const TypeMeta type = element == 1 ? TypeMeta::Make<uint8_t>() : TypeMeta::Make<uint16_t>();
    JoinRows(cpu_, type, rows, pieces_, y);
  }

  // The layout with planes that has most elements. Empty if images are not joined along their
  // channels, or all are row-major.
  std::optional<OnednnFormat> CommonFormat() const {
    if (!JoinsChannels() || !Input(0).IsType<float>()) return std::nullopt;
    int64_t last = 0, blocked = 0;
    for (int i = 0; i < InputSize(); ++i) {
      if (Input(i).dim() != 4) return std::nullopt;
      const OnednnFormat format = WrittenFormat(Input(i));
      if (format == OnednnFormat::kNhwc) last += Input(i).numel();
      if (format == OnednnFormat::kBlocked16) blocked += Input(i).numel();
    }
    if (joins_blocks_ && HasWholeBlocks()) return OnednnFormat::kBlocked16;
    if (last + blocked == 0 && !IsQuantized(Input(0))) return std::nullopt;
    return blocked > last ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc;
  }

  // Whether each image but the last begins a block of 16 channels.
  bool HasWholeBlocks() const {
    for (int i = 0; i + 1 < InputSize(); ++i) {
      if (Input(i).dim(1) % kChannelBlock != 0) return false;
    }
    return true;
  }

  // The format of X as its producer described it. 16 channels lie in nChw16c as in nhwc, and
  // FormatOf returns nhwc for both. The format decides where they lie beside other channels.
  static OnednnFormat WrittenFormat(const Tensor& X) {
    const OnednnFormat format = FormatOf(X);
    const bool both = format == OnednnFormat::kNhwc && X.dim(1) == kChannelBlock;
    return both && !BlockingOf(DescOf(X))->inner_blocks.empty() ? OnednnFormat::kBlocked16 : format;
  }

  void JoinPlanes() {
    float* y = PrepareOutput(Output(0), shape_.dims(), layout_);
    if (HasMisplacedPlanes(y)) {
      Output(0)->FreeMemory();  // planned for another layout
      y = PrepareOutput(Output(0), shape_.dims(), layout_);
    }
    int64_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      PlanesInput& input = inputs_[i].planes;
      const Tensor& X = Input(static_cast<int>(i));
      const int64_t offset = OffsetOfDensePart(planes_, {first, input.planes().channels});
      const bool outside = offset >= 0 && OnednnMemory(X) != y + offset;
      if (input.converts() && outside && X.numel() > 0) {
        input.ConvertTo(X, y + offset);
      } else {
        CopyToWhole(planes_, first, input.planes(), input.Read(X), y);
      }
      first += input.planes().channels;
    }
  }

  // Whether an input lies in the memory of Y, but not at its place.
  bool HasMisplacedPlanes(const float* y) {
    int64_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& X = Input(static_cast<int>(i));
      const int64_t channels = X.dim(1), offset = OffsetOfDensePart(planes_, {first, channels});
      const float* const place = offset >= 0 ? y + offset : nullptr;
      if (IsMisplaced(OnednnMemory(X), MemoryBytes(X), place, y, BytesOf(planes_.size()))) {
        return true;
      }
      first += channels;
    }
    return false;
  }
  static size_t MemoryBytes(const Tensor& X) {
    return X.opaque_layout() == nullptr ? X.nbytes() : X.opaque_layout()->nbytes();
  }
  static size_t BytesOf(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

  void JoinRowMajor() {
    const TypeMeta type = Input(0).dtype();
    Tensor* Y = Output(0);
    Y->Resize(shape_.dims());
    void* y = OutputMemory(Y, type);
    const int64_t inner = shape_.inner();
    pieces_.clear();
    bool misplaced = false;
    size_t offset = 0;
    for (int i = 0; i < InputSize(); ++i) {
      const int64_t items = shape_.Share(Input(i).sizes()) * inner;
      if (items == 0) continue;
      pieces_.push_back({RowMajor(i), items});
      const void* const place = shape_.outer() == 1 ? static_cast<char*>(y) + offset : nullptr;
      const size_t bytes = Input(i).nbytes();
      misplaced = misplaced || IsMisplaced(pieces_.back().data, bytes, place, y, Y->nbytes());
      offset += bytes;
    }
    if (misplaced) {
      Y->FreeMemory();  // planned for other shapes
      y = OutputMemory(Y, type);
    }
    if (Y->numel() > 0) JoinRows(cpu_, type, shape_.outer(), pieces_, y);
  }

  const void* RowMajor(int i) {
    if (Input(i).opaque_layout() == nullptr) return Input(i).raw_data();
    return plain_inputs_[static_cast<size_t>(i)].Read(*this, i).raw_data();
  }

  // Writes split_info, on the CPU.
  void WriteShares() {
    int32_t* shares =
        OutputTensor(1, CPU, {InputSize()}, TypeMeta::Make<int32_t>())->mutable_data<int32_t>();
    for (int i = 0; i < InputSize(); ++i) {
      shares[i] = CheckedCast<int32_t>(shape_.Share(Input(i).sizes()), "size along the axis");
    }
  }

  struct Place {
    OnednnInput place;
    PlanesInput planes;
  };

  const JoinAxis join_;
  const dnnl::memory::data_type kept_;    // f32: nothing is kept
  const bool joins_blocks_;               // if Y is not kept in reduced elements
  std::optional<ChannelPlanes> reduced_;  // of Y if the inputs are kept
  ConcatShape shape_;
  std::vector<Place> inputs_;
  ChannelPlanes planes_;  // of Y; without channels if Y is row-major
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<HostInput> plain_inputs_;
  std::vector<SourcePiece> pieces_;
  CPUContext cpu_;
};

}  // namespace

void RegisterConcatIdeep() {
  RegisterOperator<ConcatOnednnOp>(IDEEP, "Concat", __FILE__);
  RegisterOperator<ConcatOnednnOp>(IDEEP, "DepthConcat", __FILE__);
}

}  // namespace caffe2rt
