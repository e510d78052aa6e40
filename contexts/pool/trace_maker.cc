#include "contexts/pool/trace_maker.h"

#include <algorithm>
#include <random>

#include "contexts/pool/net_shapes.h"

namespace caffe2rt {
namespace {

using Kind = TraceEntry::Kind;
using internal::Layer;

// Writes entries and assigns ids. The id that was freed last is reused first.
class TraceWriter {
 public:
  uint32_t Allocate(size_t bytes, StreamIndex stream) {
    uint32_t id = next_id_;
    if (unused_.empty()) {
      ++next_id_;
    } else {
      id = unused_.back();
      unused_.pop_back();
    }
    trace.entries.push_back({Kind::kAllocate, stream, id, bytes});
    return id;
  }
  void Free(uint32_t id, StreamIndex stream) {
    trace.entries.push_back({Kind::kFree, stream, id, 0});
    unused_.push_back(id);
  }
  void Use(uint32_t id, StreamIndex stream) {
    trace.entries.push_back({Kind::kUse, stream, id, 0});
  }
  void Wait(StreamIndex stream) { trace.entries.push_back({Kind::kWait, stream, 0, 0}); }

  Trace trace;

 private:
  uint32_t next_id_ = 0;
  std::vector<uint32_t> unused_;
};

// A net in training. All of its work is on one stream; another stream may exchange gradients.
class Training {
 public:
  Training(TraceWriter* writer, StreamIndex stream, StreamIndex exchange = kNoStream)
      : writer_(*writer), stream_(stream), exchange_(exchange) {}

  void Step(const std::vector<Layer>& layers, StreamIndex input_stream) {
    if (weights_.empty()) {
      for (const Layer& layer : layers) {
        if (layer.weight_bytes != 0) weights_.push_back(New(layer.weight_bytes));
      }
    }
    Forward(layers, input_stream);
    Backward(layers);
    Update(layers);
    writer_.Wait(stream_);
  }

 private:
  uint32_t New(size_t bytes) { return writer_.Allocate(bytes, stream_); }
  void Free(uint32_t id) { writer_.Free(id, stream_); }
  void Scratch(size_t bytes) {
    if (bytes != 0) Free(New(bytes));
  }

  void Forward(const std::vector<Layer>& layers, StreamIndex input_stream) {
    outputs_.assign(layers.size(), 0);
    saved_.assign(layers.size(), 0);
    for (size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = layers[i];
      if (i == 0) {
        outputs_[i] = writer_.Allocate(layer.output_bytes, input_stream);
        if (input_stream != stream_) writer_.Use(outputs_[i], stream_);
        continue;
      }
      if (layer.output_bytes != 0) outputs_[i] = New(layer.output_bytes);
      if (layer.saved_bytes != 0) saved_[i] = New(layer.saved_bytes);
      Scratch(layer.workspace_bytes);
    }
  }

  void Backward(const std::vector<Layer>& layers) {
    std::vector<bool> has_gradient(layers.size());
    gradients_.assign(layers.size(), 0);
    gradients_.back() = New(layers.back().output_bytes);
    has_gradient.back() = true;
    weight_gradients_.clear();
    for (size_t i = layers.size(); i-- > 0;) {
      const Layer& layer = layers[i];
      if (layer.weight_bytes != 0) {
        Scratch(layer.workspace_bytes);
        weight_gradients_.push_back(New(layer.weight_bytes));
        if (exchange_ != kNoStream) writer_.Use(weight_gradients_.back(), exchange_);
      }
      for (const size_t input : layer.inputs) {
        if (input == 0) continue;  // the gradient of the images is not computed
        Scratch(layer.workspace_bytes);
        const uint32_t gradient = New(layers[input].output_bytes);
        if (has_gradient[input]) {
          Free(gradient);  // after it has been added to the existing one
        } else {
          gradients_[input] = gradient;
          has_gradient[input] = true;
        }
      }
      if (has_gradient[i]) Free(gradients_[i]);
      if (layer.saved_bytes != 0) Free(saved_[i]);
      if (layer.output_bytes != 0) Free(outputs_[i]);
    }
  }

  // Momentum is allocated in the first step, when the pool already has many cached blocks.
  void Update(const std::vector<Layer>& layers) {
    size_t weight = weight_gradients_.size();
    for (const Layer& layer : layers) {
      if (layer.weight_bytes == 0) continue;
      --weight;
      if (!has_momentum_) New(layer.weight_bytes);
      Scratch(layer.weight_bytes);
      Free(weight_gradients_[weight]);
    }
    has_momentum_ = true;
  }

