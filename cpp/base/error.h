// What can go wrong below the bindings, as one exception that carries a sentence for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace penstock {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace penstock
