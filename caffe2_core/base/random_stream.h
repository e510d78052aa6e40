#pragma once
// Random numbers that a seed determines: each run of each operator of a net draws from a stream of
// its own, which is a function of the seed, the name of the operator's stream and the number of the
// run. The order in which operators run, and the threads that run them, therefore do not matter.
//
//   RandomRuns runs;                      // of a net
//   runs.SetSeed(1);
//   RandomPlace place;                    // of an operator of the net
//   place.Set(&runs, RandomKeyOf("y"));
//   runs.Begin();                         // a run of the net begins
//   RandomWords words(place.key());
//   std::mt19937 generator(words);        // in the operator
//
// Keys have 64 bits. Two streams are independent for all practical purposes if their keys differ.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014) on the two values. The result depends on their order.
constexpr uint64_t MixRandomKeys(uint64_t key, uint64_t value) {
  uint64_t mixed = (key ^ (value * 0xd1342543de82ef95ull)) + 0x9e3779b97f4a7c15ull;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
  return mixed ^ (mixed >> 31);
}

// The key of a name: FNV-1a with 64 bits, mixed.
uint64_t RandomKeyOf(std::string_view name);

// The words of SplitMix64, started with a key, as a seed sequence of the standard library. It fills
// the state of a generator of any size, without memory and at a fraction of the cost of the
// generator's own seeding. The words are the same on every machine.
class RandomWords {
 public:
  using result_type = uint32_t;
  explicit RandomWords(uint64_t key) : key_(key) {}
  template <class Iterator>
  void generate(Iterator first, Iterator last) {
    uint64_t counter = key_;
    while (first != last) {
      const uint64_t words = MixRandomKeys(counter, 0);
      counter += 0x9e3779b97f4a7c15ull;
      *first++ = static_cast<result_type>(words);
      if (first != last) *first++ = static_cast<result_type>(words >> 32);
    }
  }

 private:
  const uint64_t key_;
};

// Numbers of a counter-based generator (Philox on devices): from block `first` of the sequence of
// `seed` on.
struct RandomBlocks {
  uint32_t seed;
  uint64_t first;
};

class RandomPlace;

// The runs of a net, as far as its random numbers are concerned. Changed between two runs only, by
// the thread that starts the run; read by the threads that run the operators.
class RandomRuns {
 public:
  // Sets the seed, and the number of the next run to 0. nullopt: the operators draw from generators of
  // their own (RandomNumberSeed).
  void SetSeed(std::optional<uint64_t> seed);
  // Takes the seed from the operator that runs the net, if that operator has one: the n-th run of all
  // nets that an operator runs during one run of its own has number n. SetSeed is then ignored.
  // REQUIRES: `parent` outlives this object, or its last use.
  void SetParent(RandomPlace* parent) { parent_ = parent; }

  // Begins a run, with the next number.
  void Begin() {
    if (__builtin_expect(seed_.has_value() || parent_ != nullptr, 0)) BeginStreams();
  }
  // The number of the next run, 0 for the first one. Without effect if there is a parent or no seed.
  uint64_t next_run() const { return next_run_; }
  void set_next_run(uint64_t run) { next_run_ = run; }

  // The key of the current run.
  uint64_t key() const { return key_; }
  // A number that changes whenever a run begins. 0: no seed is set.
  uint64_t begun() const { return is_seeded_ ? begun_ : 0; }

 private:
  void BeginStreams();
  void SetKey(uint64_t key);

  std::optional<uint64_t> seed_;
  RandomPlace* parent_ = nullptr;
  bool is_seeded_ = false;
  uint64_t next_run_ = 0;
  uint64_t key_ = 0;
  uint64_t begun_ = 0;
};

// The place of an operator in a net: where the keys of its streams come from. Used by the thread that
// runs the operator.
class RandomPlace {
 public:
  RandomPlace() = default;
  RandomPlace(const RandomPlace&) = delete;
  RandomPlace& operator=(const RandomPlace&) = delete;

  // `name` is the key of the name of the operator's stream. REQUIRES: `runs` outlives this object, or
  // its last use.
  void Set(const RandomRuns* runs, uint64_t name) {
    runs_ = runs;
    name_ = name;
  }
  // Takes the keys of another place, for an operator inside another one. REQUIRES: as Set.
  void Follow(RandomPlace* outer) { outer_ = outer; }

  // As in RandomRuns.
  uint64_t begun() const {
    if (__builtin_expect(outer_ != nullptr, 0)) return outer_->begun();
    return runs_ == nullptr ? 0 : runs_->begun();
  }
  // The key of the operator's stream in the current run. REQUIRES: begun() != 0.
  uint64_t key() const {
    return outer_ != nullptr ? outer_->key() : MixRandomKeys(runs_->key(), name_);
  }
  // The key of the next run of a net inside the operator. REQUIRES: begun() != 0.
  uint64_t NextInnerKey();

 private:
  const RandomRuns* runs_ = nullptr;
  uint64_t name_ = 0;
  RandomPlace* outer_ = nullptr;
  uint64_t inner_begun_ = 0;  // begun() at the last NextInnerKey
  uint64_t inner_runs_ = 0;   // calls of NextInnerKey in this run
};

}  // namespace caffe2rt
#pragma GCC visibility pop
