// What a worker keeps from one image to the next, without telling its users what that is.
#pragma once

#include <memory>

namespace penstock {

/// Holds a State, which only the files that use it need to know. It is made at its first use.
template <class State>
class Scratch {
 public:
  State& state() {
    if (state_ == nullptr) state_ = {new State(), [](State* state) { delete state; }};
    return *state_;
  }

 private:
  std::unique_ptr<State, void (*)(State*)> state_{nullptr, nullptr};
};

}  // namespace penstock
