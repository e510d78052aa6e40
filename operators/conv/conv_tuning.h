#pragma once
// The table of timings by which algorithms of convolutions are chosen (conv_choice.h).
//
// The table is text with one line for each shape and fields separated by tabs. Lines that start
// with # are comments:
//
//   isa order input filters kernel strides heads tails dilations group algorithm microseconds
//   avx512 NCHW 1x64x56x56 64 3x3 1x1 1x1 1x1 1x1 1 onednn_winograd 402.1
//
// `input` is batch, channels and axes, also in NHWC; `heads` and `tails` are the pads before and
// after each axis. The default table is conv_tuning.tsv beside this file; it is compiled in.
// The line "layouts plain" of a table makes PrepareNet (model/preparation.h) leave convolutions in the
// CPU's plain layouts, where the table decides; with "layouts onednn", the default, a graph pass may
// place them on IDEEP. `caffe2 bench --tune` writes further tables, whose first line is
// kConvTuningVersionLine, and `--tuning` of `caffe2 run` and `caffe2 bench` reads them.
//
// Thread safe.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

struct ConvTuningRow {
  Isa isa = Isa::kPlain;
  ConvShape shape;
  ConvAlgorithm algorithm = ConvAlgorithm::kIm2Col;
  double microseconds = 0;
};

// Whether the shapes differ at most in the bias, of which rows say nothing.
bool IsSameShape(const ConvShape& a, const ConvShape& b);

class ConvTuning {
 public:
  // THROWS, with the line number, if the text is not such a table.
  explicit ConvTuning(const std::string& text);

  // The rows of the same kind of shape that are not too far away, the nearest first, valid while the
  // table lives. Of rows at the same distance, the first one in the table comes first.
  std::vector<const ConvTuningRow*> Near(const ConvShape& shape, Isa isa) const;

  const std::vector<ConvTuningRow>& rows() const { return rows_; }
  // Whether the table has the line "layouts plain".
  bool plain_layouts() const { return plain_layouts_; }
  // Adds the rows of `other` after its own.
  void Append(const ConvTuning& other);

 private:
  std::vector<ConvTuningRow> rows_;
  bool plain_layouts_ = false;
};

// Returns one line of a table, with a newline at its end.
std::string ConvTuningLine(const ConvTuningRow& row);

// The table of the calling thread's WorkScope (base/work_scope.h), or that of the process: the
// compiled-in one, until SetConvTuning replaces it. A new table applies to convolutions that are
// planned later.
std::shared_ptr<const ConvTuning> GetConvTuning();
void SetConvTuning(std::shared_ptr<const ConvTuning> tuning);
// THROWS if the file cannot be read or is not a table.
std::shared_ptr<const ConvTuning> ReadConvTuning(const std::string& path);

// The first line of a table that a user may pass to LoadConvTuning, without its newline.
inline constexpr std::string_view kConvTuningVersionLine =
    "# caffe2rt convolution table, version 1";

#pragma GCC visibility push(default)  // for the program caffe2
// The rows of the text of a file that `caffe2 bench --tune` wrote, before those of the compiled-in
// table: for PreparationOptions::tuning (model/preparation.h). THROWS, with the line, if it is not a
// table of this version.
std::shared_ptr<const ConvTuning> ParseConvTuning(const std::string& text);
// Puts the rows of a file that `caffe2 bench --tune` wrote before those of the compiled-in table.
// Returns the number of rows for the instruction set of this machine; the others have no effect.
// THROWS, with the file and the line, if the file cannot be read, is larger than 16 MiB, or is not a
// table of this version.
size_t LoadConvTuning(const std::string& path);
// The same for the text of such a file.
size_t UseConvTuning(const std::string& text);
#pragma GCC visibility pop

// Returns the text of conv_tuning.tsv.
const char* ShippedConvTuning();

}  // namespace caffe2rt
