#pragma once
// The library's C interface, for C programs and for other languages: load a model, run it, free it.
// The header is C99 and C++.
//
//   const char* init_nets[] = {"init_net.pb"};
//   caffe2rt_load_options options = CAFFE2RT_LOAD_OPTIONS_INIT;
//   options.init_nets = init_nets;
//   options.num_init_nets = 1;
//   options.predict_net = "predict_net.pb";
//   caffe2rt_model* model = NULL;
//   if (caffe2rt_load(&options, &model) != CAFFE2RT_OK) puts(caffe2rt_last_error());
//
//   const int64_t dims[] = {1, 3, 224, 224};
//   const caffe2rt_tensor input = {"data", CAFFE2RT_FLOAT, 4, dims, pixels, sizeof(pixels)};
//   caffe2rt_result* result = NULL;
//   caffe2rt_tensor output;
//   if (caffe2rt_run(model, &input, 1, &result) == CAFFE2RT_OK &&
//       caffe2rt_result_tensor(result, 0, &output) == CAFFE2RT_OK) {
//     use((const float*)output.data);
//   }
//   caffe2rt_free_result(result);
//   caffe2rt_free_model(model);
//
// Errors: a function that can fail returns a code, and caffe2rt_last_error() returns the message.
// No exception leaves a function. Null pointers, wrong sizes and unknown names are errors, unless
// a comment allows them. After a failure, an output parameter of type caffe2rt_model** or
// caffe2rt_result** is null.
//
// Threads: any number of threads may call caffe2rt_run with one model at the same time; they share
// one copy of the weights. A result may be read by several threads. A model or a result must not
// be freed while another thread uses it.
//
// Text is UTF-8 and ends with NUL. Strings that a function returns belong to the object that they
// describe and must not be freed.

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It increases when functions or fields are added. Existing ones
// keep their meaning.
#define CAFFE2RT_API_VERSION 4

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef enum caffe2rt_status {
  CAFFE2RT_OK = 0,
  // The call is wrong: a null pointer, a size that does not match a shape, an unknown name.
  CAFFE2RT_INVALID_ARGUMENT = 1,
  // A file cannot be read, a net is invalid, or an operator failed.
  CAFFE2RT_FAILED = 2,
  // No memory is left, or the limit of the library is reached.
  CAFFE2RT_OUT_OF_MEMORY = 3,
  // caffe2rt_cancel stopped the run. Since version 2.
  CAFFE2RT_CANCELLED = 4,
  // caffe2rt_run_within stopped the run, because its time was over. Since version 3.
  CAFFE2RT_DEADLINE_EXCEEDED = 5
} caffe2rt_status;

// The element types of tensors: the numbers of TensorProto.DataType in caffe2.proto.
typedef enum caffe2rt_type {
  CAFFE2RT_FLOAT = 1,
  CAFFE2RT_INT32 = 2,
  CAFFE2RT_BOOL = 5,
  CAFFE2RT_UINT8 = 6,
  CAFFE2RT_INT8 = 7,
  CAFFE2RT_UINT16 = 8,
  CAFFE2RT_INT16 = 9,
  CAFFE2RT_INT64 = 10,
  CAFFE2RT_FLOAT16 = 12,
  CAFFE2RT_DOUBLE = 13,
  CAFFE2RT_UINT32 = 1000,   // since version 3
  CAFFE2RT_UINT64 = 1001,   // since version 3
  CAFFE2RT_BFLOAT16 = 1002  // since version 3
} caffe2rt_type;

typedef struct caffe2rt_model caffe2rt_model;
typedef struct caffe2rt_result caffe2rt_result;

// A tensor in the caller's memory (an input) or in that of a result (an output). The elements are
// contiguous, in row-major order.
typedef struct caffe2rt_tensor {
  const char* name;     // the blob. Null in an input: that of the same position in the model
  int32_t type;         // a caffe2rt_type
  int32_t ndim;         // 0 for a scalar, at most 64
  const int64_t* dims;  // may be null if ndim is 0
  const void* data;     // may be null if there are no elements
  size_t bytes;         // the product of the dimensions and the size of an element
} caffe2rt_tensor;

// A file in memory.
typedef struct caffe2rt_bytes {
  const void* data;
  size_t size;
} caffe2rt_bytes;

// Zero is the default of every field except struct_size. Start with CAFFE2RT_LOAD_OPTIONS_INIT.
typedef struct caffe2rt_load_options {
  size_t struct_size;            // sizeof(caffe2rt_load_options)
  const char* const* init_nets;  // files that fill the weights, in the order of their execution
  size_t num_init_nets;
  const char* predict_net;  // the file of the net to run: also a model that `caffe2 pack` wrote, or
                            // a net of Caffe (prototxt), or a model of ONNX
  const char* predictor_db;     // a predictor's database, instead of the files above
  const char* device;           // as in `caffe2 run --device`; null: the devices that the nets name
  int32_t device_fallback;      // not 0: the CPU replaces devices that are not available
  int32_t no_optimization;      // not 0: run the net as it was written
  int32_t max_concurrent_runs;  // 1 to 1024; further calls wait. 0: 64
  // --- Since version 2 ---
  int32_t deterministic;  // not 0: only algorithms with reproducible results
  // Name, type and shape of inputs, as far as they are known when the model is loaded. They guide the
  // choice of layouts; inputs may have other shapes. A model of Caffe or ONNX is imported for them,
  // instead of the shapes in its file. Neither `data` nor `bytes` is read.
  const caffe2rt_tensor* input_shapes;
  size_t num_input_shapes;
  const char* weights;  // the caffemodel of a net of Caffe
  // --- Since version 3 ---
  // If has_seed is not 0, `seed` determines the random numbers of the model: the n-th call of caffe2rt_run
  // gives the same bytes in every process. Operators whose device option has a random_seed keep that.
  int32_t has_seed;
  uint64_t seed;
  // --- Since version 4 ---
  // In which element type layers may compute, as in `caffe2 run --precision`: "f32", "bf16", "int8" or
  // "auto"; null: "f32". What the machine or the net does not have is computed in f32; caffe2rt_report tells
  // what runs.
  const char* precision;
  // With precision "auto": the least ratio of signal to noise of the outputs in dB. 0: 30.
  double min_snr;
} caffe2rt_load_options;

