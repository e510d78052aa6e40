#pragma once
// The detections of a net: --boxes prints them as a table and draws them into an image.

#include <optional>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "binaries/commands/folder_results.h"
#include "binaries/commands/images.h"
#include "binaries/commands/outputs.h"
#include "binaries/json_output.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

class BoxReport {
 public:
  // Finds the blobs of scores, boxes and classes: those that --box-blobs names, or the outputs of
  // the last BoxWithNMSLimit of `net`. Does nothing without --boxes. THROWS UsageError if there are
  // none.
  BoxReport(const CommandLine& line, const NetDef& net);

  bool wanted() const { return !blobs_.empty(); }
  // The three blobs, or none.
  const std::vector<std::string>& blobs() const { return blobs_; }
  bool IsBoxBlob(const std::string& name) const;

  // Prints a table, the highest score first: number, score, class and corners. --top limits it.
  void Print(const FetchBlob& fetch, const OutputOptions& options) const;
  // Adds the list "boxes".
  void Write(const FetchBlob& fetch, const OutputOptions& options, Json* json) const;
  // Draws the boxes into the image that the net ran on, and saves it as `file`. The boxes are in
  // coordinates of the net's input, or, unless BBoxTransform scales them so, of the image: those of
  // the input divided by `scale`, the third number of im_info. Without a crop, they are drawn into
  // the image in its own size.
  void Draw(const FetchBlob& fetch, const OutputOptions& options, const CommandLine& line,
            const std::string& image, float scale, const std::string& file) const;

 private:
  struct Detection;
  std::vector<Detection> Read(const FetchBlob& fetch, const OutputOptions& options) const;

  std::vector<std::string> blobs_;  // scores, boxes, classes
  bool are_scaled_ = false;         // the boxes are in coordinates of the net's input
};

// The scale in the blob im_info of a detection net, [images, 3] of height, width and scale; 1 if
// there is none.
float ScaleOfImInfo(const Workspace& ws);

}  // namespace caffe2rt
