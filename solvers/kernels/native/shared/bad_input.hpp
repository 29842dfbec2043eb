// What a kernel throws if its arguments break its contract; the binding turns it into solvers.kernels.errors.BadKernelInput.
#pragma once

#include <stdexcept>

namespace memplan {

struct BadInput : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

}  // namespace memplan