#define CAFFE2RT_LOAD_OPTIONS_INIT \
  { sizeof(caffe2rt_load_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

// The version of the library, such as "0.1.0", and the CAFFE2RT_API_VERSION that it implements.
const char* caffe2rt_version(void);
int32_t caffe2rt_api_version(void);

// The message of the last function that failed on the calling thread, or "" if none has failed: one
// line without a line break at its end. Valid until the next failure on this thread.
const char* caffe2rt_last_error(void);

// Sets the number of threads, 1 to 1024, among which operators of all models divide their work. The
// default is 1. Call it while no model runs.
caffe2rt_status caffe2rt_set_num_threads(int32_t num_threads);

// Loads a module with operators of its own, as `caffe2 --module FILE` does.
caffe2rt_status caffe2rt_load_module(const char* file);

// Loads a model from files. Stores it in `*model`, to be freed with caffe2rt_free_model. Operators
// of the model can open no files.
caffe2rt_status caffe2rt_load(const caffe2rt_load_options* options, caffe2rt_model** model);

// The same from nets in memory, binary or text, each of less than 2 GB. The bytes stay the caller's:
// the weights are copied out of them, and they are not used after the call. They are checked as files
// are. `options` may be null; its fields that name files must be null. `predict_net` may be a model of
// ONNX, without init nets. Models of other kinds are an error: packed ones and databases.
caffe2rt_status caffe2rt_load_from_memory(const caffe2rt_bytes* init_nets, size_t num_init_nets,
                                          const caffe2rt_bytes* predict_net,
                                          const caffe2rt_load_options* options,
                                          caffe2rt_model** model);

// The same from a net of Caffe in memory: a prototxt or a binary net, and its caffemodel, binary or text.
// `weights` may be null: the layers are filled as they say for training then, and a warning says so. Fields
// of `options` that name files must be null; input_shapes state the shapes of inputs that the net does
// not tell. HDF5 is an error. Since version 3.
caffe2rt_status caffe2rt_load_caffe_from_memory(const caffe2rt_bytes* net,
                                                const caffe2rt_bytes* weights,
                                                const caffe2rt_load_options* options,
                                                caffe2rt_model** model);

// May be called with null.
void caffe2rt_free_model(caffe2rt_model* model);

// The number and the names of the tensors that caffe2rt_run needs and returns. The numbers are 0
// for a null model; the names are null if `i` is out of range.
size_t caffe2rt_num_inputs(const caffe2rt_model* model);
const char* caffe2rt_input_name(const caffe2rt_model* model, size_t i);
size_t caffe2rt_num_outputs(const caffe2rt_model* model);
const char* caffe2rt_output_name(const caffe2rt_model* model, size_t i);
// What the user should know about the loaded model, such as a device that is not used; one line
// each.
size_t caffe2rt_num_warnings(const caffe2rt_model* model);
const char* caffe2rt_warning(const caffe2rt_model* model, size_t i);

// Stores in `*json` what the library did to the net, and which kernel each operator runs, as far as it
// has run: the JSON object that `caffe2 run --report` writes. The text is valid until the next call for
// this model, or until it is freed. Not to be called by two threads with one model.
caffe2rt_status caffe2rt_report(caffe2rt_model* model, const char** json);

// Runs the model. Each of its inputs must be given once, by its name or, without a name, by its
// position. The data is copied, so that it may be changed after the call. Stores the outputs in
// `*result`, to be freed with caffe2rt_free_result; they stay valid when the model runs again, and
// when it is freed.
caffe2rt_status caffe2rt_run(caffe2rt_model* model, const caffe2rt_tensor* inputs,
                             size_t num_inputs, caffe2rt_result** result);

// The same, but the call stops the run if it has not ended after `limit_ms` milliseconds, at least 1,
// and returns CAFFE2RT_DEADLINE_EXCEEDED: no operator starts any more, and one that computes is
// awaited. The time for a free instance (max_concurrent_runs) counts. Since version 3.
caffe2rt_status caffe2rt_run_within(caffe2rt_model* model, int64_t limit_ms,
                                    const caffe2rt_tensor* inputs, size_t num_inputs,
                                    caffe2rt_result** result);

// Stops the calls of caffe2rt_run with this model that are in progress on other threads, also those
// that wait for a free instance: no operator starts any more, and these calls return
// CAFFE2RT_CANCELLED. Later calls are not affected. Since version 2.
caffe2rt_status caffe2rt_cancel(caffe2rt_model* model);

// The number of tensors in a result: caffe2rt_num_outputs of the model, or 0 for null.
size_t caffe2rt_result_size(const caffe2rt_result* result);
// Describes tensor `i` of a result in `*tensor`. Its pointers are valid until the result is freed.
// Tensors of strings are an error.
caffe2rt_status caffe2rt_result_tensor(const caffe2rt_result* result, size_t i,
                                       caffe2rt_tensor* tensor);

// May be called with null.
void caffe2rt_free_result(caffe2rt_result* result);

#ifdef __cplusplus
}  // extern "C"
#endif
#pragma GCC visibility pop