  TraceWriter& writer_;
  const StreamIndex stream_;
  const StreamIndex exchange_;
  bool has_momentum_ = false;
  std::vector<uint32_t> weights_, outputs_, saved_, gradients_, weight_gradients_;
};

}  // namespace

Trace LeNetTrainingTrace(int64_t batch, int steps) {
  TraceWriter writer;
  Training training(&writer, 0);
  for (int i = 0; i < steps; ++i) training.Step(internal::LeNetLayers(batch), 0);
  writer.trace.name = "lenet_training";
  writer.trace.fixed_shapes = true;
  return std::move(writer.trace);
}

Trace ResNet50TrainingTrace(int64_t batch, int steps) {
  TraceWriter writer;
  Training training(&writer, 0);
  for (int i = 0; i < steps; ++i) training.Step(internal::ResNet50Layers(batch), 0);
  writer.trace.name = "resnet50_training";
  writer.trace.fixed_shapes = true;
  return std::move(writer.trace);
}

Trace VariableBatchTrace(int64_t least_batch, int64_t most_batch, int steps, uint64_t seed) {
  TraceWriter writer;
  Training training(&writer, 0);
  std::mt19937_64 random(seed);
  const uint64_t choices = static_cast<uint64_t>(most_batch - least_batch + 1);
  for (int i = 0; i < steps; ++i) {
    const int64_t batch = least_batch + static_cast<int64_t>(random() % choices);
    training.Step(internal::ResNet50Layers(batch), 0);
  }
  writer.trace.name = "resnet50_variable_batch";
  return std::move(writer.trace);
}

Trace TwoStreamTrainingTrace(int64_t batch, int steps) {
  TraceWriter writer;
  Training training(&writer, 0, /*exchange=*/1);
  for (int i = 0; i < steps; ++i) {
    training.Step(internal::ResNet50Layers(batch), /*input_stream=*/1);
    writer.Wait(1);
  }
  writer.trace.name = "resnet50_two_streams";
  writer.trace.fixed_shapes = true;
  return std::move(writer.trace);
}

Trace TwoNetsTrace(int64_t batch, int steps) {
  TraceWriter writer;
  Training large(&writer, 0), small(&writer, 1);
  for (int i = 0; i < steps; ++i) {
    large.Step(internal::ResNet50Layers(batch), 0);
    small.Step(internal::LeNetLayers(64 * batch), 1);
  }
  writer.trace.name = "two_nets_two_streams";
  writer.trace.fixed_shapes = true;
  return std::move(writer.trace);
}

Trace RandomTrace(const RandomTraceOptions& options) {
  TraceWriter writer;
  std::mt19937_64 random(options.seed);
  const auto draw = [&](size_t below) { return static_cast<size_t>(random() % below); };
  const auto one_in = [&](unsigned each) { return each != 0 && draw(each) == 0; };
  std::vector<size_t> powers;
  for (size_t bytes = options.least_bytes; bytes < options.most_bytes; bytes *= 2) {
    powers.push_back(bytes);
  }
  std::vector<std::pair<uint32_t, StreamIndex>> in_use;
  while (writer.trace.entries.size() < options.entries) {
    const auto stream = static_cast<StreamIndex>(draw(static_cast<size_t>(options.streams)));
    if (one_in(options.wait_each)) {
      writer.Wait(stream);
    } else if (!in_use.empty() && one_in(options.use_each)) {
      writer.Use(in_use[draw(in_use.size())].first, stream);
    } else if (draw(2 * options.blocks_in_use) >= in_use.size()) {
      const size_t power = powers[draw(powers.size())];
      in_use.emplace_back(writer.Allocate(power + draw(power), stream), stream);
    } else {
      const size_t i = draw(in_use.size());
      writer.Free(in_use[i].first, in_use[i].second);
      in_use[i] = in_use.back();
      in_use.pop_back();
    }
  }
  writer.trace.name = options.streams == 1 ? "random" : "random_two_streams";
  return std::move(writer.trace);
}

std::vector<Trace> StandardTraces() {
  std::vector<Trace> traces;
  traces.push_back(LeNetTrainingTrace(64, 200));
  traces.push_back(ResNet50TrainingTrace(32, 12));
  traces.push_back(VariableBatchTrace(8, 32, 20, 1));
  traces.push_back(TwoStreamTrainingTrace(32, 12));
  traces.push_back(TwoNetsTrace(16, 12));
  traces.push_back(RandomTrace({}));
  traces.push_back(RandomTrace({.seed = 2, .streams = 2, .use_each = 10}));
  return traces;
}

}  // namespace caffe2rt
