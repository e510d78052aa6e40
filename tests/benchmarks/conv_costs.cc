// Measures the rates by which the times of convolutions on IDEEP are estimated
// (operators/conv/conv_costs.h): times the convolutions of a table in each layout and algorithm, fits
// the rates to the times, and prints them with the quality of the choices that follow from them.

#include "operators/conv/conv_costs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>

#include "binaries/program_main.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_tuning.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/onednn_conv_plan.h"
#include "operators/primitives/onednn_reorder.h"
#include "operators/primitives/random.h"

namespace caffe2rt::test {
namespace {

struct Sample {
  ConvSize size;
  // Measured microseconds by ConvMethod; 0 if the method does not support the size.
  std::array<double, 3> us = {};
  double reorder_floats = 0, reorder_us = 0;
};
constexpr ConvMethod kMethods[] = {ConvMethod::kNhwc, ConvMethod::kBlocked, ConvMethod::kWinograd};

// The fastest of the runs in this time, after a first one.
double FastestUs(double milliseconds, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  double best = HUGE_VAL;
  const Clock::time_point end =
      Clock::now() + std::chrono::microseconds(static_cast<int64_t>(milliseconds * 1000));
  do {
    const Clock::time_point start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

Tensor RandomTensor(const std::vector<int64_t>& dims) {
  Tensor tensor(dims, CPU);
  math::Generator generator(1);
  math::FillUniform(generator, static_cast<size_t>(tensor.numel()), -1.f, 1.f,
                    tensor.mutable_data<float>());
  return tensor;
}

Tensor TensorIn(OnednnFormat format, const Tensor& plain) {
  Tensor tensor(IDEEP);
  const dnnl::memory::desc desc = DescIn(format, plain.dims());
  Reorder(DescIn(OnednnFormat::kNchw, plain.dims()), plain.data<float>(), desc,
          PrepareOutput(&tensor, plain.dims(), OnednnLayout::New(desc)));
  return tensor;
}

class Measurement {
 public:
  Measurement(const ConvShape& shape, double milliseconds)
      : shape_(shape),
        milliseconds_(milliseconds),
        x_(RandomTensor({shape.window.batch, shape.window.channels, shape.window.axis[0].in,
                         shape.window.axis[1].in})),
        filter_(RandomTensor({shape.out_channels, shape.in_group(), shape.window.axis[0].kernel,
                              shape.window.axis[1].kernel})) {
    shape_.bias = false;
  }

  Sample Take() const {
    Sample sample{.size = SizeOf(shape_)};
    for (const ConvMethod method : kMethods) {
      if (ConvMethodFits(sample.size, method)) {
        sample.us[static_cast<size_t>(method)] = TimeOf(method, sample.size);
      }
    }
    sample.reorder_floats = static_cast<double>(x_.numel());
    sample.reorder_us = TimeOfReorder();
    return sample;
  }

 private:
  // In a net, tensors come from farther away than the first-level cache, so many tensors take turns.
  double TimeOfReorder() const {
    constexpr size_t kBytes = 16 << 20;
    const size_t count = std::clamp<size_t>(kBytes / x_.nbytes(), 1, 4096);
    std::vector<Tensor> from, to;
    for (size_t i = 0; i < count; ++i) {
      from.push_back(RandomTensor(x_.dims()));
      to.emplace_back(x_.dims(), CPU);
    }
    OnednnReorder reorder;
    reorder.Plan(DescIn(OnednnFormat::kNchw, x_.dims()), DescIn(OnednnFormat::kNhwc, x_.dims()));
    const double us = FastestUs(milliseconds_, [&] {
      for (size_t i = 0; i < count; ++i) {
        reorder.Run(from[i].data<float>(), to[i].mutable_data<float>());
      }
    });
    return us / static_cast<double>(count);
  }

  double TimeOf(ConvMethod method, const ConvSize& size) const {
    using enum OnednnFormat;
    const OnednnFormat y = method == ConvMethod::kBlocked ? kBlocked16 : kNhwc;
    const OnednnFormat x = y == kBlocked16 && BlockedConvReadsNchw(size) ? kNchw : y;
    const Tensor source = TensorIn(x, x_);
    std::unique_ptr<IdeepConv> conv;
    if (method == ConvMethod::kWinograd) {
      conv = NewOnednnWinograd(shape_, {}, source, y);
    } else {
      auto direct = std::make_unique<OnednnConvPlan>(shape_, ConvEpilogue(), DescOf(source),
                                                     OnednnConvLayouts{.source = x, .result = y});
      if (direct->supported()) conv = std::move(direct);
    }
    if (conv == nullptr) return 0;
    Tensor result(IDEEP);
    float* const to =
        PrepareOutput(&result, shape_.window.OutputDims(shape_.out_channels), conv->layout());
    return FastestUs(milliseconds_, [&] { conv->Run(source, filter_, nullptr, to); });
  }

  ConvShape shape_;
  const double milliseconds_;
  const Tensor x_, filter_;
};

// The convolutions of the table that the model is for, each once.
std::vector<ConvShape> ShapesOf(const ConvTuning& table) {
  std::vector<ConvShape> shapes;
  for (const ConvTuningRow& row : table.rows()) {
    const ConvShape& shape = row.shape;
    if (row.isa != CpuIsa() || shape.window.axes != 2 || shape.channels_last()) continue;
    if (shape.group != 1 || shape.MultiplyAdds() < 1e6) continue;
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

// --- the fit ---

double SquaredError(const std::vector<Sample>& samples, const ConvRates& rates) {
  double sum = 0;
  const auto add = [&](double measured, double estimated) {
    const double error = std::log(estimated / measured);
    sum += error * error;
  };
  for (const Sample& sample : samples) {
    for (const ConvMethod method : kMethods) {
      const double us = sample.us[static_cast<size_t>(method)];
      if (us > 0) add(us, ConvMicroseconds(sample.size, method, rates));
    }
    add(sample.reorder_us, ReorderMicroseconds(sample.reorder_floats, rates));
  }
  return sum;
}

// Changes one rate after the other, by smaller and smaller factors, while that helps. The overhead
// stays: a loop over one convolution does not show it.
ConvRates Fit(const std::vector<Sample>& samples, ConvRates rates) {
  double least = SquaredError(samples, rates);
  double ConvRates::*const fields[] = {
      &ConvRates::flops_per_us, &ConvRates::weight_bytes_per_us, &ConvRates::reorder_bytes_per_us,
      &ConvRates::winograd_flops_per_us, &ConvRates::transform_bytes_per_us};
  for (double factor = 2; factor > 1.005; factor = std::sqrt(factor)) {
    for (bool better = true; better;) {
      better = false;
      for (double ConvRates::*const field : fields) {
        for (const double f : {factor, 1 / factor}) {
          ConvRates changed = rates;
          changed.*field *= f;
          const double error = SquaredError(samples, changed);
          if (error >= least * (1 - 1e-9)) continue;
          rates = changed;
          least = error;
          better = true;
        }
      }
    }
  }
  return rates;
}

// --- the report ---

struct Quality {
  int choices = 0, slower = 0;  // of Winograd or not; those that are more than 5% too slow
  double chosen_us = 0, fastest_us = 0;
};

// Judges the choice between Winograd and the direct algorithm in a layout.
Quality QualityOf(const std::vector<Sample>& samples, const ConvRates& rates) {
  Quality quality;
  for (const Sample& sample : samples) {
    const double winograd = sample.us[static_cast<size_t>(ConvMethod::kWinograd)];
    for (const ConvMethod method : {ConvMethod::kNhwc, ConvMethod::kBlocked}) {
      const double direct = sample.us[static_cast<size_t>(method)];
      if (winograd == 0 || direct == 0) continue;
      const bool pays = ConvMicroseconds(sample.size, ConvMethod::kWinograd, rates) <
                        kWinogradMargin * ConvMicroseconds(sample.size, method, rates);
      const double chosen = pays ? winograd : direct, fastest = std::min(winograd, direct);
      ++quality.choices;
      quality.slower += chosen > 1.05 * fastest;
      quality.chosen_us += chosen;
      quality.fastest_us += fastest;
    }
  }
  return quality;
}

std::string RoundedText(double value) { return ShortText(std::round(value / 100) * 100); }

void Print(const std::string& name, const std::vector<Sample>& samples, const ConvRates& rates) {
  size_t times = 0;
  for (const Sample& sample : samples) {
    times += 1 + static_cast<size_t>(std::count_if(sample.us.begin(), sample.us.end(),
                                                   [](double us) { return us > 0; }));
  }
  const double error = std::sqrt(SquaredError(samples, rates) / static_cast<double>(times));
  const Quality quality = QualityOf(samples, rates);
  std::cout << name << ":\n  {.flops_per_us = " << RoundedText(rates.flops_per_us)
            << ", .weight_bytes_per_us = " << RoundedText(rates.weight_bytes_per_us)
            << ", .reorder_bytes_per_us = " << RoundedText(rates.reorder_bytes_per_us)
            << ",\n   .winograd_flops_per_us = " << RoundedText(rates.winograd_flops_per_us)
            << ", .transform_bytes_per_us = " << RoundedText(rates.transform_bytes_per_us)
            << ", .overhead_us = " << FixedText(rates.overhead_us, 2) << "}\n  typical error "
            << FixedText(100 * (std::exp(error) - 1), 0) << " %; " << quality.slower << " of "
            << quality.choices << " choices more than 5 % too slow, "
            << FixedText(100 * (quality.chosen_us / quality.fastest_us - 1), 2)
            << " % of the time lost\n";
}

int Measure(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one table");
  const int threads = static_cast<int>(line.Integer("threads", 1, 1024));
  const auto milliseconds = static_cast<double>(line.Integer("milliseconds", 1, 60000));
  const int64_t every = line.Integer("every", 1, 1000000);
  SetNumThreads(threads);
  std::vector<Sample> samples;
  const std::vector<ConvShape> shapes = ShapesOf(*ReadConvTuning(line.positional()[0]));
  for (size_t i = 0; i < shapes.size(); i += static_cast<size_t>(every)) {
    samples.push_back(Measurement(shapes[i], milliseconds).Take());
    const auto& us = samples.back().us;
    std::cerr << ConvTuningLine({CpuIsa(), shapes[i], ConvAlgorithm::kOnednnDirect, us[0]})
              << "    nhwc " << ShortText(us[0]) << " us, blocked " << ShortText(us[1])
              << " us, winograd " << ShortText(us[2]) << " us, reorder "
              << ShortText(samples.back().reorder_us) << " us\n";
  }
  CAFFE_ENFORCE(!samples.empty(), "the table has no image convolution of one group for ",
                IsaName(CpuIsa()));
  const ConvRates& current = RatesOf({.isa = CpuIsa(), .threads = threads});
  std::cout << IsaName(CpuIsa()) << ", threads: " << threads << ", convolutions: " << samples.size()
            << '\n';
  Print("compiled in", samples, current);
  Print("fitted", samples, Fit(samples, current));
  return 0;
}

const Program& Costs() {
  static const Program program = {
      .name = "conv_costs",
      .purpose = "measures the rates by which the times of convolutions are estimated",
      .usage = "TABLE [options]",
      .options = {{"threads", "N", "1", "threads of each convolution"},
                  {"milliseconds", "N", "10", "time spent on each convolution and method"},
                  {"every", "N", "1", "use only every N-th convolution of the table"}},
      .notes =
          "Times the convolutions in the rows of TABLE for this machine's instruction set, in "
          "NHWC,\n"
          "in blocks of 16 channels and by Winograd, and prints the rates of\n"
          "operators/conv/conv_costs.cc that fit best. The environment variables CAFFE2RT_ISA and\n"
          "ONEDNN_MAX_CPU_ISA select a lower instruction set of the built-in kernels and of "
          "oneDNN.\n\n"
          "examples:\n"
          "  conv_costs operators/conv/conv_tuning.tsv --threads 2\n"
          "  CAFFE2RT_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 conv_costs operators/conv/conv_tuning.tsv\n",
      .run = &Measure};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Costs(), argc, argv);
}
