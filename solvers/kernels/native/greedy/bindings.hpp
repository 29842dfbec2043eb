#pragma once

#include <nanobind/nanobind.h>

namespace memplan {

void bind_greedy(nanobind::module_& m);

}  // namespace memplan
