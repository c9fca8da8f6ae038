// What can go wrong below the bindings, as one exception that carries a sentence for the user.
#pragma once

#include <stdexcept>
#include <string>

namespace penstock {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
};

/// The machine refuses what is needed (threads, open files, memory, a disk that answers): no
/// sample is at fault.
class ResourceError : public Error {
 public:
  ResourceError(const std::string& sentence, int code) : Error(sentence), code_(code) {}
  int code() const { return code_; }  // an errno

 private:
  int code_;
};

}  // namespace penstock
