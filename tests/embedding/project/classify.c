// Classifies a generated image, in C: white and black stripes, each 5 pixels wide, side by side.
// Usage: classify INIT_NET PREDICT_NET
#include <stdio.h>

#include "caffe2_core/c_api/caffe2rt.h"

#define SIDE 64

static float pixels[3][SIDE][SIDE];

static void DrawStripes(void) {
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < SIDE; ++y) {
      for (int x = 0; x < SIDE; ++x) pixels[channel][y][x] = x / 5 % 2 == 0 ? 255.0f : 0.0f;
    }
  }
}

// Prints the position of the largest score.
static int PrintClass(const caffe2rt_result* result) {
  caffe2rt_tensor scores;
  if (caffe2rt_result_tensor(result, 0, &scores) != CAFFE2RT_OK) return 0;
  const float* values = scores.data;
  const size_t classes = scores.bytes / sizeof(float);
  size_t best = 0;
  for (size_t i = 0; i < classes; ++i) {
    if (values[i] > values[best]) best = i;
  }
  printf("%s: class %d of %d\n", scores.name, (int)best, (int)classes);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fputs("usage: classify INIT_NET PREDICT_NET\n", stderr);
    return 2;
  }
  const char* init_nets[] = {argv[1]};
  caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
  options.init_nets = init_nets;
  options.num_init_nets = 1;
  options.predict_net = argv[2];

  const int64_t dims[] = {1, 3, SIDE, SIDE};
  const caffe2rt_tensor image = {NULL, CAFFE2RT_FLOAT, 4, dims, pixels, sizeof(pixels)};
  caffe2rt_model* model = NULL;
  caffe2rt_result* result = NULL;
  DrawStripes();
  const int good = caffe2rt_load(&options, &model) == CAFFE2RT_OK &&
                   caffe2rt_run(model, &image, 1, &result) == CAFFE2RT_OK && PrintClass(result);
  if (!good) fprintf(stderr, "classify: %s\n", caffe2rt_last_error());
  caffe2rt_free_result(result);
  caffe2rt_free_model(model);
  return good ? 0 : 1;
}
