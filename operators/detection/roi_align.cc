#include "operators/detection/roi_align.h"

#include <algorithm>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/detection/channel_blocks.h"
#include "operators/detection/roi_align_blocks.h"

namespace caffe2rt {

using math::kLanes;

namespace {

// The work on one image: blocks of channels, which the threads divide.
struct ImageTask {
  const RoiGeometry& geometry;
  const RoiScratch& scratch;
  ImageRois group;
  BlockFunction* kernel;
  // Scratch memory of a piece of the work: the gathered image, the sums, the bins.
  float* memory;
  int64_t image_floats, sum_floats, bin_floats;

  int64_t floats() const { return image_floats + sum_floats + bin_floats; }
  ChannelBlock Part(int64_t block) const {
    const int64_t channel = block * kLanes;
    return {geometry.channels, geometry.height,
            geometry.width,    geometry.last,
            channel,           std::min<int64_t>(kLanes, geometry.channels - channel),
            group.top,         group.bottom,
            group.left,        group.right};
  }
  // All bins of a RoI, as an image.
  ChannelBlock Bins(const ChannelBlock& part) const {
    return {geometry.channels,
            geometry.pooled_h,
            geometry.pooled_w,
            geometry.last,
            part.channel,
            part.count,
            0,
            geometry.pooled_h,
            0,
            geometry.pooled_w};
  }
  BlockTask OfRoi(const RoiTaps& roi, float* sums) const {
    const int64_t columns = group.right - group.left;
    return {&roi,
            scratch.bins.data(),
            scratch.weights.data(),
            geometry.pooled_h,
            geometry.pooled_w,
            columns * kLanes,
            kLanes,
            kLanes,
            sums};
  }
  // From a gathered image to pixel (0, 0) of the image.
  int64_t Origin() const { return (group.top * (group.right - group.left) + group.left) * kLanes; }
};

constexpr float kUndefined = std::numeric_limits<float>::quiet_NaN();

// Sets the bins of a RoI without pixels. They are stored as one row of floats or more.
void FillBins(const ImageTask& task, const RoiTaps& roi, const ChannelBlock& part, float* bins,
              float* y) {
  std::fill_n(bins, task.bin_floats, roi.undefined ? kUndefined : 0.0f);
  ScatterBlock(task.Bins(part), bins, y);
}

void AlignChannels(const ImageTask& task, int64_t block, const float* x, float* y, float* memory) {
  const RoiGeometry& g = task.geometry;
  const ChannelBlock part = task.Part(block);
  const bool direct = g.last && part.count == kLanes;
  float *const sums = memory + task.image_floats, *const bins = sums + task.sum_floats;
  const float* image = x + task.group.image * g.pixels() * g.channels;
  if (direct) {
    image += part.channel;
  } else if (!task.group.empty()) {
    GatherBlock(part, image, memory);
  }
  for (size_t i = task.group.first; i < task.group.last; ++i) {
    const RoiTaps& roi = task.scratch.rois[i];
    float* const out = y + roi.roi * g.channels * g.bins();
    if (roi.empty() || roi.undefined) {
      FillBins(task, roi, part, bins, out);
      continue;
    }
    BlockTask work = task.OfRoi(roi, sums);
    if (direct) {
      work.pixel_distance = work.bin_distance = g.channels;
      work.row_distance = g.width * g.channels;
      task.kernel(work, image, out + part.channel);
    } else {
      task.kernel(work, memory - task.Origin(), bins);
      ScatterBlock(task.Bins(part), bins, out);
    }
  }
}

void AddChannels(const ImageTask& task, int64_t block, const float* dy, float* dx, float* memory) {
  const RoiGeometry& g = task.geometry;
  const ChannelBlock part = task.Part(block);
  float *const sums = memory + task.image_floats, *const bins = sums + task.sum_floats;
  float* const image = dx + task.group.image * g.pixels() * g.channels;
  GatherBlock(part, image, memory);  // the sums of earlier RoIs of the image
  for (size_t i = task.group.first; i < task.group.last; ++i) {
    const RoiTaps& roi = task.scratch.rois[i];
    if (roi.empty() || roi.undefined) continue;
    GatherBlock(task.Bins(part), dy + roi.roi * g.channels * g.bins(), bins);
    task.kernel(task.OfRoi(roi, sums), bins, memory - task.Origin());
  }
  ScatterBlock(part, memory, image);
}

// Calls work(task, block, memory of the piece) for every block of channels of the image.
template <class Work>
void ForEachBlock(const RoiGeometry& geometry, const ImageRois& group, BlockFunction* kernel,
                  RoiScratch* scratch, Work work) {
  ImageTask task{geometry, *scratch, group, kernel, nullptr, 0, 0, 0};
  task.image_floats = CheckedMultiply<int64_t>(group.pixels(), kLanes);
  task.sum_floats = (group.right - group.left) * kLanes;
  task.bin_floats = CheckedMultiply<int64_t>(geometry.bins(), kLanes);
  const int64_t blocks = (geometry.channels + kLanes - 1) / kLanes;
  const int pieces = static_cast<int>(std::min<int64_t>(GetNumThreads(), blocks));
  task.memory = scratch->floats.Floats(CheckedMultiply<int64_t>(task.floats(), pieces));
  ParallelFor(pieces, [&](int piece) {
    for (int64_t b = blocks * piece / pieces; b < blocks * (piece + 1) / pieces; ++b) {
      work(task, b, task.memory + piece * task.floats());
    }
  });
}

// Calls work(RoIs of an image) for all RoIs. An image may come again, with later RoIs.
template <class Work>
void ForEachImage(const RoiGeometry& geometry, const float* rois, RoiScratch* scratch,
                  const Work& work) {
  for (int64_t next = 0; next < geometry.rois;) {
    next = FillRoiTaps(geometry, rois, next, scratch);
    for (size_t first = 0; first < scratch->rois.size();) {
      const ImageRois group = NextImage(*scratch, first);
      work(group);
      first = group.last;
    }
  }
}

// THROWS if a RoI has a negative size where none may, also without elements to compute.
void CheckRoiSigns(const RoiGeometry& g, const float* rois) {
  if (!g.aligned) return;
  for (int64_t r = 0; r < g.rois; ++r) {
    const float* const box = rois + (r + 1) * g.columns - 4;
    bool is_negative = false;
    for (int axis = 0; axis < 2; ++axis) {  // rounded as in PlaceRoi
      const float start = box[axis] * g.scale - 0.5f, end = box[2 + axis] * g.scale - 0.5f;
      is_negative = is_negative || end - start < 0;
    }
    if (is_negative) ThrowRoiFault(RoiFault::kNegativeSize, r, g.batch);
  }
}

class GetRoIAlignGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("RoIAlignGradient", "", std::vector<std::string>{I(0), I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void AlignRois(CPUContext&, const RoiGeometry& geometry, const float* x, const float* rois,
               float* y, RoiScratch* scratch) {
  ForEachImage(geometry, rois, scratch, [&](const ImageRois& group) {
    ForEachBlock(geometry, group, AlignBlockFunction(), scratch,
                 [x, y](const ImageTask& task, int64_t block, float* memory) {
                   AlignChannels(task, block, x, y, memory);
                 });
  });
}

void AlignRoisGradient(CPUContext&, const RoiGeometry& geometry, const float* rois, const float* dy,
                       float* dx, RoiScratch* scratch) {
  CheckRoiSigns(geometry, rois);
  if (geometry.in_elements() == 0) return;
  std::fill_n(dx, geometry.in_elements(), 0.0f);
  if (geometry.out_elements() == 0) return;
  ForEachImage(geometry, rois, scratch, [&](const ImageRois& group) {
    if (group.empty()) return;
    ForEachBlock(geometry, group, AddBlockFunction(), scratch,
                 [dy, dx](const ImageTask& task, int64_t block, float* memory) {
                   AddChannels(task, block, dy, dx, memory);
                 });
  });
}

void RegisterRoiAlign() {
  RegisterSchema("RoIAlign", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kRoiAlignOrder, kRoiSpatialScale, kRoiPooledH, kRoiPooledW, kRoiSamplingRatio,
            kRoiAligned)
      .Input(0, "X", "[N, C, H, W], or [N, H, W, C] in order NHWC")
      .Input(1, "RoIs", "[R, 5]: image, x1, y1, x2, y2; or [R, 4], without the image, of image 0")
      .Output(0, "Y", "[R, C, pooled_h, pooled_w], or [R, pooled_h, pooled_w, C]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return InferRoiOutput(def, in, ReadRoiAlign);
      })
      .SetDoc(
          "Divides regions of interest into bins and averages samples of X in each bin. The "
          "samples are interpolated bilinearly.");
  RegisterCpuOperator<RoIAlignOp<CPUContext>>("RoIAlign", __FILE__);

  RegisterSchema("RoIAlignGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kRoiAlignOrder, kRoiSpatialScale, kRoiPooledH, kRoiPooledW, kRoiSamplingRatio,
            kRoiAligned)
      .Input(0, "X", "the input of RoIAlign; only its shape is used")
      .Input(1, "RoIs", "the RoIs of RoIAlign")
      .Input(2, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("The gradient of RoIAlign.");
  RegisterCpuOperator<RoIAlignGradientOp<CPUContext>>("RoIAlignGradient", __FILE__);
  RegisterGradient<GetRoIAlignGradient>("RoIAlign", __FILE__);
}

}  // namespace caffe2rt
